package redisstore_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
)

// The touch of one member, beside the smallest script that reads and writes a field.
func BenchmarkTouch(b *testing.B) {
	client := redisproc.Start(b).Client(b)
	kept, err := redisstore.New(client, redisstore.Options{})
	require.NoError(b, err)
	done, err := kept.Create(b.Context(), store.Create{Key: orders(), Token: "t", Aggregate: make([]byte, 1<<18)})
	require.NoError(b, err)
	b.Run("touch", func(b *testing.B) {
		b.ReportAllocs()
		touch := store.Touch{Key: orders(), Version: done.Version, Beats: []store.Beat{beat("m1", 0)}, ServedEvery: 1 << 40}
		first := touch
		first.Identity = store.IdentityUnknown // the member's first lease
		_, err := kept.Touch(b.Context(), first)
		if err != nil {
			b.Fatal(err)
		}
		touch.Beats[0].RequestID = ""
		for b.Loop() {
			if _, err := kept.Touch(b.Context(), touch); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("smallest script", func(b *testing.B) {
		b.ReportAllocs()
		script := redis.NewScript("redis.call('HGET', KEYS[1], 'f') redis.call('HSET', KEYS[1], 'f', ARGV[1]) return 1")
		for b.Loop() {
			if err := script.Run(b.Context(), client, []string{"k"}, "v").Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
