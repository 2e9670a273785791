package cli

import (
	"fmt"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/manifest"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// The states of a change.
const (
	changePlanned = "PLANNED"
	changeDone    = "DONE"
	changeRefused = "REFUSED"  // nothing was changed by it
	changeUnknown = "UNKNOWN"  // no answer came: it may have been made or not
	changeNotDone = "NOT_DONE" // another one failed before
)

// declared is what plan and apply answer.
type declared struct {
	File string `json:"file"`
	// Streams is how many the file has.
	Streams int `json:"streams"`
	// Executed tells whether changes were to be made.
	Executed  bool                 `json:"executed"`
	Changes   []changeReport       `json:"changes"`
	Unmanaged []manifest.Unmanaged `json:"unmanaged"`
	UnderWay  []manifest.UnderWay  `json:"underWay"`

	pruned bool
}

// changeReport is one change and what became of it.
type changeReport struct {
	Action         manifest.Action `json:"action"`
	StreamPrefix   string          `json:"streamPrefix"`
	ConsumerGroups []string        `json:"consumerGroups"`
	FromShardCount int             `json:"fromShardCount"`
	ToShardCount   int             `json:"toShardCount"`
	State          string          `json:"state"`
	// ReshardingID is that of a scale that was begun.
	ReshardingID *string `json:"reshardingId"`
	// Error is why it was not made.
	Error *string `json:"error"`
	// Plan is the coordinator's; null for what can be planned only after another change.
	Plan *protocol.Plan `json:"plan"`

	change manifest.Change
}

func reportOf(change manifest.Change) changeReport {
	return changeReport{
		Action: change.Action, StreamPrefix: change.Stream, ConsumerGroups: groupNames(change),
		FromShardCount: change.From, ToShardCount: change.To, State: changePlanned, change: change,
	}
}

func groupNames(change manifest.Change) []string {
	names := make([]string, 0, len(change.Groups))
	for _, group := range change.Groups {
		names = append(names, group.Name)
	}
	return names
}

func placeOf(change manifest.Change) place {
	at := place{stream: change.Stream}
	at.pruned = change.Action == manifest.DeleteGroup || change.Action == manifest.DeleteStream
	if change.Action == manifest.AddGroup || change.Action == manifest.DeleteGroup {
		at.group = change.Groups[0].Name
	}
	return at
}

// doingOf tells what a change does, as in: cannot <doing>.
func doingOf(change manifest.Change) string {
	groups := strings.Join(groupNames(change), ", ")
	switch change.Action {
	case manifest.CreateStream:
		return fmt.Sprintf("create stream %s with %s, groups: %s", change.Stream, amount(change.To), groups)
	case manifest.AddGroup:
		words := fmt.Sprintf("add group %s to stream %s", groups, change.Stream)
		if change.New {
			words = fmt.Sprintf("create stream %s with %s and group %s", change.Stream, amount(change.To), groups)
		}
		return words + ", from the " + change.Groups[0].InitialPosition + " record on"
	case manifest.Scale:
		return fmt.Sprintf("scale stream %s to %s", change.Stream, amount(change.To))
	case manifest.DeleteGroup:
		return fmt.Sprintf("delete group %s of stream %s", groups, change.Stream)
	case manifest.DeleteStream:
		return "delete stream " + change.Stream
	}
	return string(change.Action)
}

// emitPlan prints what would be changed.
func (s *session) emitPlan(report *declared, d declaration) error {
	return s.emit(report, func(page *show.Page) {
		printDeclared(page, report)
		if len(report.Changes) > 0 && !d.execute {
			page.Line("Nothing was changed: this is a dry run; rscctl apply --execute makes the changes.")
		}
	})
}

// printDeclared prints the difference between a file and what exists.
func printDeclared(page *show.Page, report *declared) {
	for _, one := range report.Changes {
		if one.Action == manifest.Scale {
			page.Line("Drift: stream %s has %s, the file says %d.", one.StreamPrefix, amount(one.FromShardCount), one.ToShardCount)
		}
		if one.Plan == nil {
			page.Line("Plan: %s", doingOf(one.change))
			continue
		}
		printPlan(page, one.Plan, task{doing: doingOf(one.change)})
	}
	for _, one := range report.UnderWay {
		page.Line("Under way: resharding %s of stream %s, %d -> %d shards, %s.", one.ID, one.Stream, one.From, one.To, one.State)
	}
	for _, one := range report.Unmanaged {
		if report.pruned {
			break // they are among the changes
		}
		what := "stream " + one.Stream
		if one.Group != "" {
			what = "group " + one.Group + " of " + what
		}
		page.Line("Unmanaged, left alone: %s", what)
	}
	if len(report.Changes) == 0 {
		page.Line("Nothing to do: all is as %s says (%d streams).", report.File, report.Streams)
		return
	}
	page.Line("Changes: %d", len(report.Changes))
}
