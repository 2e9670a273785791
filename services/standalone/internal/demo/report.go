package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	askTimeout = 500 * time.Millisecond
	maxFaults  = 5 // printed a second; the summary has the number of all
)

// report prints a line a second until ctx ends.
func (d *Demo) report(ctx context.Context) {
	ticker := clock.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		d.ledger.sweep(d.since())
		d.sayFaults()
		d.say("%s", line(d.since(), d.ledger.read(), d.owners(ctx)))
	}
}

// sayFaults prints what the ledger has found.
func (d *Demo) sayFaults() {
	faults := d.ledger.takeFaults()
	for i, fault := range faults {
		if i == maxFaults {
			d.say("FAULT and %d more", len(faults)-maxFaults)
			return
		}
		d.say("FAULT %s", fault)
	}
}

// owners asks the coordinator who reads what; nil when it does not say.
func (d *Demo) owners(ctx context.Context) *protocol.AssignmentsResponse {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	answer, err := d.Client.Admin().Assignments(ctx, Stream, Group)
	if err != nil {
		return nil
	}
	return answer
}

// line says how the demo does after so long. A shard without owner shows "-", one that is
// being given back has an arrow behind its owner.
func line(after time.Duration, counts Counts, assigned *protocol.AssignmentsResponse) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%.0fs produced %d handled %d lag %d", after.Seconds(), counts.Produced, counts.Handled, counts.Lag)
	for _, extra := range []struct {
		name  string
		count int
	}{
		{"duplicates", counts.Duplicates},
		{"refused", counts.Refused},
		{"uncertain", counts.Uncertain},
		{"of earlier runs", counts.Earlier},
	} {
		if extra.count > 0 {
			fmt.Fprintf(&text, " %s %d", extra.name, extra.count)
		}
	}
	if assigned == nil {
		return text.String() + " | the coordinator does not answer"
	}
	return text.String() + " |" + ownersText(assigned)
}

func ownersText(assigned *protocol.AssignmentsResponse) string {
	owners := map[int]string{}
	shards := 0
	note := func(lists map[string][]protocol.ShardID, show func(member string) string) {
		for member, list := range lists {
			for _, shard := range list {
				owners[shard.ShardIndex] = show(member)
				shards = max(shards, shard.ShardIndex+1)
			}
		}
	}
	note(assigned.TargetAssignment, func(string) string { return "-" })
	note(assigned.CurrentAssignments, func(member string) string { return member })
	note(assigned.RevokeProgress, func(member string) string { return member + ">" })
	var text strings.Builder
	for shard := range max(shards, Shards) {
		owner := owners[shard]
		if owner == "" {
			owner = "-"
		}
		fmt.Fprintf(&text, " %d:%s", shard, owner)
	}
	return text.String()
}

// conclude prints the summary.
func (d *Demo) conclude() error {
	d.ledger.sweep(d.since())
	d.sayFaults()
	counts := d.ledger.read()
	d.say("demo ended after %.0fs: produced %d handled %d lost %d duplicates %d double readers %d",
		d.since().Seconds(), counts.Produced, counts.Handled, counts.Lag, counts.Duplicates, counts.DoubleReads)
	if counts.Refused+counts.Uncertain+counts.Overdue+counts.Earlier > 0 {
		d.say("     beside these: refused %d, perhaps written %d, handled too late or lost %d, of earlier runs %d",
			counts.Refused, counts.Uncertain, counts.Overdue, counts.Earlier)
	}
	if counts.Lag > 0 || counts.Faults > 0 {
		d.say("FAULT promises were broken: %d records lost, %d faults", counts.Lag, counts.Faults)
		return ErrFault
	}
	d.say("every record was handled, and no shard had two readers")
	return nil
}
