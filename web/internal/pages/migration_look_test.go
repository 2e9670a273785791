package pages

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// answering is an API that counts how often it is asked for a resharding.
type answering struct {
	migrationAPI

	asked  atomic.Int64
	answer func(ctx context.Context) (*protocol.Migration, error)
}

func (a *answering) Migration(ctx context.Context, _, _, _ string) (*protocol.Migration, error) {
	a.asked.Add(1)
	return a.answer(ctx)
}

func in(state protocol.MigrationState) func(context.Context) (*protocol.Migration, error) {
	return func(context.Context) (*protocol.Migration, error) { return &protocol.Migration{State: state}, nil }
}

func TestAReshardingIsAskedForOnceASecondForAll(t *testing.T) {
	t.Parallel()
	var seen looks
	at := time.Unix(1_000, 0)
	now := func() time.Time { return at }
	api := &answering{answer: in(protocol.MigrationDraining)}
	one := watched{room{stream: "orders", group: "readers"}, "R-1"}
	look := func() { // by a hundred at once
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				got, err := seen.look(t.Context(), one, now, api)
				if err == nil && got == nil {
					t.Error("nothing is no answer")
				}
			})
		}
		all.Wait()
	}
	look()
	require.EqualValues(t, 1, api.asked.Load())
	at = at.Add(lookEvery - time.Millisecond)
	look()
	require.EqualValues(t, 1, api.asked.Load())
	at = at.Add(time.Millisecond)
	look()
	require.EqualValues(t, 2, api.asked.Load())
	at = at.Add(-time.Hour)
	look()
	require.EqualValues(t, 3, api.asked.Load(), "a clock that was set back stops nothing")

	api.answer = func(context.Context) (*protocol.Migration, error) { return nil, errors.New("away") }
	at = at.Add(time.Minute)
	look()
	require.EqualValues(t, 4, api.asked.Load(), "a failure is no reason to ask more often")
	_, err := seen.look(t.Context(), one, now, api)
	require.ErrorContains(t, err, "away")

	api.answer = in(protocol.MigrationDeprecated)
	for range 3 {
		at = at.Add(time.Minute)
		look()
	}
	require.EqualValues(t, 5, api.asked.Load(), "what is over is not asked for again")
	_, err = seen.look(t.Context(), watched{room{stream: "orders", group: "others"}, "R-1"}, now, api)
	require.NoError(t, err)
	require.EqualValues(t, 6, api.asked.Load(), "what is known of one group is not told of another")
}

func TestWhoLeavesWhileAskingSpoilsNothingForTheOthers(t *testing.T) {
	t.Parallel()
	var seen looks
	one := watched{room{stream: "orders", group: "readers"}, "R-1"}
	now := func() time.Time { return time.Unix(1_000, 0) }
	asking := make(chan struct{})
	api := &answering{answer: func(ctx context.Context) (*protocol.Migration, error) {
		close(asking)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := seen.look(ctx, one, now, api)
		left <- err
	}()
	<-asking
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := seen.look(gone, one, now, api)
	require.ErrorIs(t, err, context.Canceled, "who waits for a turn may leave")
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
	got, err := seen.look(t.Context(), one, now, &answering{answer: in(protocol.MigrationActive)})
	require.NoError(t, err)
	require.Equal(t, protocol.MigrationActive, got.State)
}

func TestLooksAtManyReshardingsAreForgotten(t *testing.T) {
	t.Parallel()
	var seen looks
	api := &answering{answer: in(protocol.MigrationActive)}
	for i := range 10 * maxLooks {
		_, err := seen.look(t.Context(), watched{room{stream: "orders", group: "readers"}, strconv.Itoa(i)}, func() time.Time { return time.Unix(1_000, 0) }, api)
		require.NoError(t, err)
		require.LessOrEqual(t, len(seen.seen), maxLooks)
	}
}
