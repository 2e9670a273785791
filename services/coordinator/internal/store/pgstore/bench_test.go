package pgstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/pgstore"
)

// One touch is one round trip, whatever the size of the aggregate.
func BenchmarkTouch(b *testing.B) {
	url := postgresproc.Start(b, postgresproc.WithFsync()).Database(b)
	pool, err := postgres.Open(b.Context(), postgres.Settings{URL: config.Secret(url)}, postgres.Options{})
	require.NoError(b, err)
	defer pool.Close()
	require.NoError(b, pgstore.Migrate(b.Context(), pool))
	kept, err := pgstore.New(pool, pgstore.Options{})
	require.NoError(b, err)
	done, err := kept.Create(b.Context(), store.Create{Key: orders(), Token: "t", Aggregate: make([]byte, 1<<20)})
	require.NoError(b, err)
	for _, beats := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d beats", beats), func(b *testing.B) {
			for b.Loop() {
				touch := store.Touch{Key: orders(), Version: done.Version, Identity: store.IdentityUnknown, ServedEvery: time.Second}
				for i := range beats {
					touch.Beats = append(touch.Beats, store.Beat{
						Member: fmt.Sprintf("m%d", i), Incarnation: "life", Lease: time.Hour, Detail: make([]byte, 200),
					})
				}
				_, err := kept.Touch(b.Context(), touch)
				require.NoError(b, err)
			}
		})
	}
}
