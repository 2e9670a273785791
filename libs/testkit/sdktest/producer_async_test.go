package sdktest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// barrier is a hook that holds writes back until it is opened.
type barrier struct {
	reached chan struct{} // gets one for each write that waits
	open    chan struct{}
}

func newBarrier() *barrier {
	return &barrier{reached: make(chan struct{}, 1000), open: make(chan struct{})}
}

func (b *barrier) DialHook(next redis.DialHook) redis.DialHook { return next }

func (b *barrier) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		b.pass(cmd)
		return next(ctx, cmd)
	}
}

func (b *barrier) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		b.pass(cmds[0])
		return next(ctx, cmds)
	}
}

func (b *barrier) pass(cmd redis.Cmder) {
	if cmd.Name() == "xadd" {
		b.reached <- struct{}{}
		<-b.open
	}
}

// heldWorld is one shard behind a client whose writes wait for the barrier.
func heldWorld(t *testing.T, opts client.ProducerOptions) (*redis.Client, *client.Producer, *barrier) {
	t.Helper()
	server := redisproc.Start(t)
	rdb := server.Client(t)
	createShards(t, rdb, 1)
	held, b := server.Client(t), newBarrier()
	held.AddHook(b)
	return rdb, newProducer(t, startRouting(t, 1), held, opts), b
}

func TestAsyncRecordsAreWrittenAndReportedInOrder(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	createShards(t, rdb, 1)
	p := newProducer(t, startRouting(t, 1), rdb, client.ProducerOptions{AsyncBuffer: 16, AsyncBatch: 5})
	var mu sync.Mutex
	var ids []string
	for i := range 300 {
		rec := client.Record{Key: "k", Fields: map[string]any{"n": i}}
		require.NoError(t, p.PublishAsync(t.Context(), rec, func(r client.Result, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				ids = append(ids, r.ID)
			}
		}))
	}
	require.NoError(t, p.Flush(t.Context()))
	require.Zero(t, p.Status().InFlight)
	entries, err := rdb.XRange(t.Context(), "orders:0", "-", "+").Result()
	require.NoError(t, err)
	require.Len(t, entries, 300)
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, ids, 300)
	for i, entry := range entries {
		require.Equal(t, fmt.Sprint(i), entry.Values["n"])
		require.Equal(t, entry.ID, ids[i])
	}
}

func TestCloseWritesWhatIsBuffered(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	createShards(t, rdb, 1)
	p := newProducer(t, startRouting(t, 1), rdb, client.ProducerOptions{})
	for range 500 {
		require.NoError(t, p.PublishAsync(t.Context(), client.Record{Key: "k"}, nil))
	}
	require.NoError(t, p.Close(t.Context()))
	require.Equal(t, int64(500), length(t, rdb, 0))
	require.ErrorIs(t, p.PublishAsync(t.Context(), client.Record{Key: "k"}, nil), client.ErrProducerClosed)
	_, err := p.Publish(t.Context(), "k", nil)
	require.ErrorIs(t, err, client.ErrProducerClosed)
	require.ErrorIs(t, p.Refresh(t.Context()), client.ErrProducerClosed)
	require.NoError(t, p.Close(t.Context()))
}

func TestFullBufferHoldsTheCallerUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	rdb, p, b := heldWorld(t, client.ProducerOptions{AsyncBuffer: 2, AsyncBatch: 1})
	require.NoError(t, p.PublishAsync(t.Context(), client.Record{Key: "k"}, nil))
	<-b.reached
	for range 2 {
		require.NoError(t, p.PublishAsync(t.Context(), client.Record{Key: "k"}, nil))
	}
	require.Equal(t, 2, p.Status().Buffered)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := p.PublishAsync(ctx, client.Record{Key: "k"}, nil)
	require.ErrorIs(t, err, client.ErrBufferFull)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, 3, p.Status().InFlight)
	waiting := make(chan error, 1)
	go func() { waiting <- p.PublishAsync(t.Context(), client.Record{Key: "k"}, nil) }()
	close(b.open)
	require.NoError(t, <-waiting)
	require.NoError(t, p.Flush(t.Context()))
	require.Equal(t, int64(4), length(t, rdb, 0))
}

func TestCloseThatMayNotWaitGivesBackWhatWasNotSent(t *testing.T) {
	t.Parallel()
	rdb, p, b := heldWorld(t, client.ProducerOptions{AsyncBatch: 1})
	outcomes := make(chan error, 10)
	for range 4 {
		require.NoError(t, p.PublishAsync(t.Context(), client.Record{Key: "k"},
			func(_ client.Result, err error) { outcomes <- err }))
	}
	<-b.reached
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, p.Close(ctx), context.DeadlineExceeded)
	close(b.open)
	require.NotErrorIs(t, <-outcomes, client.ErrProducerClosed, "it was on its way")
	for range 3 {
		require.ErrorIs(t, <-outcomes, client.ErrProducerClosed)
	}
	require.NoError(t, p.Close(t.Context()))
	require.LessOrEqual(t, length(t, rdb, 0), int64(1))
}

func TestPauseWaitsForWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	rdb, p, b := heldWorld(t, client.ProducerOptions{})
	published := make(chan error, 1)
	go func() {
		_, err := p.Publish(t.Context(), "k", nil)
		published <- err
	}()
	<-b.reached
	require.NoError(t, p.PublishAsync(t.Context(), client.Record{Key: "k"}, nil))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, p.Pause(ctx), context.DeadlineExceeded)
	require.True(t, p.Status().Paused)
	_, err := p.Publish(t.Context(), "k", nil)
	require.ErrorIs(t, err, client.ErrPaused)
	_, err = p.PublishBatch(t.Context(), records("k", 2))
	require.ErrorIs(t, err, client.ErrPaused)
	require.ErrorIs(t, p.PublishAsync(t.Context(), client.Record{Key: "k"}, nil), client.ErrPaused)

	paused := make(chan error, 1)
	go func() { paused <- p.Pause(t.Context()) }()
	select {
	case err := <-paused:
		t.Fatalf("paused with two records on their way: %v", err)
	case <-b.reached: // the buffered one has come to the barrier as well
	}
	close(b.open)
	require.NoError(t, <-paused)
	require.NoError(t, <-published)
	require.Equal(t, int64(2), length(t, rdb, 0))
	require.NoError(t, p.Refresh(t.Context()), "a paused producer can look at the routing")
	p.Resume()
	_, err = p.Publish(t.Context(), "k", nil)
	require.NoError(t, err)
}
