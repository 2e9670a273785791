package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// What rscctl says of lag, pending and records is what was published and read.
func TestRscctlCountsWhatWasPublishedAndRead(t *testing.T) {
	t.Parallel()
	o := startOperated(t)
	o.succeeds("", "streams", "create", stream, "--shards", "3", "--group", group, "--reason", "new")
	binary := "\xff\x00\x1b[2J"
	published := []int{5, 3, 0}
	for shard, count := range published {
		for i := range count {
			require.NoError(t, o.redis.XAdd(t.Context(), &redis.XAddArgs{
				Stream: routing.StreamKey(stream, shard), Values: []string{"payload", fmt.Sprintf("%d/%d", shard, i), "raw", binary},
			}).Err())
		}
	}
	read := func(shard, count int) []string {
		got, err := o.redis.XReadGroup(t.Context(), &redis.XReadGroupArgs{
			Group: group, Consumer: "hand", Streams: []string{routing.StreamKey(stream, shard), ">"}, Count: int64(count), Block: -1,
		}).Result()
		require.NoError(t, err)
		var ids []string
		for _, message := range got[0].Messages {
			ids = append(ids, message.ID)
		}
		return ids
	}
	ids := read(0, 2)
	require.NoError(t, o.redis.XAck(t.Context(), routing.StreamKey(stream, 0), group, ids[0]).Err())

	o.lags([]int64{3, 3, 0}, 6, 1)
	table := o.succeeds("", "lag", stream, group, "--sort", "lag")
	require.Regexp(t, `\nTOTAL +6 `, table)
	require.Contains(t, o.succeeds("", "lag"), stream)

	whole := o.succeeds("", "messages", stream, "--all", "--limit", "2", "--direction", "forward", "-o", "json")
	require.NotContains(t, whole, "\x1b")
	var seen []string
	for line := range strings.Lines(whole) {
		var record protocol.StreamMessageRecord
		require.NoError(t, json.Unmarshal([]byte(line), &record))
		require.Equal(t, []string{"raw"}, record.Base64Fields)
		seen = append(seen, *record.Payload)
	}
	slices.Sort(seen)
	require.Equal(t, []string{"0/0", "0/1", "0/2", "0/3", "0/4", "1/0", "1/1", "1/2"}, seen)
	exact := o.succeeds("", "messages", stream, group, "--shard", "0", "--id", ids[1], "-o", "yaml")
	require.Contains(t, exact, "payload: \"0/1\"\n")

	ids = append(ids[1:], read(0, 5)...)
	require.NoError(t, o.redis.XAck(t.Context(), routing.StreamKey(stream, 0), group, ids...).Err())
	require.NoError(t, o.redis.XAck(t.Context(), routing.StreamKey(stream, 1), group, read(1, 5)...).Err())
	o.lags([]int64{0, 0, 0}, 0, 0)
}

// lags waits until rscctl shows these lags, and these sums.
func (o *operated) lags(shards []int64, total, pending int64) {
	o.t.Helper()
	require.Eventually(o.t, func() bool {
		got := o.does("", "lag", stream, group, "-o", "json")
		var found protocol.StreamShardOffsetsResponse
		if got.code != 0 || json.Unmarshal([]byte(got.out), &found) != nil || found.TotalLag == nil || len(found.Shards) != len(shards) {
			return false
		}
		for i, shard := range found.Shards {
			if shard.Lag == nil || *shard.Lag != shards[i] {
				return false
			}
		}
		return *found.TotalLag == total && found.TotalPendingCount == pending
	}, patience, seldom, "the lags are %v", shards)
}

// A member whose process is killed shows in the events that are followed (H3b).
func TestRscctlFollowsTheEndOfAKilledMember(t *testing.T) {
	t.Parallel()
	s := startSuite(t, drainTiming()...)
	s.createStream()
	consumer := s.consume("doomed")
	s.stable(1)
	follower := start(t, "follower", "rscctl", "events", stream, group, "--follow", "--coordinator", s.url())
	said := func(word string) func() bool {
		return func() bool {
			for line := range strings.Lines(string(follower.out.bytes())) {
				if strings.Contains(line, word) && strings.Contains(line, "doomed") {
					return true
				}
			}
			return false
		}
	}
	s.eventually(said("JOIN"), "the member has come")
	consumer.kill()
	s.eventually(said("EXPIRE"), "the member has gone")
	require.False(t, follower.ended(), "it goes on")
}
