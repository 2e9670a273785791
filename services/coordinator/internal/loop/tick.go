package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// Start begins to look for due transitions: at once for every group in the store, then
// by the groups' own deadlines every Interval, and every Sweep over the store again for
// groups that nobody talks to here. Several coordinators may tick the same group: the
// commit of one makes the others' a no-op.
func (l *Loop) Start() {
	ctx, cancel := context.WithCancel(l.calls)
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
		began := clock.Now()
		if swept.IsZero() || clock.Since(swept) >= l.cfg.Sweep {
			swept = clock.Now()
			l.sweep(ctx)
		}
		l.tickReady()
		l.meter.Ticked(clock.Since(began))
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
	l.meter.Listed(keys)
	streams := make(map[string][]store.Key)
	for _, prefix := range l.troubled() {
		streams[prefix] = nil
	}
	for _, key := range keys {
		groups := streams[key.Stream]
		if key.Group != "" {
			l.tickOne(key)
			groups = append(groups, key)
		}
		streams[key.Stream] = groups
	}
	for prefix, groups := range streams {
		l.sweepStream(ctx, prefix, groups)
	}
}

// sweepStream looks for records that are gone though another one says that they should be
// there: such groups fail closed (M6). The index alone says nothing, it may point nowhere.
func (l *Loop) sweepStream(ctx context.Context, prefix string, indexed []store.Key) {
	key := store.Key{Stream: prefix}
	s, err := l.loadStream(ctx, prefix)
	switch {
	case err == nil:
		l.note(key, nil)
		for _, name := range s.Active() {
			l.checkGroup(ctx, store.Key{Stream: prefix, Group: name})
		}
	case !errors.Is(err, store.ErrNotFound):
		l.note(key, err)
	default:
		gone := slices.ContainsFunc(indexed, func(group store.Key) bool { return l.present(ctx, group) })
		if gone {
			l.note(key, fmt.Errorf("%w, groups of the stream are there: %w", errGone, err))
		} else {
			l.forgetStream(prefix)
		}
	}
}

// checkGroup looks at the record of a group that its stream's record names: one that is
// gone or cannot be read fails closed, also for a worker that knows its version (M6).
func (l *Loop) checkGroup(ctx context.Context, key store.Key) {
	call, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	_, err := l.View(call, key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		l.note(key, fmt.Errorf("%w, the stream's record names the group: %w", errGone, err))
	case unreadable(err):
		l.note(key, err)
		l.distrust(key)
	}
}

// distrust makes the group's worker read the whole record before it decides again.
func (l *Loop) distrust(key store.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.workers[key]; w != nil {
		w.mu.Lock()
		w.reread = true
		w.mu.Unlock()
	}
}

func (l *Loop) present(ctx context.Context, key store.Key) bool {
	call, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	_, err := l.store.Load(call, key, store.Version{})
	return err == nil
}

func (l *Loop) loadStream(ctx context.Context, prefix string) (stream.Stream, error) {
	call, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	s, _, err := LoadStream(call, l.store, prefix)
	return s, err
}

// vanished looks whether a group whose record was there a moment ago was deleted or lost.
func (l *Loop) vanished(ctx context.Context, key store.Key) {
	s, err := l.loadStream(ctx, key.Stream)
	if err != nil {
		return
	}
	if g, known := s.Find(key.Group); known && g.State == stream.Active {
		l.checkGroup(ctx, key)
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
