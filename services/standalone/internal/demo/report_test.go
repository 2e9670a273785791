package demo

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func ids(shards ...int) []protocol.ShardID {
	list := make([]protocol.ShardID, len(shards))
	for i, shard := range shards {
		list[i].ShardIndex = shard
	}
	return list
}

func TestLineSaysWhoOwnsWhat(t *testing.T) {
	t.Parallel()
	assigned := &protocol.AssignmentsResponse{
		TargetAssignment:   map[string][]protocol.ShardID{"demo-a": ids(0, 3), "demo-b": ids(1), "demo-c": ids(2)},
		CurrentAssignments: map[string][]protocol.ShardID{"demo-a": ids(0, 2), "demo-b": ids(1)},
		RevokeProgress:     map[string][]protocol.ShardID{"demo-a": ids(2)},
	}
	require.Equal(t, "12s produced 600 handled 598 lag 2 | 0:demo-a 1:demo-b 2:demo-a> 3:-",
		line(12*time.Second, Counts{Produced: 600, Handled: 598, Lag: 2}, assigned))
	require.Equal(t, "1s produced 0 handled 0 lag 0 duplicates 1 refused 2 uncertain 3 of earlier runs 4 | 0:- 1:- 2:- 3:-",
		line(time.Second, Counts{Duplicates: 1, Refused: 2, Uncertain: 3, Earlier: 4}, &protocol.AssignmentsResponse{}))
	require.Equal(t, "1s produced 0 handled 0 lag 0 | the coordinator does not answer", line(time.Second, Counts{}, nil))
}

func TestSummaryIsLoudAboutFaults(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := New(Options{Out: &out, Started: clock.Now()})
	d.ledger.published(d.ledger.publishing(), 0)
	for range 7 {
		d.ledger.fault("something")
	}
	require.ErrorIs(t, d.conclude(), ErrFault)
	require.Equal(t, maxFaults, strings.Count(out.String(), "FAULT something\n"))
	require.Contains(t, out.String(), "FAULT and 2 more\n")
	require.Contains(t, out.String(), "produced 1 handled 0 lost 1 duplicates 0 double readers 0\n")
	require.Contains(t, out.String(), "FAULT promises were broken: 1 records lost, 7 faults\n")

	out.Reset()
	require.NoError(t, New(Options{Out: &out, Started: clock.Now()}).conclude())
	require.NotContains(t, out.String(), "FAULT")
}
