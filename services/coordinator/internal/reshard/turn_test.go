package reshard_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
)

// L8: as long as a sealed shard has not come back, producers are not told of it.
func TestL8RoutingWaitsForSealedShards(t *testing.T) {
	t.Parallel()
	b := regretful(t, 4, brief, provision.Retention(time.Hour))
	for _, m := range b.crew {
		m.skips = []int{3}
	}
	b.publish(3, 1)
	id := b.scaled(2)
	b.await("one shard sealed and one not", func() bool {
		return b.drain(id, 2).Phase == protocol.DrainSealed && b.drain(id, 3).Phase == protocol.DrainReading
	})
	b.lead.shards.fail(func(call string) error {
		if call == "Unseal" {
			return errors.New("away")
		}
		return nil
	}, nil)
	require.NoError(t, b.rollback(id))
	b.await("a problem", func() bool { return b.migration(id).Progress.LastError != nil })
	require.Equal(t, 2, b.stream().ShardCount)
	require.False(t, b.stream().Resharding.Turned)
	for _, m := range b.crew {
		m.skips = nil
	}
	b.lead.shards.fail(nil, nil)
	b.becomes(id, protocol.MigrationRolledBack)
	require.Equal(t, 4, b.stream().ShardCount)
	b.settled()
}
