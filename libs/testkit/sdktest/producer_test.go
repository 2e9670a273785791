package sdktest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

func TestRecordsAreInTheShardsOfTheirKeys(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	createShards(t, rdb, 4)
	p := newProducer(t, startRouting(t, 4), rdb, client.ProducerOptions{})
	for i := range 100 {
		key := fmt.Sprintf("order-%d", i)
		got, err := p.Publish(t.Context(), key, map[string]any{"payload": key, "n": i})
		require.NoError(t, err)
		shard, err := routing.Shard(key, 4)
		require.NoError(t, err)
		require.Equal(t, shard, got.Shard)
		require.Equal(t, routing.StreamKey(stream, shard), got.StreamKey)
		require.Equal(t, p.Status().MetadataVersion, got.MetadataVersion)
		entries, err := rdb.XRange(t.Context(), got.StreamKey, got.ID, got.ID).Result()
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.Equal(t, map[string]any{
			client.KeyField: key, "payload": key, "n": fmt.Sprint(i),
		}, entries[0].Values)
	}
}

func TestShardsAreTrimmedToMaxLen(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	createShards(t, rdb, 1)
	p := newProducer(t, startRouting(t, 1), rdb, client.ProducerOptions{MaxLen: 7, ExactTrim: true})
	for range 20 {
		_, err := p.Publish(t.Context(), "k", nil)
		require.NoError(t, err)
	}
	require.Equal(t, int64(7), length(t, rdb, 0))
}

func TestProducerDoesNotStartWithoutAGroupShardsOrACoordinator(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	s := startRouting(t, 0)
	c := newClient(t, s, rdb)
	_, err := c.NewProducer(t.Context(), stream, group, client.ProducerOptions{})
	require.ErrorIs(t, err, client.ErrNoShards)
	for _, code := range []protocol.Code{protocol.CodeGroupNotFound, protocol.CodeStreamNotFound} {
		s.refuse(code)
		_, err = c.NewProducer(t.Context(), stream, group, client.ProducerOptions{})
		require.ErrorIs(t, err, client.ErrUnknownGroup)
	}
	_, err = newClient(t, s, nil).NewProducer(t.Context(), stream, group, client.ProducerOptions{})
	require.ErrorIs(t, err, client.ErrNoRedis)
	_, err = c.NewProducer(t.Context(), "no/name", group, client.ProducerOptions{})
	require.ErrorIs(t, err, protocol.ErrInvalidName)
	away, err := client.New(client.Options{CoordinatorURL: "http://127.0.0.1:1", Redis: rdb})
	require.NoError(t, err)
	_, err = away.NewProducer(t.Context(), stream, group, client.ProducerOptions{})
	require.ErrorIs(t, err, client.ErrUnavailable)
}

// retired returns the ways in which the key of a removed shard is left behind.
func retired() map[string]func(context.Context, redis.UniversalClient, string) error {
	return map[string]func(context.Context, redis.UniversalClient, string) error{
		"deleted": func(ctx context.Context, rdb redis.UniversalClient, key string) error {
			return rdb.Del(ctx, key).Err()
		},
		"sealed": func(ctx context.Context, rdb redis.UniversalClient, key string) error {
			return rdb.Set(ctx, key, "reshard-1", 0).Err()
		},
	}
}

func TestRecordOfARemovedShardIsRoutedAnew(t *testing.T) {
	t.Parallel()
	for name, retire := range retired() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb := redisproc.Start(t).Client(t)
			createShards(t, rdb, 2)
			s := startRouting(t, 2)
			p := newProducer(t, s, rdb, client.ProducerOptions{})
			before := p.Status().MetadataVersion
			s.setShards(1)
			require.NoError(t, retire(t.Context(), rdb, routing.StreamKey(stream, 1)))
			got, err := p.Publish(t.Context(), keyFor(t, 1, 2), map[string]any{"n": 1})
			require.NoError(t, err)
			require.Equal(t, routing.StreamKey(stream, 0), got.StreamKey)
			require.Greater(t, got.MetadataVersion, before)
			require.Equal(t, 2, s.asked())
			require.Equal(t, int64(1), length(t, rdb, 0))
		})
	}
}

func TestShardThatIsGoneForTheCoordinatorTooIsAStaleRoute(t *testing.T) {
	t.Parallel()
	for name, retire := range retired() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb := redisproc.Start(t).Client(t)
			createShards(t, rdb, 2)
			s := startRouting(t, 2)
			p := newProducer(t, s, rdb, client.ProducerOptions{})
			require.NoError(t, retire(t.Context(), rdb, routing.StreamKey(stream, 1)))
			_, err := p.Publish(t.Context(), keyFor(t, 1, 2), map[string]any{"n": 1})
			require.ErrorIs(t, err, client.ErrStaleRoute)
			require.Equal(t, 2, s.asked())
			kind, err := rdb.Type(t.Context(), routing.StreamKey(stream, 1)).Result()
			require.NoError(t, err)
			require.NotEqual(t, "stream", kind, "the producer creates no shard")

			s.refuse(protocol.CodeStoreUnavailable)
			_, err = p.Publish(t.Context(), keyFor(t, 1, 2), map[string]any{"n": 1})
			require.ErrorIs(t, err, client.ErrStaleRoute)
			var refused *protocol.Error
			require.ErrorAs(t, err, &refused)
			_, err = p.Publish(t.Context(), keyFor(t, 0, 2), map[string]any{"n": 1})
			require.NoError(t, err, "the other shard is not concerned")
		})
	}
}

