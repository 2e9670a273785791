package reshard

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/views"
)

// maxSteps bounds what one look does, so that orders of operators get their turn.
const maxSteps = 16

// pass takes one stream further, under its multi-step lease.
type pass struct {
	*Driver
	prefix string
	lease  store.Lease
	entry  records.Entry
	// groups are the stream's groups by name, as they were when they had copied the layout.
	groups map[string]*group.Group
	// unread are the groups whose records cannot be read: nothing is decided, but what the
	// others need is done.
	unread []string
	// lost asks for a look at all shards of the reading set.
	lost bool
	// fell asks for a look behind the last shard that the record knows.
	fell bool
	// remade tells that this pass has tried to make lost shards again, occupied which shards
	// it could not seal. undone is what it goes on without.
	remade   bool
	occupied []int
	undone   error
}

// look takes a stream as far as it goes now. again tells that there is, or may be, more
// to do later.
func (d *Driver) look(prefix string, why errand) (again bool, err error) {
	ctx, cancel := context.WithTimeout(d.ctx, d.cfg.PassTimeout)
	defer cancel()
	again = true
	err = d.records.Alone(ctx, prefix, func(lease store.Lease) error {
		p := &pass{Driver: d, prefix: prefix, lease: lease, lost: why.lost, fell: why.fell}
		err := p.run(ctx)
		again = err != nil || needsWork(p.entry.Stream)
		return err
	})
	return again, err
}

func (p *pass) run(ctx context.Context) error {
	e, found, err := p.records.Load(ctx, p.prefix)
	if err != nil || !found {
		return err
	}
	p.entry = e
	for range maxSteps {
		moved, err := p.step(ctx)
		if err != nil {
			err = errors.Join(p.undone, err)
			return errors.Join(err, p.stopped(ctx, err))
		}
		if !moved {
			return p.rest(ctx)
		}
		if err := p.lease.Extend(ctx, p.cfg.LeaseTTL); err != nil {
			return loop.Fault(err)
		}
	}
	return nil
}

// rest ends a pass that got as far as it could. What single shards
// stand in the way of is told with the resharding under way, of which there may be more to
// do soon; without one, lost shards alone are waited for.
func (p *pass) rest(ctx context.Context) error {
	if p.entry.Stream.Resharding == nil {
		return p.undone
	}
	return p.stopped(ctx, p.undone)
}

// step does the next thing, and tells whether the record has changed by it.
func (p *pass) step(ctx context.Context) (moved bool, err error) {
	if moved, err := p.remember(ctx); moved || err != nil {
		return moved, err
	}
	moved, err = p.copy(ctx)
	if moved || err != nil && len(p.unread) == 0 {
		return moved, err
	}
	moved, mended := p.mend(ctx)
	if moved || mended != nil || err != nil {
		return moved && mended == nil, errors.Join(err, mended)
	}
	r := p.entry.Stream.Resharding
	if r == nil {
		return false, nil
	}
	switch r.Phase {
	case stream.PhasePreparing:
		return p.prepare(ctx, *r)
	case stream.PhaseActive, stream.PhaseDraining:
		return p.goOn(ctx, *r)
	case stream.PhaseRollingBack:
		if !r.Turned {
			return p.turn(ctx, *r)
		}
		return p.goOn(ctx, *r)
	case stream.PhaseDeprecated, stream.PhaseRolledBack:
	}
	return false, nil
}

// save commits the record, and tells whether it differed.
func (p *pass) save(ctx context.Context, next stream.Stream) (moved bool, err error) {
	before := p.entry.Version
	if err := p.records.Save(ctx, &p.entry, next, p.lease.Token()); err != nil {
		return false, err
	}
	return p.entry.Version != before, nil
}

// stopped notes in the record what stopped the pass, nil when nothing did (L10).
func (p *pass) stopped(ctx context.Context, stop error) error {
	if p.entry.Stream.Resharding == nil {
		return nil
	}
	problem := ""
	if stop != nil {
		problem = stop.Error()
	}
	_, err := p.save(ctx, p.entry.Stream.Stopped(problem, p.now()))
	return err
}

// copy lets every group of the stream copy the layout, in the order of their names (L1),
// and looks at them as they are then. A group that has a newer one, or another one of the
// same number, has seen a record that the store lost. Groups whose records cannot be read
// (M6) are told by the error, when all others have copied.
func (p *pass) copy(ctx context.Context) (moved bool, err error) {
	s := p.entry.Stream
	layout, by := loop.LayoutOf(s), orderOf(s)
	p.groups, p.unread = make(map[string]*group.Group, len(s.Groups)), nil
	for _, name := range s.Active() {
		g, adopted := p.Driver.groups.Adopt(ctx, store.Key{Stream: p.prefix, Group: name}, layout, by)
		if adopted != nil {
			err = errors.Join(err, fmt.Errorf("group %q does not copy the layout: %w", name, loop.Fault(adopted)))
			if !unreadable(adopted) {
				p.unread = nil
				return false, err
			}
			p.unread = append(p.unread, name)
			continue
		}
		if !loop.Follows(g, s) {
			p.log.Warn("the stream's record lost writes, its layout is made the newest", "stream", p.prefix,
				"group", name, "copied", g.LayoutVersion, "layoutVersion", layout.Version)
			return p.recover(ctx, g.LayoutVersion)
		}
		p.groups[name] = g
	}
	return false, err
}

