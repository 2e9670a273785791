package cli

import (
	"fmt"

	"github.com/schollz/progressbar/v3"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// barSteps is how fine the bar is: its end is the end of the resharding, which comes some
// time after the last shard is done and the last group has the layout.
const barSteps = 1000

// barWidth is the width of the bar itself, in characters.
const barWidth = 30

// barReporter keeps a progress bar on the last line and prints what is new above it.
type barReporter struct {
	page *show.Page
	bar  *progressbar.ProgressBar
	last protocol.Migration
	err  error
}

func newBarReporter(s *session) *barReporter {
	return &barReporter{
		page: s.page(),
		bar: progressbar.NewOptions(barSteps,
			progressbar.OptionSetWriter(s.Out), progressbar.OptionSetWidth(barWidth),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetRenderBlankState(false),
		),
	}
}

func (r *barReporter) report(m protocol.Migration) {
	lines := news(r.last, m)
	r.last = m
	if len(lines) > 0 {
		r.clear()
	}
	for _, line := range lines {
		r.page.Line("%s", line)
	}
	r.bar.Describe(show.Text(fmt.Sprintf("%s %s%s", counts(m), m.State, without(m))))
	r.keep(r.bar.Set(steps(m)))
}

// steps is how far the bar is: a part of it for the steps that are done.
func steps(m protocol.Migration) int {
	done, total := m.Steps()
	switch {
	case m.State == protocol.MigrationDeprecated, m.State == protocol.MigrationRolledBack:
		return barSteps
	case total <= 0:
		return 0
	default:
		return min(barSteps*done/total, barSteps-1)
	}
}

func (r *barReporter) keep(err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("print progress: %w", err)
	}
}

func (r *barReporter) clear() { r.keep(r.bar.Clear()) }

func (r *barReporter) stop() error {
	r.page.Blank() // the bar leaves the cursor behind itself
	if r.err != nil {
		return r.err
	}
	return r.page.Err()
}
