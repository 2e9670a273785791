package cli

import (
	"context"
	"errors"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// reporter shows a resharding that is being watched.
type reporter interface {
	// report is called with each change.
	report(m protocol.Migration)
	// clear makes room for a line that is not the reporter's.
	clear()
	// stop ends the showing and returns the first error of the output.
	stop() error
}

// watch follows a resharding until it is over; it should then be in the state want.
func (s *session) watch(ctx context.Context, at place, want protocol.MigrationState) error {
	shown := s.reporter()
	opts := client.WatchOptions{OnTrouble: s.onceInARow(shown.clear)}
	last, err := s.admin.WatchMigrationWith(ctx, at.stream, at.group, at.id, opts, shown.report)
	printErr := shown.stop()
	if err == nil && printErr != nil {
		return printErr
	}
	return s.watched(ctx, at, want, last, err)
}

// watched tells what a watch led to: nil when the resharding ended in the state want.
func (s *session) watched(
	ctx context.Context, at place, want protocol.MigrationState, last protocol.Migration, err error,
) error {
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return ended(exitFailed, "the watch was interrupted; resharding %s goes on. Follow it again with: "+
			"rscctl migrations watch %s %s", at.id, at.stream, at.id)
	case err != nil:
		return s.cannot(err, place{stream: at.stream, group: at.group, id: at.id},
			"follow resharding %s of stream %s, which goes on", at.id, at.stream)
	case last.State == want:
		return nil
	case last.State == protocol.MigrationRolledBack:
		return ended(exitRolledBack, "resharding %s of stream %s was rolled back; the stream has %s",
			at.id, at.stream, amount(last.FromShardCount))
	default:
		return ended(exitFailed, "resharding %s of stream %s ended %s", at.id, at.stream, last.State)
	}
}

// onceInARow returns a function that tells the first of errors with one cause, after
// room was made for it.
func (s *session) onceInARow(makeRoom func()) func(error) {
	told := ""
	return func(err error) {
		if cause := s.cause(err); cause != told {
			told = cause
			makeRoom()
			s.trouble(err)
		}
	}
}

func (s *session) reporter() reporter {
	switch {
	case s.forPrograms():
		return &programReporter{s: s}
	case s.OutTerminal:
		return newBarReporter(s)
	default:
		return &lineReporter{page: s.page()}
	}
}

// programReporter prints each change as one line or document.
type programReporter struct {
	s   *session
	err error
}

func (r *programReporter) report(m protocol.Migration) {
	if r.err == nil {
		r.err = r.s.emitNext(m)
	}
}

func (r *programReporter) clear() {}

func (r *programReporter) stop() error { return r.err }

// lineReporter prints what is new as lines.
type lineReporter struct {
	page *show.Page
	last protocol.Migration
}

func (r *lineReporter) report(m protocol.Migration) {
	for _, line := range news(r.last, m) {
		r.page.Line("%s", line)
	}
	r.last = m
}

func (r *lineReporter) clear() {}

func (r *lineReporter) stop() error { return r.page.Err() }
