package auth

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// source is a gateway in the bubble of a test.
type source struct {
	mu    sync.Mutex
	keys  map[string]ed25519.PublicKey // nil when the gateway is away
	takes time.Duration
	asked []time.Duration // since the start of the bubble
	began time.Time
}

func (s *source) fetch(ctx context.Context) (map[string]ed25519.PublicKey, error) {
	s.mu.Lock()
	keys, takes := s.keys, s.takes
	s.asked = append(s.asked, time.Since(s.began))
	s.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if keys == nil {
		return nil, errors.New("away")
	}
	return keys, nil
}

func (s *source) set(takes time.Duration, keys ...Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takes, s.keys = takes, nil
	for _, key := range keys {
		if s.keys == nil {
			s.keys = map[string]ed25519.PublicKey{}
		}
		s.keys[key.id] = key.Public()
	}
}

func (s *source) times() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]time.Duration{}, s.asked...)
}

func invented(t *testing.T, i int) Key {
	t.Helper()
	key, err := KeyFromSecret(fmt.Sprint("key ", i))
	require.NoError(t, err)
	return key
}

// remoteOf returns a source that takes so long and has the keys, and a remote of it. The
// caller is in a bubble.
func remoteOf(t *testing.T, takes time.Duration, keys ...Key) (*source, *Remote) {
	t.Helper()
	s := &source{began: time.Now()}
	s.set(takes, keys...)
	return s, newRemote(t.Context(), s.fetch, slog.New(slog.DiscardHandler))
}

func pass(t *testing.T, d time.Duration) {
	t.Helper()
	require.NoError(t, clock.Sleep(t.Context(), d))
}

func has(t *testing.T, r *Remote, key Key) bool {
	t.Helper()
	public, err := r.PublicKey(t.Context(), key.ID())
	if err != nil {
		require.ErrorIs(t, err, ErrUnknownKey)
		return false
	}
	require.Equal(t, key.Public(), public)
	return true
}

func TestFirstCallersWaitForTheFirstAnswer(t *testing.T) {
	t.Parallel()
	key := invented(t, 0)
	synctest.Test(t, func(t *testing.T) {
		s, r := remoteOf(t, time.Second, key)
		require.True(t, has(t, r, key))
		require.Equal(t, time.Second, time.Since(s.began))
		require.Len(t, s.times(), 1)
	})
}

func TestEverybodyWhoHasANewKeyIsServedByOneFetch(t *testing.T) {
	t.Parallel()
	old, young := invented(t, 0), invented(t, 1)
	synctest.Test(t, func(t *testing.T) {
		s, r := remoteOf(t, 0, old)
		require.True(t, has(t, r, old))
		pass(t, time.Minute)
		s.set(time.Second, young)
		var group sync.WaitGroup
		for range maxWaiting {
			group.Go(func() {
				if !has(t, r, young) {
					t.Error("refused")
				}
			})
		}
		group.Wait()
		require.Equal(t, []time.Duration{0, time.Minute}, s.times())
		require.False(t, has(t, r, old), "it was withdrawn")
	})
}

func TestUnknownIDsLeadToAFetchEvery2Seconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, r := remoteOf(t, 10*time.Millisecond, invented(t, 0))
		for i := range 1000 {
			require.False(t, has(t, r, invented(t, 1+i)))
			pass(t, 10*time.Millisecond)
		}
		asked := s.times()
		for i := range asked[1:] {
			require.GreaterOrEqual(t, asked[i+1]-asked[i], askAgainAfter)
		}
		require.LessOrEqual(t, len(asked), 1+int(time.Since(s.began)/askAgainAfter))
		require.GreaterOrEqual(t, len(asked), 5)
	})
}

func TestIDThatIsNoThumbprintIsNotAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		key := invented(t, 0)
		s, r := remoteOf(t, 0, key)
		require.True(t, has(t, r, key))
		pass(t, time.Minute)
		for _, id := range []string{
			"", "abcd", "../../etc/passwd", "' OR 1=1 --", encoded(make([]byte, 31)), encoded(make([]byte, 33)),
			key.ID() + "\n", key.ID() + "=", key.ID()[:42], key.ID()[:42] + "l", strings.Repeat("A", 4000),
		} {
			_, err := r.PublicKey(t.Context(), id)
			require.ErrorIs(t, err, ErrUnknownKey, "%q", id)
		}
		require.Len(t, s.times(), 1)
		require.False(t, has(t, r, invented(t, 1)))
		require.Len(t, s.times(), 2)
	})
}

// The flood that a hung gateway must not turn into a heap of requests.
func TestHungGatewayHoldsBoundedCallersForABoundedTime(t *testing.T) {
	t.Parallel()
	key := invented(t, 0)
	synctest.Test(t, func(t *testing.T) {
		s, r := remoteOf(t, 0, key)
		require.True(t, has(t, r, key))
		pass(t, time.Minute)
		s.set(time.Hour)
		began := time.Now()
		var group sync.WaitGroup
		var mu sync.Mutex
		atOnce, waited := 0, 0
		for i := range 4 * maxWaiting {
			group.Go(func() {
				known := has(t, r, invented(t, 1+i))
				mu.Lock()
				defer mu.Unlock()
				switch passed := time.Since(began); {
				case known || passed > fetchTimeout:
					t.Errorf("known %v after %s", known, passed)
				case passed == 0:
					atOnce++
				default:
					waited++
				}
			})
		}
		synctest.Wait()
		require.True(t, has(t, r, key), "keys that are known are not held up")
		require.Equal(t, began, time.Now())
		group.Wait()
		require.Equal(t, maxWaiting, waited)
		require.Equal(t, 3*maxWaiting, atOnce)
		require.Zero(t, r.waiting)
	})
}

func TestCallersWhoLeaveMakeRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, r := remoteOf(t, time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for i := range maxWaiting {
			group.Go(func() { _, _ = r.PublicKey(ctx, invented(t, i).ID()) })
		}
		synctest.Wait()
		require.Equal(t, maxWaiting, r.waiting)
		left := time.Now()
		cancel()
		group.Wait()
		require.Equal(t, left, time.Now(), "they do not wait for the fetch to fail")
		require.Zero(t, r.waiting)
	})
}

func TestKeysAreFetchedEvery5Minutes(t *testing.T) {
	t.Parallel()
	old, young := invented(t, 0), invented(t, 1)
	synctest.Test(t, func(t *testing.T) {
		s, r := remoteOf(t, time.Millisecond, old)
		require.True(t, has(t, r, old))
		s.set(time.Millisecond, young)
		pass(t, refreshEvery-10*time.Millisecond)
		require.True(t, has(t, r, old))
		pass(t, 20*time.Millisecond)
		require.False(t, has(t, r, old), "nobody had asked for another")
		require.True(t, has(t, r, young))
		require.Equal(t, []time.Duration{0, refreshEvery}, s.times())
	})
}

func TestKeysStayWhileTheGatewayIsAway(t *testing.T) {
	t.Parallel()
	key := invented(t, 0)
	synctest.Test(t, func(t *testing.T) {
		s, r := remoteOf(t, 0, key)
		require.True(t, has(t, r, key))
		s.set(0)
		pass(t, 24*time.Hour)
		require.False(t, has(t, r, invented(t, 1)))
		require.True(t, has(t, r, key))
	})
}

func TestAfterTheEndNobodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{began: time.Now()}
		key := invented(t, 0)
		s.set(0, key)
		ctx, cancel := context.WithCancel(t.Context())
		r := newRemote(ctx, s.fetch, slog.New(slog.DiscardHandler))
		require.True(t, has(t, r, key))
		cancel()
		pass(t, time.Minute)
		began := time.Now()
		require.False(t, has(t, r, invented(t, 1)))
		require.False(t, has(t, r, invented(t, 2)))
		require.True(t, has(t, r, key))
		require.Equal(t, began, time.Now())
		require.Len(t, s.times(), 1)
	})
}
