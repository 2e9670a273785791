package e2e_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// TestASealThatTheRecordForgotIsKnownAgain: the stream's record goes back to before a
// shard was sealed, as after a failover of its own node; the shard is sealed all the same,
// and the change ends (protocol L5: a repeated seal recognises its own work).
func TestASealThatTheRecordForgotIsKnownAgain(t *testing.T) {
	t.Parallel()
	s := startScaling(t, quickly()...)
	s.createStream()
	s.load("publisher", 400)
	s.read(2, "--workers", "4")
	for _, shard := range []int{6, 7} {
		require.NoError(t, s.rdb.XGroupCreate(t.Context(), routing.StreamKey(stream, shard), "guest", "0").Err())
	}
	in := s.scale(s.admin, 3)
	sealed := func(count int) func() bool {
		return func() bool {
			m, err := s.admin.Migration(t.Context(), stream, group, in.id)
			return err == nil && m.Progress.Done == count && m.State == protocol.MigrationDraining
		}
	}
	s.eventually(sealed(3), "all but the guest's are sealed")
	before := s.record()
	require.NoError(t, s.rdb.XGroupDestroy(t.Context(), routing.StreamKey(stream, 6), "guest").Err())
	s.eventually(sealed(4), "one more is sealed")

	s.restore(before)
	back := time.Now()
	s.eventually(sealed(4), "the seal is known again")
	t.Logf("known again after %s", time.Since(back).Round(time.Millisecond))
	require.NoError(t, s.rdb.XGroupDestroy(t.Context(), routing.StreamKey(stream, 7), "guest").Err())
	s.follow(s.admin, in)
	s.tell(in)
	s.stop("--resharded")
	s.requireKept()
	s.requireSealed(in, 3, shards, 6)
}

// TestARecordFromBeforeAScaleInMakesItsShardsAgain: the stream's record goes back to
// before a scale-in that is over. What it says counts (protocol L1), so the sealed shards
// are made again; nothing that was written is lost (L12).
func TestARecordFromBeforeAScaleInMakesItsShardsAgain(t *testing.T) {
	t.Parallel()
	s := startScaling(t, quickly()...)
	s.createStream()
	s.load("publisher", 400)
	s.read(2, "--workers", "4")
	before := s.record()
	in := s.follow(s.admin, s.scale(s.admin, 3))
	s.tell(in)
	s.requireSealed(in, 3, shards)
	s.restore(before)
	back := time.Now()
	s.requireEachWrites(func(e entry) bool { return e.Shard >= 3 && e.at().After(back) }, "the shards of before")
	s.eventually(func() bool { return len(s.owners()) == shards }, "all of them are read")
	t.Logf("written and read again after %s", time.Since(back).Round(time.Millisecond))
	for _, shard := range []int{3, 7} {
		s.eventually(func() bool { return s.rdb.Type(t.Context(), routing.StreamKey(stream, shard)).Val() == "stream" }, "it is a stream")
	}
	s.ending("--resharded")
	s.requireKept()
	requireNoProblem(t, s.admin)
}

// TestARecordFromBeforeAScaleOutGivesUpNoShard: the stream's record goes back to before a
// scale-out that is over and whose shards hold records that nobody has read.
func TestARecordFromBeforeAScaleOutGivesUpNoShard(t *testing.T) {
	t.Parallel()
	s := startScaling(t, quickly()...)
	s.createStream()
	s.load("publisher", 400)
	before := s.record()
	out := s.follow(s.admin, s.scale(s.admin, 12))
	s.tell(out)
	s.requireEachWrites(func(e entry) bool { return e.Shard >= shards }, "the added shards")
	s.restore(before)
	back := time.Now()
	s.requireEachWrites(func(e entry) bool { return e.at().After(back.Add(2 * shortRouting)) }, "when its routing has run out")
	s.read(2, "--workers", "4")
	s.ending("--resharded")
	s.requireKept()
	t.Logf("shards to write to: %d", s.shardCount())
	requireNoProblem(t, s.admin)
}

