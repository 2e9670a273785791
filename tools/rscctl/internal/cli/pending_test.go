package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const getPending = "GET /monitoring/streams/orders/groups/g/shards/3/pending?limit="

// pendingOn is a group of which something is pending on shards.
func pendingOn(shards ...int) protocol.StreamShardOffsetsResponse {
	seen := protocol.StreamShardOffsetsResponse{Shards: []protocol.StreamShardOffset{{Shard: protocol.ShardID{ShardIndex: 0}}}}
	for _, shard := range shards {
		seen.Shards = append(seen.Shards, protocol.StreamShardOffset{Shard: protocol.ShardID{ShardIndex: shard}, PendingCount: 1})
	}
	return seen
}

// entries are pending on a shard.
func entries(shard int, next *string, ids ...string) protocol.PendingResponse {
	page := protocol.PendingResponse{StreamPrefix: "orders", ConsumerGroup: "g", Shard: protocol.ShardID{ShardIndex: shard}, NextCursor: next}
	for i, id := range ids {
		when := at(int64(i))
		page.Entries = append(page.Entries, protocol.PendingEntry{
			RecordID: id, Consumer: "m\x1b1", IdleMs: 90_000, DeliveryCount: int64(i + 1), RecordTime: &when,
		})
	}
	return page
}

func TestPendingEntriesAreShownWithWhomHowLongAndHowOften(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{getOffsets: {pendingOn(3)}, getPending + "25": {entries(3, new("2-0"), "1-0", "2-0")}})
	got := rscctl(t, scene{}, url, "pending orders g")
	require.Zero(t, got.code, got.err)
	require.Equal(t, text(`
		SHARD   ID    CONSUMER   IDLE    DELIVERIES   WRITTEN
		3       1-0   m\x1b1     1m30s   1            2026-01-02T03:04:05Z
		3       2-0   m\x1b1     1m30s   2            2026-01-02T03:04:06Z
		Go on with: --shard 3 --cursor '2-0'
		`), got.out)

	_, url = serve(t, answers{getOffsets: {pendingOn()}})
	require.Equal(t, "Nothing is pending.\n", rscctl(t, scene{}, url, "pending orders g").out)
}

func TestPendingForProgramsIsTheSameForOneShardAndAll(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{getOffsets: {pendingOn(3)}, getPending + "25": {entries(3, new("1-0"), "1-0")}})
	want := pendingPage{
		"orders", "g",
		[]pendingEntry{{protocol.ShardID{ShardIndex: 3}, entries(3, nil, "1-0").Entries[0]}},
		[]pendingMore{{protocol.ShardID{ShardIndex: 3}, new("1-0")}},
	}
	requireJSON(t, want, rscctl(t, scene{}, url, "pending orders g -o json").out)
	requireJSON(t, want, rscctl(t, scene{}, url, "pending orders g --shard 3 -o json").out)
}

func TestTheFlagsOfPendingAreWhatIsAsked(t *testing.T) {
	t.Parallel()
	f, url := serve(t, answers{})
	rscctl(t, scene{}, url, "pending orders g --shard 3 --limit 7 --cursor 5-1 --consumer 'm 1'")
	require.Equal(t, []string{"GET /monitoring/streams/orders/groups/g/shards/3/pending?consumer=m+1&cursor=5-1&limit=7"}, f.asked)
	for _, line := range []string{
		"pending orders g --shard x", "pending orders g --shard=-1", "pending orders g --limit 0", "pending orders g --limit 1001",
		"pending orders g --cursor 5-1", "pending",
	} {
		require.Equal(t, 2, rscctl(t, scene{}, url, line).code, line)
	}
	require.Len(t, f.asked, 1)
}

// What is shown is at most what was asked for, of as few shards as give that.
func TestPendingOfAllShardsEndsWithTheLimit(t *testing.T) {
	t.Parallel()
	const base = "GET /monitoring/streams/orders/groups/g/shards/"
	f, url := serve(t, answers{
		getOffsets: {pendingOn(1, 2, 5, 6)}, base + "1/pending?limit=3": {entries(1, nil, "1-0", "2-0")},
		base + "2/pending?limit=1": {entries(2, new("7-0"), "7-0")},
	})
	got := rscctl(t, scene{}, url, "pending orders g --limit 3")
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.out, "Go on with: --shard 2 --cursor '7-0'\nNot shown: shard 5-6; a higher --limit, or --shard, shows them\n")
	require.Len(t, f.asked, 3)
}

// F35: a shard that cannot be read hides no other.
func TestAShardThatCannotBeReadHidesNoOther(t *testing.T) {
	t.Parallel()
	const base = "GET /monitoring/streams/orders/groups/g/shards/"
	says := answers{
		getOffsets: {pendingOn(1, 2, 3)}, base + "1/pending?limit=25": {refused{protocol.CodeNotFound, "it is sealed"}},
		base + "2/pending?limit=25": {refused{protocol.CodeStoreUnavailable, "no Redis"}}, base + "3/pending?limit=25": {entries(3, nil, "1-0")},
	}
	_, url := serve(t, says)
	got := rscctl(t, scene{}, url, "pending orders g")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, "1-0")
	require.Contains(t, got.err, "rscctl: shard 2 could not be read, so this is not all; rscctl lag orders g says what is wrong with it\n")
	require.NotContains(t, got.err, "shard 1", "nothing is pending on what is gone")

	says[base+"2/pending?limit=25"] = []any{refused{protocol.CodeForbidden, "not yours"}}
	_, url = serve(t, says)
	got = rscctl(t, scene{}, url, "pending orders g")
	require.Equal(t, 1, got.code)
	require.Empty(t, got.out)
	require.Contains(t, got.err, "cannot show what is pending of group g of stream orders")
	_, url = serve(t, says)
	require.Contains(t, rscctl(t, scene{}, url, "pending orders g --shard 1").err, "it is sealed")
}
