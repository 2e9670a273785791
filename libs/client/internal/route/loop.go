package route

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

const (
	// firstTimeout bounds the first request, and minTimeout every later one from below.
	firstTimeout = 5 * time.Second
	minTimeout   = time.Second
	// firstRetry doubles with each failure up to maxRetry.
	firstRetry = 100 * time.Millisecond
	maxRetry   = time.Second
	// minGap lies between two requests, however many writers see a stale route.
	minGap = 50 * time.Millisecond
)

// run asks whenever the period is over or somebody waits. It is the only sender, so
// requests never overtake each other.
func (k *Keeper) run(ctx context.Context) {
	defer close(k.done)
	timer := clock.NewTimer(k.period())
	defer timer.Stop()
	last := clock.Now()
	for {
		kicked := false
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-k.kick:
			kicked = true
		}
		if clock.Sleep(ctx, minGap-clock.Since(last)) != nil {
			return
		}
		waiting := k.takeWaiters()
		if kicked && len(waiting) == 0 {
			continue // an earlier request has served them
		}
		last = clock.Now()
		err := k.load(ctx, len(waiting) > 0)
		for _, waiter := range waiting {
			waiter <- err
		}
		timer.Reset(k.pause(err))
	}
}

func (k *Keeper) takeWaiters() []chan<- error {
	k.mu.Lock()
	defer k.mu.Unlock()
	waiting := k.waiters
	k.waiters = nil
	return waiting
}

// pause is the time until the next request after one that ended with err.
func (k *Keeper) pause(err error) time.Duration {
	if err == nil {
		return k.period()
	}
	k.mu.Lock()
	failures := k.failures
	k.mu.Unlock()
	pause := maxRetry
	if failures < 5 {
		pause = min(firstRetry<<max(failures-1, 0), maxRetry)
	}
	pause += rand.N(pause / 2)
	if refused, ok := errors.AsType[*api.RefusedError](err); ok {
		pause = max(pause, min(refused.RetryAfter, k.table.Load().lease))
	}
	return pause
}

// period is the time until the refresh of the current routing is due.
func (k *Keeper) period() time.Duration {
	table := k.table.Load()
	every := k.opts.Every
	if every <= 0 {
		every = table.lease / 2
	}
	every = max(min(every, table.lease*3/4), time.Millisecond)
	every -= rand.N(every/10 + 1)
	return max(every-clock.Since(table.sent), 0)
}

// requestTimeout leaves room for several requests in one lease.
func requestTimeout(current *Table) time.Duration {
	if current == nil {
		return firstTimeout
	}
	return min(max(current.lease/4, minTimeout), firstTimeout)
}
