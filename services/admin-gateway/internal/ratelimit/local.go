package ratelimit

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// Local counts in this process, so that each of several gateways allows the whole limit. It
// goes by the wall clock of its callers and uses at most about 32 bytes a key. It may be used
// from several goroutines.
type Local struct {
	window  time.Duration
	maxKeys int
	seed    maphash.Seed

	mu    sync.Mutex
	begin time.Time // of the current window
	// counts goes by the keys' hashes, which nobody can aim at without the seed.
	counts map[uint64]int64
}

// NewLocal returns a counter with windows of that length, above 0, which remembers at most
// maxKeys keys of one, at least 1. A key beyond them takes the place of another, whose count
// begins anew: a flood of keys cannot make anybody else be refused, and to be forgotten
// itself it has to ask for about as many streams as there are places.
func NewLocal(window time.Duration, maxKeys int) *Local {
	return &Local{window: window, maxKeys: maxKeys, seed: maphash.MakeSeed(), counts: make(map[uint64]int64)}
}

// Hit implements Counter; it does not fail.
func (l *Local) Hit(_ context.Context, key string, now time.Time) (Hits, error) {
	hash := maphash.String(l.seed, key)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	if _, known := l.counts[hash]; !known && len(l.counts) >= l.maxKeys {
		l.forgetOne()
	}
	l.counts[hash]++
	return Hits{Count: l.counts[hash], Reset: l.begin.Add(l.window).Sub(now.Round(0))}, nil
}

// turn begins the window that now is in. A time up to a window back is one of a caller that
// waited for the lock, or of a clock set back a little, and stays in the current window; one
// farther back is of a clock that was wrong before.
func (l *Local) turn(now time.Time) {
	begin := now.Truncate(l.window)
	if back := l.begin.Sub(begin); back >= 0 && back <= l.window {
		return
	}
	l.begin = begin
	l.counts = make(map[uint64]int64)
}

func (l *Local) forgetOne() {
	for hash := range l.counts {
		delete(l.counts, hash)
		return
	}
}
