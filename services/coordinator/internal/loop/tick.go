package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Start begins to look for due transitions: at once for every group in the store, then
// by the groups' own deadlines every Interval, and every Sweep over the store again for
// groups that nobody talks to here. Several coordinators may tick the same group: the
// commit of one makes the others' a no-op.
func (l *Loop) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.stopTick != nil {
		cancel()
		return
	}
	l.stopTick = cancel
	l.running.Add(1)
	go l.tick(ctx)
}

func (l *Loop) tick(ctx context.Context) {
	defer l.running.Done()
	ticker := clock.NewTicker(l.cfg.Interval)
	defer ticker.Stop()
	var swept time.Time
	for {
		if swept.IsZero() || clock.Since(swept) >= l.cfg.Sweep {
			swept = clock.Now()
			l.sweep(ctx)
		}
		l.tickReady()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// sweep ticks every group that the store's index or a stream's record names.
func (l *Loop) sweep(ctx context.Context) {
	call, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	keys, err := l.store.List(call)
	if err != nil {
		l.log.Warn("groups cannot be listed, trying again at the next sweep", "error", err)
		return
	}
	for _, key := range keys {
		if key.Group == "" {
			l.sweepStream(ctx, key)
		} else {
			l.tickOne(key)
		}
	}
}

// sweepStream looks for active groups whose record is gone: they fail closed (M6).
func (l *Loop) sweepStream(ctx context.Context, key store.Key) {
	call, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	s, _, err := LoadStream(call, l.store, key.Stream)
	if err != nil {
		if !errors.Is(err, store.ErrNotFound) { // the index may point nowhere
			l.note(key, err)
		}
		return
	}
	l.note(key, nil)
	for _, name := range s.Active() {
		l.checkPresent(ctx, store.Key{Stream: key.Stream, Group: name})
	}
}

func (l *Loop) checkPresent(ctx context.Context, key store.Key) {
	call, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	if _, err := l.store.Load(call, key, store.Version{}); errors.Is(err, store.ErrNotFound) {
		l.note(key, fmt.Errorf("%w, the stream's record names the group: %w", errGone, err))
	}
}

// tickReady ticks the groups for which something is due.
func (l *Loop) tickReady() {
	for _, key := range l.ready() {
		l.tickOne(key)
	}
}

func (l *Loop) ready() []store.Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	var keys []store.Key
	for key, w := range l.workers {
		w.mu.Lock()
		if w.next.ready() {
			keys = append(keys, key)
		}
		w.mu.Unlock()
	}
	return keys
}

func (l *Loop) tickOne(key store.Key) {
	if err := l.submit(key, &task{}); err != nil {
		l.log.Debug("tick refused", "group", key.String(), "error", err)
	}
}
