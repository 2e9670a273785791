package redisxtest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

func TestFieldF17BlockedReadsNeverStarveAcknowledgements(t *testing.T) {
	t.Parallel()
	const shards, acks = 30, 200
	app, err := redisx.New(redisx.Options{URL: redisproc.Start(t).URL(), PoolSize: 10})
	require.NoError(t, err)
	t.Cleanup(func() { _ = app.Close() })
	reads, err := redisx.Dedicated(app, shards)
	require.NoError(t, err)
	t.Cleanup(func() { _ = reads.Close() })
	for i := range shards {
		do(t, app, "XGROUP", "CREATE", routing.StreamKey("orders", i), "g", "0", "MKSTREAM")
	}
	var pollers sync.WaitGroup
	for i := range shards {
		pollers.Go(func() { _ = read(reads, routing.StreamKey("orders", i), patience) })
	}
	single, ok := app.(*redis.Client)
	require.True(t, ok)
	awaitBlocked(t, single, shards)
	var took []time.Duration
	for range acks {
		start := clock.Now()
		do(t, app, "XACK", "orders:0", "g", "1-0")
		took = append(took, clock.Since(start))
	}
	slices.Sort(took)
	require.Less(t, took[acks/2], time.Second, "less than 1 ms; a read lasts a minute")
	require.Less(t, took[acks*99/100], 5*time.Second)
	for i := range shards {
		do(t, app, "XADD", routing.StreamKey("orders", i), "*", "f", "v")
	}
	pollers.Wait()
}

func TestBlockedReadOutlivesTheReadTimeoutOfTheApplication(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	do(t, server.Client(t), "XGROUP", "CREATE", "k", "g", "0", "MKSTREAM")
	app, err := redisx.New(redisx.Options{URL: server.URL(), ReadTimeout: 20 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { _ = app.Close() })
	reads, err := redisx.Dedicated(app, 1)
	require.NoError(t, err)
	t.Cleanup(func() { _ = reads.Close() })
	require.ErrorIs(t, read(reads, "k", 300*time.Millisecond), redis.Nil, "no data is no failure (field case F16)")
}

func TestDeadlineOfTheContextEndsABlockedRead(t *testing.T) {
	t.Parallel()
	app := redisproc.Start(t).Client(t)
	reads, err := redisx.Dedicated(app, 1)
	require.NoError(t, err)
	t.Cleanup(func() { _ = reads.Close() })
	do(t, reads, "XGROUP", "CREATE", "k", "g", "0", "MKSTREAM")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := clock.Now()
	err = reads.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "c", Streams: []string{"k", ">"}, Block: patience}).Err()
	require.Equal(t, redisx.StateTimeout, redisx.StateOf(err))
	require.Less(t, clock.Since(start), patience/2)
}

func TestProbeKnowsWhatTheServerKnows(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	got, err := redisx.Probe(t.Context(), rdb)
	require.NoError(t, err)
	known := func(name string) bool {
		info, err := rdb.Do(t.Context(), "COMMAND", "INFO", name).Slice()
		require.NoError(t, err)
		return info[0] != nil
	}
	require.Equal(t, redisx.Capabilities{
		AckDel: known("xackdel"), Nack: known("xnack"), ShardedPubSub: known("spublish"),
	}, got)
	require.True(t, got.ShardedPubSub, "every supported server has it")
}

func TestProbeOfAServerThatIsAwayFails(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb := server.Client(t)
	server.Kill()
	_, err := redisx.Probe(t.Context(), rdb)
	require.Error(t, err)
	require.True(t, redisx.StateOf(err).Transient())
}

func read(rdb redis.UniversalClient, key string, block time.Duration) error {
	return rdb.XReadGroup(context.Background(), &redis.XReadGroupArgs{
		Group: "g", Consumer: "c", Streams: []string{key, ">"}, Block: block,
	}).Err()
}