// TestRetiredDataInTheWayIsNamedAndMadeRoomFor: the stream's record goes back to before a
// scale-in, so that sealed shards are made again, and then to the midst of the same
// scale-in. Its retired data is in the way then and is not overwritten; the change says so,
// seals the other shards, and ends when an operator has renamed it (L5).
func TestRetiredDataInTheWayIsNamedAndMadeRoomFor(t *testing.T) {
	t.Parallel()
	s := startScaling(t, quickly()...)
	s.createStream()
	s.load("publisher", 400)
	s.read(2, "--workers", "4")
	stuckKey := routing.StreamKey(stream, stuck)
	require.NoError(t, s.rdb.XGroupCreate(t.Context(), stuckKey, "guest", "0").Err())
	before := s.record()
	in := s.scale(s.admin, 3)
	var last *protocol.Migration
	until := func(what string, is func() bool) {
		t.Helper()
		s.eventually(func() bool {
			var err error
			last, err = s.admin.Migration(t.Context(), stream, group, in.id)
			return err == nil && is()
		}, what)
	}
	until("all but the guest's are sealed", func() bool { return last.Progress.Done == 4 })
	during := s.record()
	s.restore(before)
	s.eventually(func() bool { return s.rdb.XLen(t.Context(), routing.StreamKey(stream, 3)).Val() > 0 }, "they are written again")
	s.restore(during)
	require.NoError(t, s.rdb.XGroupDestroy(t.Context(), stuckKey, "guest").Err())
	until("the guest's is sealed, the others are in the way", func() bool {
		trouble := last.Progress.LastError
		for shard := 3; trouble != nil && shard < stuck; shard++ {
			if !strings.Contains(*trouble, keptKey(shard, in.id)) {
				return false
			}
		}
		return trouble != nil && last.Progress.Done == 1
	})
	t.Logf("last error: %s", *last.Progress.LastError)
	for shard := 3; shard < stuck; shard++ {
		key := keptKey(shard, in.id)
		require.NoError(t, s.rdb.Rename(t.Context(), key, key+":before").Err())
	}
	s.follow(s.admin, in)
	s.tell(in)
	s.ending("--resharded")
	s.requireSealed(in, 3, shards)
	s.requireKept()
}

// TestShardsThatAllRecordsForgotComeBackByTheRunbook: stream and group go back to before a
// scale-out together, so that nobody knows of the added shards and of the records in them.
// The operator's page says how they are found and taken over.
func TestShardsThatAllRecordsForgotComeBackByTheRunbook(t *testing.T) {
	t.Parallel()
	const grown = 12
	commands := linesWith(runbookPage(t, "Coordinator keys were restored from a backup"), "rscctl ")
	require.Len(t, commands, 1)
	s := startScaling(t, append(quickly(), sceneTiming()...)...)
	s.createStream()
	s.load("publisher", 400)
	s.read(2, "--workers", "4")
	before := map[string]map[string]string{streamRecord: s.hash(streamRecord), groupRecord: s.hash(groupRecord)}
	s.tell(s.follow(s.admin, s.scale(s.admin, grown)))
	s.requireEachWrites(func(e entry) bool { return e.Shard >= shards }, "the added shards")
	s.putBack(before)
	back := time.Now()
	s.requireEachWrites(func(e entry) bool { return e.at().After(back.Add(2 * shortRouting)) }, "when its routing has run out")
	s.stable(2)
	if s.shardCount() < grown {
		t.Log(strings.ReplaceAll(s.operate("i="+strconv.Itoa(grown)+"; "+commands[0]), "\n", "; "))
	}
	require.Equal(t, grown, s.shardCount())
	s.ending("--resharded")
	s.requireKept()
	requireNoProblem(t, s.admin)
}

// The keys of the stream's record and of the group's.
const (
	streamRecord = "redis-stream:coord:{" + stream + "}:stream"
	groupRecord  = "redis-stream:coord:{" + stream + ":" + group + "}:metadata"
)

// record returns the stream's record as it is stored, restore puts it back.
func (s *scaling) record() map[string]string { return s.hash(streamRecord) }

func (s *scaling) restore(record map[string]string) {
	s.t.Helper()
	s.putBack(map[string]map[string]string{streamRecord: record})
}

func (s *scaling) hash(key string) map[string]string {
	s.t.Helper()
	fields, err := s.rdb.HGetAll(s.t.Context(), key).Result()
	require.NoError(s.t, err)
	require.NotEmpty(s.t, fields)
	return fields
}

// putBack puts older hashes, by their keys, in the place of the stored ones.
func (s *scaling) putBack(hashes map[string]map[string]string) {
	s.t.Helper()
	pipe := s.rdb.TxPipeline()
	for key, fields := range hashes {
		pipe.Del(s.t.Context(), key)
		pipe.HSet(s.t.Context(), key, fields)
	}
	_, err := pipe.Exec(s.t.Context())
	require.NoError(s.t, err)
}
