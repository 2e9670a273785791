package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/trial"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// lineEvery is how often the progress is printed where no bar can be drawn.
const lineEvery = 2 * time.Second

// show returns what shows the progress of a trial, and what ends it.
func (p Process) show(records int64) (show func(trial.Progress), end func()) {
	if p.Terminal {
		return p.bar(records)
	}
	next := clock.Now()
	return func(progress trial.Progress) {
		if clock.Until(next) > 0 {
			return
		}
		next = clock.Now().Add(lineEvery)
		fmt.Fprintln(p.Err, describe(progress))
	}, func() {}
}

func (p Process) bar(records int64) (show func(trial.Progress), end func()) {
	bar := progressbar.NewOptions64(records,
		progressbar.OptionSetWriter(p.Err), progressbar.OptionSetWidth(30), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("records"),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetTheme(progressbar.ThemeASCII),
	)
	return func(progress trial.Progress) {
			bar.Describe(fmt.Sprintf("%d consumers", progress.Consumers))
			_ = bar.Set64(progress.Handled) // a bar that cannot be drawn is no failure of the replay
		}, func() {
			_ = bar.Exit()
			_, _ = io.WriteString(p.Err, "\n")
		}
}

func describe(progress trial.Progress) string {
	return fmt.Sprintf("published %s of %s, handled %s in %s handlings, %d consumers", grouped(progress.Published),
		grouped(progress.Records), grouped(progress.Handled), grouped(progress.Handlings), progress.Consumers)
}
