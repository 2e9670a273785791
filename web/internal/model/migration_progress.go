package model

import (
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// groupsNamed is how many groups a sentence names.
const groupsNamed = 3

// progressWords says what of a resharding is done: shards, and groups that have copied the layout.
func progressWords(of protocol.Migration) string {
	progress := of.Progress
	var said []string
	if progress.Total > 0 {
		does := "made"
		if len(progress.Shards) > 0 {
			does = "sealed"
		}
		said = append(said, Count(int64(progress.Done))+" of "+countOf(progress.Total, "shard")+" "+does)
	}
	if groups := len(progress.Groups); groups > 0 && of.State != protocol.MigrationPreparing {
		copied := groups - len(notCopied(*progress))
		said = append(said, Count(int64(copied))+" of "+countOf(groups, "group")+" on the layout")
	}
	if len(said) == 0 {
		return "nothing done yet"
	}
	return strings.Join(said, ", ")
}

// waitingFor says what a resharding waits for (L2, L3), empty where it is over and where nobody
// knows.
func waitingFor(of protocol.Migration) string {
	progress := of.Progress
	late := notCopied(*progress)
	open := 0
	for _, drain := range progress.Shards {
		if drain.Phase != protocol.DrainSealed {
			open++
		}
	}
	switch {
	case Over(of.State):
		return ""
	case of.State == protocol.MigrationPreparing && progress.Done < progress.Total:
		return "It waits for " + countOf(progress.Total-progress.Done, "shard") + " to be made."
	case of.State == protocol.MigrationPreparing:
		return ""
	case len(late) > 0:
		return "It waits for " + groupWords(late) + " to copy the layout, which the group's coordinator does by itself."
	case of.State == protocol.MigrationActive:
		return "It waits for the answers to producers that name the old layout to run out."
	case of.State == protocol.MigrationDraining && open > 0:
		return "It waits for " + countOf(open, "removed shard") + " to be read to the end and sealed; the table says what keeps each."
	default:
		return ""
	}
}

func notCopied(progress protocol.MigrationProgress) []string {
	var late []string
	for _, group := range progress.Groups {
		if !group.Copied {
			late = append(late, group.ConsumerGroup)
		}
	}
	return late
}

// groupWords names a few groups, and says how many others there are.
func groupWords(groups []string) string {
	said := "group"
	if len(groups) > 1 {
		said = "groups"
	}
	for i, name := range groups[:min(len(groups), groupsNamed)] {
		if i > 0 {
			said += ","
		}
		said += " " + cut(name, idShown)
	}
	if more := len(groups) - groupsNamed; more > 0 {
		said += " and " + strconv.Itoa(more) + " more"
	}
	return said
}

// countOf says how many of something there are.
func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(int64(n)) + " " + thing + "s"
}
