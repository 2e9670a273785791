package reshard

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// Shards is the data side of a stream in Redis. All calls may be repeated. Calls with a
// token do nothing on a shard whose marker is another one: they fail with
// provision.ErrStale, or say so in the finding.
type Shards interface {
	Keys
	Seals
}

// Keys makes shards and takes them back.
type Keys interface {
	// Mark overwrites the shards' markers, unless one carries a higher mark: that is
	// returned then.
	Mark(ctx context.Context, prefix string, indexes []int, t provision.Token) (higher int64, err error)
	// Make provisions shards with all groups (L2).
	Make(ctx context.Context, prefix string, indexes []int, t provision.Token, groups []stream.Group, watch func(provision.Progress)) (existing int, err error)
	// Unmake removes provisioned shards that nothing was ever written to (L8), and returns
	// those that something was written to since then.
	Unmake(ctx context.Context, prefix string, indexes []int, t provision.Token, since int64) (used []int, err error)
	// Remake provisions a lost shard again, each group that is missing at its id (L12).
	Remake(ctx context.Context, prefix string, index int, t provision.Token, starts map[string]string) (made []string, err error)
	// Beyond returns the index behind the shards that a record has forgotten: from, or more
	// when there are streams that were marked above mark, a time of the store's clock (L1).
	Beyond(ctx context.Context, prefix string, from int, mark int64) (int, error)
}

// Seals proves removed shards empty and takes them out of use.
type Seals interface {
	// Prove looks at removed shards (L4).
	Prove(ctx context.Context, prefix string, indexes []int, groups []string) ([]provision.Finding, error)
	// Seal proves again and renames in one step (L5). accept says by what besides a lag of
	// 0 a shard may be proven, "" for nothing.
	Seal(ctx context.Context, prefix string, indexes []int, t provision.Token, groups []string,
		retention provision.Retention, accept func(index int) protocol.DrainProof) ([]provision.Finding, error)
	// Unseal renames sealed shards back (L8).
	Unseal(ctx context.Context, prefix string, indexes []int, t provision.Token, groups []stream.Group) error
	// RetiredKey is where a sealed shard's entries are kept.
	RetiredKey(prefix string, index int, reshardingID string) string
}

// Groups lets groups follow their stream.
type Groups interface {
	Adopt(ctx context.Context, key store.Key, layout group.Layout, by recorder.Order) (*group.Group, error)
	View(ctx context.Context, key store.Key) (loop.View, error)
}
