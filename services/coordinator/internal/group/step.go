package group

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/assign"
)

// Liveness is what the store keeps beside the structure for one member.
type Liveness struct {
	Deadline    Millis
	HeardAt     Millis
	Incarnation string
	Sequence    int64
	RequestID   string
	SyncVersion int64
	Successor   string
	SuccessorAt Millis
}

// heard tells whether the member's lease is known. The mark of a successor alone says
// nothing of it: it may have been written after the lease was lost (M1, J4).
func (l Liveness) heard() bool { return l.Deadline != 0 }

// Input is one step: the heartbeats heard, at a time of the store's clock. Without
// heartbeats it is a tick.
type Input struct {
	// Now is the store's clock, or an earlier reading of it (T1).
	Now Millis
	// Fresh tells that the state and Live were just loaded from the store. Only
	// then is anything but a steady renewal decided (E6, T3).
	Fresh bool
	// Live is the liveness by member id. Step does not write to it.
	Live map[string]Liveness
	// ServedAt is when a coordinator last served the group, 0 when never (T1).
	ServedAt Millis
	// Identity is the store's identity now (M1).
	Identity string
	// Revision is the store's revision of the state, Seen the last one of this group
	// that the process had a hand in or loaded (M1); the zero Sighting is none.
	Revision int64
	Seen     Sighting
	// ClockJumped tells that the store's clock ran ahead of the process's (T1).
	ClockJumped bool
	// Nonce is a fresh random name, used as the lineage if a round opens.
	Nonce string
	// Heartbeats in the order of arrival.
	Heartbeats []*protocol.HeartbeatRequest
	// Layout is the stream's, to be copied if it is newer than the group's; nil for none (L1).
	Layout *Layout
	// Order is an operator's intervention, nil for none.
	Order *Order
}

// Sighting is a state that a process has seen in the store.
type Sighting struct {
	Lineage  string
	Revision int64
}

// Output is what a step leads to.
type Output struct {
	// Next is the new structure, nil when nothing structural changed.
	Next *Group
	// Replies has one entry for each heartbeat, in order.
	Replies []Reply
	// Beats are the heartbeats whose liveness is to be written.
	Beats []Beat
	// Newcomers asked for an id that another incarnation holds (J4).
	Newcomers []Newcomer
	// Unmoved is the liveness that the decision rests on: a commit is valid only if
	// none of it has moved (T3).
	Unmoved map[string]Observed
	// Forget are members whose records are gone (J6).
	Forget []string
	// Changes says what happened, in order, for the flight recorder.
	Changes []Change
	// OrderErr is why the order was refused, nil when it was not.
	OrderErr error
	// Steady tells that the step may be carried out without loading the state
	// first: every heartbeat renews and nothing else is due (E6).
	Steady bool
}

// Reply is the answer to one heartbeat.
type Reply struct {
	Response *protocol.HeartbeatResponse
	// Beat is the index in Output.Beats of the renewal the answer rests on; the
	// caller sets LeaseMs from the store's deadline by Config.LeaseFor. It is -1
	// when nothing was renewed; LeaseMs is final then.
	Beat int
}

// Beat is liveness to be written for one heartbeat.
type Beat struct {
	Request     *protocol.HeartbeatRequest
	SyncVersion int64
	// Forced tells that the beat starts a life (a join) and is never a repeat.
	Forced bool
}

// Newcomer asks for a member id that is in use.
type Newcomer struct {
	Member      string
	Incarnation string
}

// Observed is the liveness that a decision used.
type Observed struct {
	Deadline Millis
	Sequence int64
}

// Step applies one input to a group. It never changes g.
//
// The order is that of rule T2: evidence, due transitions, the heartbeats, what they made
// due, told-to-drop and grants last; all of it is one commit.
func Step(cfg Config, g *Group, in Input) Output {
	s := &step{cfg: cfg, in: in, base: g, g: g}
	if in.Fresh {
		s.checkStore()
		s.checkClaims()
		s.obey()
		s.runDue()
		s.adopt()
	}
	for _, req := range in.Heartbeats {
		s.hear(req)
	}
	if in.Fresh {
		s.settle()
	} else if in.Layout != nil || in.Order != nil {
		s.unsteady = true
	}
	s.answer()
	return s.output()
}

// step is the work of one Step.
type step struct {
	cfg  Config
	in   Input
	base *Group
	g    *Group // base until the first write, then a copy of it

	live       map[string]Liveness // overrides in.Live for members heard in this step
	bumped     map[string]bool     // members that have their fresh epoch (E1)
	recompute  bool                // membership or layout changed
	roundBegun bool                // evidence counted in this step
	unsteady   bool                // something needs a fresh state

	heard []heard
	out   Output
}

// strategy is the only one for now (S4).
var _ assign.Strategy = assign.Sticky{}

// edit returns the group for writing.
func (s *step) edit() *Group {
	if s.g == s.base {
		s.g = s.base.clone()
		s.g.MetadataVersion++
	}
	return s.g
}

// record notes what happened.
func (s *step) record(c Change) { s.out.Changes = append(s.out.Changes, c) }

// liveness returns what is known of a member, with what this step heard.
func (s *step) liveness(id string) Liveness {
	if l, ok := s.live[id]; ok {
		return l
	}
	return s.in.Live[id]
}

// rely returns a member's stored liveness and makes the commit depend on it (T3).
func (s *step) rely(id string) Liveness {
	l := s.in.Live[id]
	if s.out.Unmoved == nil {
		s.out.Unmoved = make(map[string]Observed)
	}
	s.out.Unmoved[id] = Observed{Deadline: l.Deadline, Sequence: l.Sequence}
	return l
}

// heed makes the commit depend on the sender not having been heard meanwhile: that req is
// no repeat is decided by the liveness loaded (E5, T3).
func (s *step) heed(req *protocol.HeartbeatRequest) { s.rely(req.MemberID) }

// bump gives a member its fresh epoch, at most once in a commit (E1).
func (s *step) bump(i int) {
	g := s.edit()
	m := &g.Members[i]
	if s.bumped[m.ID] {
		return
	}
	if s.bumped == nil {
		s.bumped = make(map[string]bool)
	}
	s.bumped[m.ID] = true
	g.EpochCounter++
	m.Epoch = g.EpochCounter
}

// setState moves a record to another state.
func (s *step) setState(i int, state MemberState, cause Cause) {
	m := &s.edit().Members[i]
	if m.Eligible() != (Member{State: state}).Eligible() {
		s.recompute = true
	}
	m.State, m.Since, m.Cause = state, s.in.Now, cause
	if state != Active && state != Leaving {
		m.DropBy = 0
	}
}

func (s *step) output() Output {
	if s.g != s.base {
		s.out.Next = s.g
	}
	s.out.Steady = !s.unsteady && s.out.Next == nil
	return s.out
}
