package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// routingLease is how long producers may go by a routing answer, in ms (L3).
const routingLease = 10_000

// record is the record of the group's stream. The transitions are those of production; what
// Redis would say of a shard is an argument of the event. A record is not changed but copied.
type record struct {
	rec     stream.Stream
	history []stream.Stream // what a fall-back can bring back, oldest first
}

type closing struct {
	shard   int
	version int64
}

// drive is what a coordinator's driver knows between two of its actions: the record it
// has read, and the groups that have copied its layout by now, as they were then; nil for one
// that cannot be read.
type drive struct {
	rec    *stream.Stream
	groups [mostGroups]*group.Group
	asked  int // how many have been asked to copy it, in their order
}

// errand is what a step is to do besides hearing.
type errand struct {
	layout *group.Layout
	order  *group.Order
	rec    *stream.Stream // the record that the layout is of
}

func newRecord(setup *Setup) *record {
	rec := stream.Stream{Prefix: "orders", ShardCount: setup.Shards, MetadataVersion: 1}
	for nth := range max(setup.Groups, 1) {
		rec.Groups = append(rec.Groups, stream.Group{Name: groupName(nth), State: stream.Active})
	}
	return &record{rec: rec}
}

// storeRecord is compare-and-set on the version of the record that was read.
func (w *World) storeRecord(on *stream.Stream, next stream.Stream) bool {
	r := w.stream
	if on.MetadataVersion != r.rec.MetadataVersion || on.Lineage != r.rec.Lineage {
		return false
	}
	history := append(slices.Clone(r.history), r.rec)
	if len(history) > 3 {
		history = history[1:]
	}
	w.stream = &record{rec: next, history: history}
	w.checkOrders()
	return true
}

// checkOrders is L1: while a resharding is under way no other one begins, and no group comes
// or goes.
func (w *World) checkOrders() {
	rec := &w.stream.rec
	if rec.Resharding == nil {
		return
	}
	if _, err := rec.Scaled("another", rec.ShardCount+1, stream.Order{}, "", w.recordClock()); err == nil {
		w.violated("L1", "another resharding begins in %s", rec.Resharding.Phase)
	}
	if _, err := rec.WithCreating(stream.Group{Name: "new"}, false); err == nil {
		w.violated("L1", "a group is created in %s", rec.Resharding.Phase)
	}
	if _, err := rec.WithState(groupName(0), stream.Deleting); err == nil {
		w.violated("L1", "a group is deleted in %s", rec.Resharding.Phase)
	}
}

// layoutOf is what the stream asks its groups to copy (L1).
func layoutOf(rec *stream.Stream) group.Layout {
	return group.Layout{
		Version: rec.LayoutVersion, ShardCount: rec.ShardCount, ReadCount: rec.ReadCount(), Closed: rec.Closed(), Lost: rec.Lost,
		Cause: group.Cause(rec.LayoutCause),
	}
}

// sameLayout tells whether two layouts are the same, whyever they came to be.
func sameLayout(a, b group.Layout) bool {
	return a.Version == b.Version && a.ShardCount == b.ShardCount && a.ReadCount == b.ReadCount &&
		slices.Equal(a.Closed, b.Closed) && slices.Equal(a.Lost, b.Lost)
}

// noteSeals checks I12 for what a change of the record has sealed, for the group in focus.
func (w *World) noteSeals(before *stream.Stream) {
	after := &w.stream.rec
	if after.Resharding == nil || before.Resharding == nil {
		return
	}
	for _, shard := range after.Resharding.At(stream.StepSealed) {
		if was, _ := before.Resharding.Shard(shard); was.Step != stream.StepSealed {
			w.visit("shard sealed")
			if w.followsLost(before) {
				continue
			}
			w.closedIn = append(slices.Clone(w.closedIn), closing{shard, before.LayoutVersion})
			w.checkUnread(shard)
		}
	}
}

// checkSealed is I12 with I1: nobody may read a shard that is sealed. A group that has fallen
// back behind the layout that closed it may grant it until it has copied that again.
func (w *World) checkSealed() {
	over := func(c closing) bool {
		return !isSealed(&w.stream.rec, c.shard) || w.store.g.LayoutVersion < c.version || w.followsLost(&w.stream.rec)
	}
	if slices.ContainsFunc(w.closedIn, over) {
		w.closedIn = slices.DeleteFunc(slices.Clone(w.closedIn), over)
	}
	for _, c := range w.closedIn {
		w.checkUnread(c.shard)
	}
}

// followsLost tells whether the group has copied a layout that the stream has lost: it was on
// its way when the record fell back, and the next pass of the driver puts it right.
func (w *World) followsLost(rec *stream.Stream) bool {
	has, says := w.store.g.LayoutOf(), layoutOf(rec)
	return has.Version > says.Version || has.Version == says.Version && !sameLayout(has, says)
}

func (w *World) checkUnread(shard int) {
	for _, p := range w.procs {
		if w.runs(p, shard) {
			w.violated("I12", "%s runs shard %d, which is sealed", p.name, shard)
		}
	}
}

// isSealed tells whether the record says that a shard is sealed.
func isSealed(rec *stream.Stream, shard int) bool {
	if shard >= rec.ReadCount() {
		return true
	}
	return rec.Resharding != nil && slices.Contains(rec.Resharding.At(stream.StepSealed), shard)
}
