package loop

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// snapshot is a committed state as this process last saw it. The structure is exactly
// that of version; liveness may be behind the store's.
type snapshot struct {
	version  store.Version
	g        *group.Group
	live     map[string]group.Liveness
	servedAt store.Millis
	identity string
}

// servedEvery is how often ServedAt is written while members live (storage layout).
func servedEvery(cfg group.Config) time.Duration { return cfg.Lease / 4 }

// serveAfter is how old ServedAt may get before a tick sees to it. Heartbeats come first:
// while members report, ticks write nothing.
func serveAfter(cfg group.Config) time.Duration { return cfg.Lease * 4 / 10 }

// clockWatch relates the store's clock to this process's monotonic one.
type clockWatch struct {
	store  store.Millis
	sent   time.Time
	jumped bool // sticky until a decision took it into account
}

// observe takes a reading of the store's clock from a call that was sent at sent. A
// forward step by more than a tenth of the lease, beyond what can have passed here, is
// evidence (T1). A tenth of a percent is allowed for clocks that drift apart.
func (c *clockWatch) observe(reading store.Millis, sent time.Time, lease time.Duration) {
	if !c.sent.IsZero() {
		passed := clock.Since(c.sent)
		step := time.Duration(reading-c.store)*time.Millisecond - passed
		if step > lease/10+passed/1000 {
			c.jumped = true
		}
	}
	c.store, c.sent = reading, sent
}

// estimate is what the store's clock shows about now. It only triggers work; what is
// decided rests on a reading.
func (c *clockWatch) estimate() store.Millis {
	if c.sent.IsZero() {
		return 0
	}
	return c.store.Add(clock.Since(c.sent))
}

// wake is when a group wants to be ticked, on the store's clock that watch estimates.
type wake struct {
	due   store.Millis // when time alone changes the group next, 0 for never
	serve store.Millis // when the store has to hear that somebody serves it (T1), 0 for never
	watch clockWatch
}

// isDue tells whether a decision may be due, so that a fresh state is needed.
func (w wake) isDue() bool { return w.due != 0 && w.watch.estimate() >= w.due }

// ready tells whether the group wants to be ticked.
func (w wake) ready() bool {
	return w.isDue() || w.serve != 0 && w.watch.estimate() >= w.serve
}