// unreadable tells whether a group's own record is at fault, not the store.
func unreadable(err error) bool {
	return errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrUnsupportedSchema) || errors.Is(err, store.ErrNotFound)
}

// recover makes what the record says the newest layout. Shards that were added meanwhile
// are not given up, and the seals that it knows of, or does not know of, are looked at.
func (p *pass) recover(ctx context.Context, copied int64) (moved bool, err error) {
	p.lost = true
	next := p.entry.Stream.Doubted()
	for _, name := range next.Active() {
		v, err := p.Driver.groups.View(ctx, store.Key{Stream: p.prefix, Group: name})
		if err != nil {
			return false, fmt.Errorf("group %q cannot be read: %w", name, loop.Fault(err))
		}
		next = next.Covering(v.Group.ReadCount())
	}
	return p.save(ctx, next.Overtaken(copied))
}

// remember takes in shards that the record has forgotten with its lost writes: they may
// hold records that nobody would be given (L1). A shard that was given up is sealed or gone,
// so a stream behind the last shard that was marked in this stream's life is a forgotten one.
// While a resharding is under way the record says what there is.
func (p *pass) remember(ctx context.Context) (moved bool, err error) {
	s := p.entry.Stream
	if !p.fell || s.Resharding != nil {
		return false, nil
	}
	end, err := p.shards.Beyond(ctx, p.prefix, s.ReadCount(), s.CreatedAt)
	if err != nil {
		return false, err
	}
	p.fell = false
	if end == s.ReadCount() {
		return false, nil
	}
	p.log.Error("the stream's record lost writes, shards that it forgot are read again", "stream", p.prefix,
		"known", s.ReadCount(), "found", end)
	return p.save(ctx, s.Covering(end))
}

// mark overwrites the markers of shards before anything is done to them (L2). moved tells
// that one carried a higher mark, so that the resharding needs another one.
func (p *pass) mark(ctx context.Context, r stream.Resharding, indexes []int) (moved bool, err error) {
	higher, err := p.shards.Mark(ctx, p.prefix, indexes, tokenOf(r))
	if err != nil || higher == 0 {
		return false, err
	}
	return p.save(ctx, p.entry.Stream.Doubted().Raised(higher, p.now()))
}

// settled tells whether every group is at rest and its members say so (L2, I15).
func (p *pass) settled(ctx context.Context) (bool, error) {
	for name := range p.groups {
		v, err := p.Driver.groups.View(ctx, store.Key{Stream: p.prefix, Group: name})
		if err != nil {
			return false, fmt.Errorf("group %q cannot be read: %w", name, loop.Fault(err))
		}
		if !atRest(v) {
			return false, nil
		}
	}
	return true, nil
}

// atRest tells whether a group is stable; one without members counts as such (L2).
func atRest(v loop.View) bool {
	if !v.Group.Settled() {
		return false
	}
	switch views.State(views.Source{Group: v.Group, Live: v.Live, Detail: v.Detail}) {
	case protocol.GroupStable, protocol.GroupEmpty:
		return true
	case protocol.GroupAssigning, protocol.GroupReconciling:
	}
	return false
}

// now is the store's clock as the record's last call read it.
func (p *pass) now() int64 { return int64(p.entry.Clock) }

// tokenOf is the marker of a resharding's present direction.
func tokenOf(r stream.Resharding) provision.Token {
	direction := "forward"
	if r.Phase == stream.PhaseRollingBack {
		direction = "back"
	}
	return provision.Token{Mark: r.Mark, ReshardingID: r.ID, Phase: direction}
}

// orderOf is who asked for the present layout.
func orderOf(s stream.Stream) recorder.Order {
	r := s.Resharding
	if r == nil {
		return recorder.Order{Reason: reasonOf(s)}
	}
	order := recorder.Order{Actor: r.Order.RequestedBy, Reason: r.Order.Reason, RequestID: r.Order.RequestID}
	switch s.LayoutCause {
	case stream.CauseScale:
		order.Action = protocol.ActionScale
	case stream.CauseRollback:
		order.Action = protocol.ActionRollback
	case stream.CauseReprovision, stream.CauseSeal, stream.CauseCorrection:
		return recorder.Order{Reason: reasonOf(s)}
	}
	return order
}

// reasonOf says in words what an operator should know of a layout that nobody asked for.
func reasonOf(s stream.Stream) string {
	switch {
	case s.LayoutCause != stream.CauseReprovision:
		return ""
	case len(s.Lost) > 0:
		return fmt.Sprintf("shards %v are missing in Redis: nobody is given them until they are made again", s.Lost)
	default:
		return "missing shards were made again: their records are lost, and others may be handled twice"
	}
}

// span lists the shards from ≤ index < to.
func span(from, to int) []int {
	indexes := make([]int, 0, max(0, to-from))
	for i := from; i < to; i++ {
		indexes = append(indexes, i)
	}
	return indexes
}