func TestNothingIsWrittenAfterTheRoutingLease(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	createShards(t, rdb, 1)
	s := startRouting(t, 1)
	s.change(func(r *protocol.ProducerRouting) { r.LeaseMs = 4000 })
	p := newProducer(t, s, rdb, client.ProducerOptions{})
	require.Eventually(t, func() bool {
		_, err := p.Publish(t.Context(), "k", nil)
		return err == nil
	}, patience, tick)
	s.refuse(protocol.CodeStoreUnavailable)
	require.Eventually(t, func() bool {
		_, err := p.Publish(t.Context(), "k", nil)
		return err != nil
	}, patience, tick)
	written := length(t, rdb, 0)
	require.Positive(t, written)
	_, err := p.Publish(t.Context(), "k", nil)
	require.ErrorIs(t, err, client.ErrRoutingExpired)
	_, err = p.PublishBatch(t.Context(), []client.Record{{Key: "k"}})
	require.ErrorIs(t, err, client.ErrRoutingExpired)
	require.Equal(t, written, length(t, rdb, 0))
	require.Zero(t, p.Status().LeaseLeft)
	require.Eventually(t, func() bool {
		status := p.Status()
		return status.RefreshFailures > 0 && status.LastRefreshError != nil
	}, patience, tick)

	s.refuse("")
	require.Eventually(t, func() bool {
		_, err := p.Publish(t.Context(), "k", nil)
		return err == nil
	}, patience, tick)
	require.Eventually(t, func() bool { return p.Status().RefreshFailures == 0 }, patience, tick)
}

func TestStreamThatLosesItsLastShardIsReported(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	createShards(t, rdb, 1)
	s := startRouting(t, 1)
	p := newProducer(t, s, rdb, client.ProducerOptions{})
	s.setShards(0)
	require.NoError(t, p.Refresh(t.Context()))
	_, err := p.Publish(t.Context(), "k", nil)
	require.ErrorIs(t, err, client.ErrNoShards)
	s.refuse(protocol.CodeGroupNotFound)
	require.ErrorIs(t, p.Refresh(t.Context()), client.ErrUnknownGroup)
}

// TestRefusedWritesAreTriedAgain is field case F22: a state of Redis that passes is
// waited out, and is not taken for a stale route.
func TestRefusedWritesAreTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ begin, end []any }{
		"READONLY": {[]any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}},
		"OOM":      {[]any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb := redisproc.Start(t).Client(t)
			createShards(t, rdb, 1)
			s := startRouting(t, 1)
			p := newProducer(t, s, rdb, client.ProducerOptions{Retries: 1000})
			require.NoError(t, rdb.Do(t.Context(), c.begin...).Err())
			failing := make(chan error, 1)
			go func() {
				_, err := p.Publish(t.Context(), "k", nil)
				failing <- err
			}()
			require.Eventually(t, func() bool {
				return strings.Contains(rdb.Info(t.Context(), "errorstats").Val(), "errorstat_"+name)
			}, patience, tick)
			require.NoError(t, rdb.Do(t.Context(), c.end...).Err())
			require.NoError(t, <-failing)
			require.Equal(t, int64(1), length(t, rdb, 0))
			require.Equal(t, 1, s.asked())
		})
	}
}

func TestRetriesEndWithTheirNumberAndWithTheContext(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	createShards(t, rdb, 1)
	s := startRouting(t, 1)
	require.NoError(t, rdb.ConfigSet(t.Context(), "maxmemory", "1").Err())
	_, err := newProducer(t, s, rdb, client.ProducerOptions{Retries: -1}).Publish(t.Context(), "k", nil)
	require.ErrorContains(t, err, "OOM")
	require.NotErrorIs(t, err, client.ErrUncertain)
	p := newProducer(t, s, rdb, client.ProducerOptions{Retries: 1000})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // enough for one try at least
	defer cancel()
	_, err = p.Publish(ctx, "k", nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "OOM")
	require.NotErrorIs(t, err, client.ErrUncertain)
}

func TestRedisThatIsAwayMeansNotWritten(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	p := newProducer(t, startRouting(t, 1), server.Client(t), client.ProducerOptions{Retries: -1})
	server.Kill()
	_, err := p.Publish(t.Context(), "k", nil)
	require.Error(t, err)
	require.NotErrorIs(t, err, client.ErrUncertain)
}

func TestContextThatIsOverSendsNothing(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	createShards(t, rdb, 1)
	p := newProducer(t, startRouting(t, 1), rdb, client.ProducerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Publish(ctx, "k", nil)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, client.ErrUncertain)
	require.Zero(t, length(t, rdb, 0))
}
