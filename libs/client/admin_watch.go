package client

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// watchInterval and watchPatience are the defaults of WatchOptions.
	watchInterval = 500 * time.Millisecond
	watchPatience = time.Minute
	// watchTry bounds one request of a watch.
	watchTry = 10 * time.Second
	// watchMaxPause bounds the pause between failing requests.
	watchMaxPause = 10 * time.Second
)

// WatchOptions sets how a resharding is watched. The zero value takes the defaults.
type WatchOptions struct {
	// Interval is the pause between two looks; 0 takes 500 ms.
	Interval time.Duration
	// Patience is how long a watch goes on while nothing but retriable errors come, each
	// after a longer pause than the one before, 10 s at most. 0 takes one minute, below 0
	// the watch goes on for as long as ctx lives.
	Patience time.Duration
	// OnTrouble, when set, is called with each error after which the watch tries again.
	OnTrouble func(error)
}

// WatchMigration follows a resharding with the defaults of WatchOptions; see
// WatchMigrationWith.
func (a *Admin) WatchMigration(
	ctx context.Context, stream, group, id string, report func(protocol.Migration),
) (protocol.Migration, error) {
	return a.WatchMigrationWith(ctx, stream, group, id, WatchOptions{}, report)
}

// WatchMigrationWith follows a resharding until it is over, that is DEPRECATED or
// ROLLED_BACK, and returns it as it is then; which of the two it is, is for the caller to
// judge. It calls report, unless that is nil, from this goroutine with the first answer
// and with each one that differs from the one before. The resharding goes on without a
// watch, so ending one changes nothing.
//
// With an error it returns what was last seen: ctx.Err() when ctx ended, the refusal when
// the coordinator refused for good (MIGRATION_NOT_FOUND among others), and the last error
// when opts.Patience ran out.
func (a *Admin) WatchMigrationWith(
	ctx context.Context, stream, group, id string, opts WatchOptions, report func(protocol.Migration),
) (protocol.Migration, error) {
	w := newWatch(opts)
	var last protocol.Migration
	for first := true; ; {
		pause := w.interval
		seen, err := a.look(ctx, stream, group, id)
		switch {
		case ctx.Err() != nil:
			return last, ctx.Err()
		case err != nil:
			if pause, err = w.failed(err); err != nil {
				return last, fmt.Errorf("watch resharding %s of %s: %w", id, stream, err)
			}
		default:
			w.succeeded()
			if changed := first || !reflect.DeepEqual(last, *seen); changed && report != nil {
				report(*seen)
			}
			last, first = *seen, false
		}
		if over(last.State) {
			return last, nil
		}
		if err := clock.Sleep(ctx, pause); err != nil {
			return last, err
		}
	}
}

// look asks once, within bounds of its own.
func (a *Admin) look(ctx context.Context, stream, group, id string) (*protocol.Migration, error) {
	ctx, cancel := context.WithTimeout(ctx, watchTry)
	defer cancel()
	return a.api.Migration(ctx, stream, group, id)
}

func over(state protocol.MigrationState) bool {
	return state == protocol.MigrationDeprecated || state == protocol.MigrationRolledBack
}

// watch is the patience of one watch.
type watch struct {
	WatchOptions

	interval time.Duration
	pause    time.Duration // after the next failure
	since    time.Time     // of the last good answer, or of the start
}

func newWatch(opts WatchOptions) *watch {
	w := &watch{WatchOptions: opts, interval: opts.Interval, since: clock.Now()}
	if w.interval <= 0 {
		w.interval = watchInterval
	}
	if w.Patience == 0 {
		w.Patience = watchPatience
	}
	w.pause = w.interval
	return w
}

func (w *watch) succeeded() { w.pause, w.since = w.interval, clock.Now() }

// failed returns the pause before the next try, or the error that ends the watch.
func (w *watch) failed(err error) (time.Duration, error) {
	if !passing(err) {
		return 0, err
	}
	away := clock.Since(w.since)
	if w.Patience > 0 && away >= w.Patience {
		return 0, fmt.Errorf("no answer for %s: %w", away.Round(time.Second), err)
	}
	if w.OnTrouble != nil {
		w.OnTrouble(err)
	}
	pause := w.pause
	if asked, ok := RetryAfter(err); ok {
		pause = max(pause, asked)
	}
	w.pause = max(w.interval, min(2*w.pause, watchMaxPause))
	if w.Patience > 0 { // one try is made when patience ends
		pause = min(pause, w.Patience-away)
	}
	return pause, nil
}

// passing tells whether the same request may succeed later.
func passing(err error) bool {
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return refused.Retriable()
	}
	return errors.Is(err, ErrUnavailable)
}
