package loop

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// note remembers what is wrong with a group, or that all is well again (M6). A store that
// is away is no fault of a group's, and a group that nobody created is none at all unless
// its stream's record names it.
func (l *Loop) note(key store.Key, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, noted := l.problems[key]
	switch {
	case err == nil:
		if noted {
			l.log.Info("group is readable again", "group", key.String())
			delete(l.problems, key)
		}
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrConflict):
	case errors.Is(err, store.ErrNotFound) && !errors.Is(err, errGone):
	default:
		if !noted {
			l.log.Error("group fails closed", "group", key.String(), "error", err)
		}
		l.problems[key] = err
	}
}

// errGone marks the absence of a record that should be there.
var errGone = errors.New("metadata is gone")

// Mended tells that a record was made anew after it was lost.
func (l *Loop) Mended(key store.Key) { l.note(key, nil) }

// Deleted tells that a group was deleted on purpose: what was seen of it here is no
// evidence against a later one of its name (M1).
func (l *Loop) Deleted(key store.Key) {
	l.note(key, nil)
	l.meter.Deleted(key)
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.workers[key]
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.forget = true; !w.busy {
		delete(l.workers, key)
	}
}

// forgetStream drops what is remembered of a stream that nothing says should exist.
func (l *Loop) forgetStream(prefix string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.problems, func(key store.Key, _ error) bool { return key.Stream == prefix })
}

// troubled returns the streams that something is wrong with.
func (l *Loop) troubled() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	prefixes := make([]string, 0, len(l.problems))
	for key := range l.problems {
		prefixes = append(prefixes, key.Stream)
	}
	return prefixes
}

// Problems says which groups fail closed and why, one sentence each, sorted.
func (l *Loop) Problems() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	problems := make([]string, 0, len(l.problems))
	for key, err := range l.problems {
		problems = append(problems, fmt.Sprintf("stream %q group %q: %v", key.Stream, key.Group, err))
	}
	slices.Sort(problems)
	return problems
}
