package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/proof"
)

func TestNumbersAreGroupedByThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1_000: "1,000", 123_456: "123,456", 1_234_567: "1,234,567", -100: "-100", -1_000: "-1,000",
	} {
		require.Equal(t, want, grouped(n))
	}
}

func TestTheReportIsReadable(t *testing.T) {
	t.Parallel()
	require.Equal(t, `records              30,000
published            30,000   1 uncertain and 0 refused attempts repeated
handled              30,000   in 30,012 handlings
lost                      0
duplicates               12   11 of killed consumers, 1 published twice, 0 other
keys                  3,406   0 out of order
strangers                 0   0 altered
double readers            0   0 stale tokens
consumers                 7   3 killed, 13 shards changed hands
seconds                20.0   1,500 records a second
The proof holds.
`, text(&proof.Report{
		Records: 30_000, Published: 30_000, Uncertain: 1, Handled: 30_000, Handlings: 30_012,
		Duplicates: proof.Duplicates{Total: 12, Killed: 11, Republished: 1}, Keys: 3_406, Consumers: 7, Killed: 3, Moves: 13,
		Seconds: 20, RecordsPerSecond: 1_500,
	}))
}
