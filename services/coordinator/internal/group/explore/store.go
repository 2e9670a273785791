package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// store is a store as the storage contract has it: versions with a token, liveness beside
// the structure, one atomic step for each call.
type store struct {
	image
	tokens     int
	identity   string
	identities int
	history    [2]*image // what a failover can bring back, the latest last; nil for none
}

// image is a state that the store has had.
type image struct {
	g        *group.Group
	token    int
	live     lives
	servedAt group.Millis
}

// view is what a load gave.
type view struct {
	image
	identity string
	clock    group.Millis
	double   any // what the real store beside the model has loaded
}

// stored is the outcome of a commit or touch.
type stored struct {
	clock     group.Millis
	deadlines []group.Millis
	applied   []bool
}

// lives is liveness by member. It is not changed but copied.
type lives []lived

type lived struct {
	id string
	group.Liveness
}

func (l lives) get(id string) (group.Liveness, bool) {
	for i := range l {
		if l[i].id == id {
			return l[i].Liveness, true
		}
	}
	return group.Liveness{}, false
}

func (l lives) with(id string, v group.Liveness) lives {
	next := make(lives, 0, len(l)+1)
	for _, each := range l {
		if each.id < id {
			next = append(next, each)
		}
	}
	next = append(next, lived{id, v})
	for _, each := range l {
		if each.id > id {
			next = append(next, each)
		}
	}
	return next
}

func (l lives) without(id string) lives {
	return slices.DeleteFunc(slices.Clone(l), func(each lived) bool { return each.id == id })
}

// fill makes the map that a step reads.
func (l lives) fill(m map[string]group.Liveness) map[string]group.Liveness {
	clear(m)
	for _, each := range l {
		m[each.id] = each.Liveness
	}
	return m
}

func (w *World) newStore() store {
	s := store{identity: "store-0"}
	s.g = w.birth(s.identity, 0, w.env.setup.Barrier)
	return s
}

// birth creates the group with the layout of the stream's record (J0).
func (w *World) birth(identity string, floor int64, barrier bool) *group.Group {
	return group.New(w.env.cfg, group.Birth{
		StreamPrefix: "orders", ConsumerGroup: groupName(w.focus), Layout: layoutOf(&w.stream.rec), Lineage: w.nonce(),
		Identity: identity, Now: w.clock(), EpochFloor: floor, Barrier: barrier,
	})
}

func (w *World) load() *view {
	return &view{image: w.store.image, identity: w.store.identity, clock: w.clock(), double: w.loadBeside()}
}

// keep remembers the present state for a failover.
func (s *store) keep() {
	now := s.image
	s.history[0], s.history[1] = s.history[1], &now
}

// commit is compare-and-set on version, token, identity and the liveness relied on.
func (w *World) commit(on *view, out group.Output) (stored, bool) {
	token := w.store.tokens + 1
	done, ok := w.commitHere(on, out)
	if d := w.double(); d != nil {
		accepted, applied, err := d.Commit(w.clock(), on.double, token, out)
		w.compare("commit", ok, done, accepted, applied, err)
	}
	return done, ok
}

func (w *World) commitHere(on *view, out group.Output) (stored, bool) {
	s := &w.store
	if on.token != s.token && !w.flawed("cas checks before the write") {
		return stored{}, false
	}
	if w.damage == badVersion && !w.flawed("a corrupt record is written over") {
		return stored{}, false
	}
	if on.identity != s.identity && !w.flawed("cas ignores identity") {
		return stored{}, false
	}
	if s.moved(out) && !w.flawed("cas ignores moved liveness") {
		return stored{}, false
	}
	s.keep()
	w.script().committed()
	s.g, w.damage = out.Next, unhurt
	s.tokens++
	s.token = s.tokens
	for _, id := range out.Forget {
		s.live = s.live.without(id)
	}
	return w.hear(out), true
}

func (s *store) moved(out group.Output) bool {
	for id, seen := range out.Unmoved {
		if l, _ := s.live.get(id); l.Deadline != seen.Deadline || l.Sequence != seen.Sequence {
			return true
		}
	}
	return false
}

// touch writes liveness only. On a state just loaded it compares the identity; on a cached one
// it renews no lease that has run out.
func (w *World) touch(on *view, out group.Output, fresh bool) (stored, bool) {
	lapsed := !fresh && w.lapsed(out)
	done, ok := w.touchHere(on, out, fresh, lapsed)
	if d := w.double(); d != nil && (d.Exact() || !lapsed) {
		var from any
		if fresh {
			from = on.double
		}
		accepted, applied, err := d.Touch(w.clock(), from, on.token, out)
		w.compare("touch", ok, done, accepted, applied, err)
	}
	return done, ok
}

func (w *World) touchHere(on *view, out group.Output, fresh, lapsed bool) (stored, bool) {
	same := on.token == w.store.token && w.damage != badVersion
	if w.flawed("touch compares the number only") {
		same = on.g.MetadataVersion == w.store.g.MetadataVersion
	}
	if fresh && on.identity != w.store.identity && !w.flawed("touch ignores identity") {
		same = false
	}
	if !same {
		return stored{}, false
	}
	if lapsed {
		if w.visit("lapsed"); !w.flawed("touch renews what has run out") {
			return stored{}, false
		}
	}
	return w.hear(out), true
}

// lapsed tells whether the lease of a member heard does not run.
func (w *World) lapsed(out group.Output) bool {
	return slices.ContainsFunc(out.Beats, func(b group.Beat) bool {
		l, _ := w.store.live.get(b.Request.MemberID)
		return !b.Forced && l.Deadline <= w.clock()
	})
}

func (w *World) hear(out group.Output) stored {
	s := &w.store
	s.servedAt = w.clock()
	done := stored{clock: w.clock()}
	for _, b := range out.Beats {
		id := b.Request.MemberID
		l, _ := s.live.get(id)
		applies := b.Forced || !repeats(l, b.Request)
		if applies {
			l.Deadline, l.HeardAt = done.clock.Add(w.env.cfg.Lease), done.clock
			l.Incarnation, l.Sequence, l.RequestID = b.Request.Incarnation, b.Request.Sequence, b.Request.RequestID
			l.SyncVersion = b.SyncVersion
			s.live = s.live.with(id, l)
		}
		done.deadlines = append(done.deadlines, l.Deadline)
		done.applied = append(done.applied, applies)
	}
	for _, n := range out.Newcomers {
		l, _ := s.live.get(n.Member)
		l.Successor, l.SuccessorAt = n.Incarnation, done.clock
		s.live = s.live.with(n.Member, l)
	}
	return done
}

// commits tells how many commits can be lost.
func (s *store) commits() int {
	n := 0
	for _, i := range s.history {
		if i != nil {
			n++
		}
	}
	return n
}

// failOver gives the store another identity and loses its last commits.
func (s *store) failOver(lost int) {
	s.identities++
	s.identity = numbered("store-", s.identities)
	for range lost {
		s.image = *s.history[1]
		s.history[1], s.history[0] = s.history[0], nil
	}
}

// lostUnnoticed tells that writes may be lost and nobody has loaded the store since.
func (s *store) lostUnnoticed() bool { return s.identity != s.g.Identity }
