package metrics

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"
)

// takeSource takes the lease where nobody has it, or renews one's own, and answers 1; else 0.
// A Redis that is full still renews it, as that takes no memory. ARGV: holder, duration in ms.
const takeSource = `
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if holder then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`

// giveSource gives one's own lease back. ARGV: holder.
const giveSource = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`

// Lease is what one monitor of several holds: it shows what must not be counted twice. It is
// safe for concurrent use.
type Lease struct {
	redis      redis.UniversalClient
	key        string
	holder     string
	lasts      time.Duration
	now        func() time.Time
	take, give *redis.Script

	until atomic.Pointer[time.Time] // nil where it is not held
}

// NewLease returns a lease at a Redis key that lasts so long after it was last renewed, at
// least a millisecond. It is not held, and no Redis is asked before Renew.
func NewLease(client redis.UniversalClient, key string, lasts time.Duration, now func() time.Time) *Lease {
	return &Lease{
		redis: client, key: key, holder: ulid.Make().String(), lasts: max(lasts, time.Millisecond), now: now,
		take: redis.NewScript(takeSource), give: redis.NewScript(giveSource),
	}
}

// Holds tells whether the lease is held now. It ends by itself, here before it does in Redis:
// its time counts from before the request that renewed it.
func (l *Lease) Holds() bool {
	until := l.until.Load()
	return until != nil && l.now().Before(*until)
}

// Renew takes the lease, or renews it; one that another holds is no error. After an error it
// is held as long as it was before, as nobody else can have been given it.
func (l *Lease) Renew(ctx context.Context) error {
	asked := l.now()
	taken, err := l.take.Run(ctx, l.redis, []string{l.key}, l.holder, l.lasts.Milliseconds()).Int()
	switch {
	case err != nil:
		return fmt.Errorf("renew the lease at %s: %w", l.key, err)
	case taken == 1:
		until := asked.Add(l.lasts)
		l.until.Store(&until)
	default:
		l.until.Store(nil)
	}
	return nil
}

// Release gives the lease back, if it is held, so that another monitor need not wait for its
// end. It may be called again.
func (l *Lease) Release(ctx context.Context) error {
	if l.until.Swap(nil) == nil {
		return nil
	}
	err := l.give.Run(ctx, l.redis, []string{l.key}, l.holder).Err()
	if err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("give the lease at %s back: %w", l.key, err)
	}
	return nil
}
