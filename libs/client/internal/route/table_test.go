package route

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

func TestTableRoutesToTheKeyOfTheAnswerInAnyOrder(t *testing.T) {
	t.Parallel()
	table := newTable(&protocol.ProducerRouting{
		ShardCount: 3,
		Shards: []protocol.RoutingShard{
			{ShardIndex: 2, StreamKey: "s:2"}, {ShardIndex: 0, StreamKey: "s:0"}, {ShardIndex: 1, StreamKey: "s:1"},
		},
	}, "", time.Now())
	for _, key := range []string{"", "order-1", "order-2", "Ω", "order-77"} {
		want, err := routing.Shard(key, 3)
		require.NoError(t, err)
		got, err := table.Route(key)
		require.NoError(t, err)
		require.Equal(t, Shard{Index: want, Key: routing.StreamKey("s", want), Arg: routing.StreamKey("s", want)}, got)
	}
}

func TestTableWithoutShardsRoutesNothing(t *testing.T) {
	t.Parallel()
	_, err := newTable(&protocol.ProducerRouting{}, "", time.Now()).Route("k")
	require.ErrorIs(t, err, routing.ErrShardCount)
}

func TestLeaseCountsFromTheRequestAndIsFiveSecondsWhenTheAnswerNamesNone(t *testing.T) {
	t.Parallel()
	sent := time.Now()
	named := newTable(&protocol.ProducerRouting{LeaseMs: 1500}, "", sent)
	require.Equal(t, sent.Add(1500*time.Millisecond), named.ValidUntil())
	unnamed := newTable(&protocol.ProducerRouting{}, "", sent)
	require.Equal(t, sent.Add(5*time.Second), unnamed.ValidUntil())
	later := sent.Add(time.Second)
	require.Equal(t, later.Add(1500*time.Millisecond), named.renewed(later).ValidUntil())
	require.Equal(t, sent, named.AskedAt(), "renewing changes no table that somebody may hold")
}

func TestWhichAnswerCounts(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }
	current := &Table{Version: 5, Lineage: "a", sent: at(10), lease: 10 * time.Second}
	for name, c := range map[string]struct {
		next     Table
		explicit bool
		now      time.Time
		want     bool
	}{
		"a higher version":                       {Table{Version: 6, Lineage: "a", sent: at(11)}, false, at(12), true},
		"the same version renews":                {Table{Version: 5, Lineage: "a", sent: at(11)}, false, at(12), true},
		"a lower version is a late copy":         {Table{Version: 4, Lineage: "a", sent: at(11)}, false, at(12), false},
		"a lower version asked for explicitly":   {Table{Version: 4, Lineage: "a", sent: at(11)}, true, at(12), true},
		"a lower version of another history":     {Table{Version: 1, Lineage: "b", sent: at(11)}, false, at(12), true},
		"a lower version when nothing is valid":  {Table{Version: 4, Lineage: "a", sent: at(19)}, false, at(20), true},
		"an earlier request, even if explicit":   {Table{Version: 6, Lineage: "a", sent: at(9)}, true, at(12), false},
		"an earlier request, of another history": {Table{Version: 1, Lineage: "b", sent: at(9)}, true, at(12), false},
	} {
		require.Equal(t, c.want, supersedes(current, &c.next, c.explicit, c.now), name)
	}
	require.True(t, supersedes(nil, current, false, at(11)))
}
