package proof_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/proof"
)

func TestOrderIsThatOfEachPublisher(t *testing.T) {
	t.Parallel()
	r := check(t, `
		1 p1 intent 1a
		1 p2 intent 11a
		2 p2 ack 11
		2 p1 ack 1
		3 c start 11a 0 1-0 5
		4 c end 11a 0 1-0 5
		5 c start 1a 0 2-0 5
		6 c end 1a 0 2-0 5
	`, 0)
	require.True(t, r.Holds(), r.Faults)
	require.Equal(t, int64(1), r.Keys)
	require.Equal(t, int64(2), r.Records)
}

// TestOrderAcrossAReshardIsCountedAndNotPromised: the rest is promised all the same (C6).
func TestOrderAcrossAReshardIsCountedAndNotPromised(t *testing.T) {
	t.Parallel()
	const unordered = published + `
		3 c start 3a 0 2-0 5
		4 c end 3a 0 2-0 5
		5 c start 1a 7 1-0 5
		6 c end 1a 7 1-0 5
		6 c start 2b 0 3-0 5
	`
	r := proof.Check(files(t, unordered+"7 c end 2b 0 3-0 5"), proof.Replay{Resharded: true})
	require.True(t, r.Holds(), r.Faults)
	require.Equal(t, int64(1), r.OutOfOrderKeys)
	require.Empty(t, r.Faults)
	r = proof.Check(files(t, unordered), proof.Replay{Resharded: true})
	require.False(t, r.Holds(), "record 2 is lost")
}

func TestWhatPublicationsFailedWithIsCounted(t *testing.T) {
	t.Parallel()
	r := check(t, `
		1 p intent 1a
		2 p unknown 1 UNCERTAIN
		3 p intent 1a
		4 p refused 1 NO_SHARDS
		5 p intent 1a
		6 p refused 1 NO_SHARDS
		7 p intent 1a
		8 p ack 1
	`, 0)
	require.Equal(t, map[string]int64{"UNCERTAIN": 1, "NO_SHARDS": 2}, r.Causes)
	require.Equal(t, int64(1), r.Uncertain)
	require.Equal(t, int64(2), r.Refused)
}
