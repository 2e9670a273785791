package redisstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContractOnAServer(t *testing.T) {
	t.Parallel()
	client := redisproc.Start(t).Client(t)
	var harnesses atomic.Int64
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		t.Helper()
		return open(t, client, fmt.Sprintf("contract%d", harnesses.Add(1)), wait)
	})
}

func TestContractOnACluster(t *testing.T) {
	t.Parallel()
	client := redisproc.StartCluster(t, 3).Client(t)
	var harnesses atomic.Int64
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		t.Helper()
		return open(t, client, fmt.Sprintf("contract%d", harnesses.Add(1)), wait)
	})
}

// The imitation that the standalone binary falls back to refuses INFO in scripts.
func TestContractOnTheEmbeddedImitation(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		t.Helper()
		server := miniredis.RunT(t)
		client := redis.NewClient(&redis.Options{Addr: server.Addr()})
		t.Cleanup(func() { require.NoError(t, client.Close()) })
		now := time.Now()
		server.SetTime(now)
		return open(t, client, "mini", func(_ *testing.T, _ *redisstore.Store, d time.Duration) {
			now = now.Add(d)
			server.SetTime(now)
			server.FastForward(d)
		})
	})
}

func TestTheEmbeddedImitationHasNoIdentity(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	kept := newStore(t, client, redisstore.Options{})
	ability, err := kept.Probe(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.IdentityUnknown, ability.Identity)
}

// open returns a harness whose keys lie under a prefix of their own.
func open(
	t *testing.T, client redis.UniversalClient, prefix string, pass func(*testing.T, *redisstore.Store, time.Duration),
) storetest.Harness {
	t.Helper()
	kept := newStore(t, client, redisstore.Options{KeyPrefix: prefix, LeaseWait: -1})
	return storetest.Harness{
		Store: kept,
		Pass:  func(t *testing.T, d time.Duration) { t.Helper(); pass(t, kept, d) },
		History: func(t *testing.T, key store.Key) [][]byte {
			t.Helper()
			name := fmt.Sprintf("%s:{%s}:events", prefix, key)
			if key.Group == "" {
				name = fmt.Sprintf("%s:{%s}:stream:events", prefix, key.Stream)
			}
			entries, err := client.XRange(t.Context(), name, "-", "+").Result()
			require.NoError(t, err)
			events := make([][]byte, 0, len(entries))
			for _, entry := range entries {
				event, isText := entry.Values["event"].(string)
				require.True(t, isText)
				events = append(events, []byte(event))
			}
			return events
		},
		Spoil: func(t *testing.T, key store.Key, field string) {
			t.Helper()
			value := "not a number"
			if field == "token" {
				value = ""
			}
			require.NoError(t, client.HSet(t.Context(), fmt.Sprintf("%s:{%s}:metadata", prefix, key), field, value).Err())
		},
	}
}

// wait returns when the clock of the server has moved by d.
func wait(t *testing.T, kept *redisstore.Store, d time.Duration) {
	t.Helper()
	start, err := kept.Ping(t.Context())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		now, err := kept.Ping(t.Context())
		return err == nil && now >= start.Add(d)
	}, 10*time.Second, time.Millisecond)
}

func newStore(t *testing.T, client redis.UniversalClient, options redisstore.Options) *redisstore.Store {
	t.Helper()
	kept, err := redisstore.New(client, options)
	require.NoError(t, err)
	return kept
}
