package client

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func handleNothing(context.Context, *Message) error { return nil }

func TestSubscriptionsAreChecked(t *testing.T) {
	t.Parallel()
	rdb := redis.NewClient(&redis.Options{})
	t.Cleanup(func() { _ = rdb.Close() })
	c, err := New(Options{CoordinatorURL: "http://coordinator", Redis: rdb})
	require.NoError(t, err)
	for name, edit := range map[string]func(*Subscription){
		"no stream":        func(s *Subscription) { s.Stream = "" },
		"odd stream":       func(s *Subscription) { s.Stream = "a b" },
		"no group":         func(s *Subscription) { s.Group = "" },
		"odd member":       func(s *Subscription) { s.MemberID = "a/b" },
		"long member":      func(s *Subscription) { s.MemberID = strings.Repeat("m", protocol.MaxMemberID+1) },
		"nowhere to go":    func(s *Subscription) { s.Retry.MaxDeliveries = 3 },
		"restart unnamed":  func(s *Subscription) { s.LeaveMode = LeaveForRestart },
		"long with suffix": func(s *Subscription) { s.MemberID = strings.Repeat("m", protocol.MaxMemberID); s.Concurrency = 2 },
	} {
		sub := Subscription{Stream: "orders", Group: "g"}
		edit(&sub)
		_, err := c.NewConsumer(sub, handleNothing)
		require.ErrorIs(t, err, ErrInvalidSubscription, name)
	}
	_, err = c.NewConsumer(Subscription{Stream: "orders", Group: "g"}, nil)
	require.ErrorIs(t, err, ErrInvalidSubscription)
	_, err = c.NewShardConsumer(Subscription{Stream: "orders", Group: "g"}, nil)
	require.ErrorIs(t, err, ErrInvalidSubscription)

	admin, err := New(Options{CoordinatorURL: "http://coordinator"})
	require.NoError(t, err)
	_, err = admin.NewConsumer(Subscription{Stream: "orders", Group: "g"}, handleNothing)
	require.ErrorIs(t, err, ErrNoRedis)
}

func TestSubscriptionDefaults(t *testing.T) {
	t.Parallel()
	got := Subscription{}.withDefaults()
	require.Equal(t, Subscription{
		Concurrency: 1, Workers: 1, BatchSize: 100, PollTimeout: 250 * time.Millisecond,
		DrainTimeout: 20 * time.Second, ClientLease: 8 * time.Second,
		SweepInterval: 15 * time.Second, FormerConsumerIdle: 10 * time.Minute,
		Retry: Retry{MinBackoff: time.Second, MaxBackoff: time.Minute},
	}, got)
}

func TestMemberIDs(t *testing.T) {
	t.Parallel()
	one, err := memberIDs(Subscription{MemberID: "pod", Concurrency: 1})
	require.NoError(t, err)
	require.Equal(t, []string{"pod"}, one)
	two, err := memberIDs(Subscription{MemberID: "pod", Concurrency: 2})
	require.NoError(t, err)
	require.Equal(t, []string{"pod-m0", "pod-m1"}, two)
	unnamed, err := memberIDs(Subscription{Concurrency: 1})
	require.NoError(t, err)
	require.Equal(t, []string{DefaultMemberID("") + "-m0"}, unnamed)
	require.Equal(t, "10.0.0.1", DefaultMemberID("10.0.0.1"))
	require.Equal(t, "fd00::1", DefaultMemberID("fd00::1"))
	require.NoError(t, protocol.CheckMemberID(DefaultMemberID("{odd}")))
}

func TestRetryPausesDoubleUpToTheirBound(t *testing.T) {
	t.Parallel()
	book := newRetryBook(Retry{MinBackoff: time.Second, MaxBackoff: 5 * time.Second})
	var pauses []time.Duration
	for deliveries := int64(1); deliveries < 6; deliveries++ {
		pauses = append(pauses, book.backoff(deliveries))
	}
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second}, pauses)
	require.Equal(t, 5*time.Second, book.backoff(1<<40))
}

func TestRetryBookGivesRecordsInTheOrderTheyAreDue(t *testing.T) {
	t.Parallel()
	book := newRetryBook(Retry{})
	for at, due := range []time.Duration{3, 1, 2, 2} {
		book.add(retry{id: string(rune('a' + at)), due: due})
	}
	book.add(retry{id: "b", due: 9})
	require.Len(t, book.list, 4, "an id is in it once")
	book.remove("c")
	var ids []string
	for _, one := range book.take(2, 10) {
		ids = append(ids, one.id)
	}
	require.Equal(t, []string{"b", "d"}, ids)
	require.False(t, book.has("b"))
	require.True(t, book.has("a"))
	require.Empty(t, book.take(2, 10))
	for at := range maxRetries + 5 {
		book.add(retry{id: "x" + string(rune(at)), due: 1})
	}
	require.Len(t, book.list, maxRetries)
}
