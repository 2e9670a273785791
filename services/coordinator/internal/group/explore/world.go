package explore

import (
	"fmt"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// World is a stream with its record and one or two groups, each with its store, coordinators,
// network and processes. What has been handed out - states of groups, views, requests,
// answers - is never changed again, so that worlds share it.
type World struct {
	env *env
	own *byte // tells the processes that this world may write, see edit

	now    int64 // true time in ms; clients measure with it
	stream *record
	drives [2]*drive // by coordinator, nil for none
	shards *shards   // what Redis has of the stream, nil where nothing is published

	house        // of the group in focus
	other *house // of the other group, nil for none
	focus int    // which group is in focus

	nonces, requests, lives int
	used                    [faults]int8
	broken                  *Violation
}

// Violation is an invariant that does not hold.
type Violation struct {
	Invariant, What string
}

// env is what all worlds of a search share and what is no part of them. It is used by one
// goroutine.
type env struct {
	setup    Setup
	cfg      group.Config
	handlers [kinds]func(*World, Event) bool
	visits   map[string]int
	live     [2]map[string]group.Liveness // for the Input of a step, and of a step within it
	keyer    keyer
	thorough bool // compare each state with itself after the step that read it
	steps    int
	watch    func(*group.Group, group.Input) // sees each run of the core, nil for nobody
	double   Double                          // a real store beside the model, nil for none
	scripts  [mostGroups]*Script             // record what happens to each group, nil for nothing
	log      []string                        // says what happens, while logging
	logging  bool
}

// memberIDs are few, so that processes meet under one.
const memberIDs = 3

func memberID(i int) string { return string(rune('a' + i)) }

// New returns the world of a setup when nothing has happened but what the setup says.
func New(setup Setup) *World { return newWorld(newEnv(setup)).prepared() }

// prepared returns the world when what the setup says has happened.
func (w *World) prepared() *World {
	w.replay(w.env.setup.Before, false)
	return w
}

func newEnv(setup Setup) *env {
	e := &env{setup: setup, cfg: Timing(), handlers: handlers(), visits: map[string]int{}}
	for i := range e.live {
		e.live[i] = map[string]group.Liveness{}
	}
	e.keyer.cfg = &e.cfg
	return e
}

func newWorld(e *env) *World {
	w := &World{env: e, now: 1_000_000}
	w.stream = newRecord(&e.setup)
	if e.setup.Has(Publishes) {
		w.shards = &shards{producer: w.routing()}
		for i := range e.setup.Shards {
			w.shards.list[i].provide()
		}
	}
	w.store = w.newStore()
	if e.setup.Groups > 1 {
		w.other = &house{}
		w.lookAt(1)
		w.store = w.newStore()
		w.lookAt(0)
	}
	return w
}

// Clone returns a copy that can go another way.
func (w *World) Clone() *World {
	c := *w
	if c.house = w.house.clone(); w.other != nil {
		other := w.other.clone()
		c.other = &other
	}
	c.own, w.own = nil, nil // what they share is copied before it is written
	return &c
}

// Broken returns the first invariant that did not hold, nil when all did.
func (w *World) Broken() *Violation { return w.broken }

// Visits tells how often the interesting situations were met by the worlds that began with
// one New.
func (w *World) Visits() map[string]int { return w.env.visits }

// violated notes the first violation.
func (w *World) violated(invariant, format string, args ...any) {
	if w.broken != nil {
		return
	}
	w.broken = &Violation{Invariant: invariant, What: w.ofGroup() + fmt.Sprintf(format, args...)}
	w.logf("VIOLATED %s: %s", invariant, w.broken.What)
}

func (w *World) logf(format string, args ...any) {
	if w.env.logging {
		at := float64(w.now-1_000_000) / 1000
		w.env.log = append(w.env.log, fmt.Sprintf("%8.3fs ", at)+w.ofGroup()+fmt.Sprintf(format, args...))
	}
}

// ofGroup says which group is in focus, where there are two.
func (w *World) ofGroup() string {
	if w.other == nil {
		return ""
	}
	return groupName(w.focus) + ": "
}

func (w *World) visit(what string) { w.env.visits[what]++ }

func (w *World) has(f Fault) bool { return w.env.setup.Has(f) }

// may tells whether the budget lets the fault happen once more.
func (w *World) may(f Fault) bool {
	most := w.env.setup.Budget[f]
	return most == Unlimited || w.used[f] < most
}

// spend takes one of the fault's budget.
func (w *World) spend(f Fault) bool {
	if !w.may(f) {
		return false
	}
	if w.env.setup.Budget[f] != Unlimited {
		w.used[f]++
	}
	return true
}

func (w *World) flawed(guard string) bool { return w.env.setup.Flaw == guard }

func (w *World) nonce() string {
	w.nonces++
	return numbered("L", w.nonces)
}

// clock is the clock of the store of the group in focus.
func (w *World) clock() group.Millis { return group.Millis(w.now + w.offset) }

// recordClock is the clock of the store of the stream's record. It is that of the first group.
func (w *World) recordClock() int64 { return w.now + w.houseOf(0).offset }

func (w *World) script() *Script { return w.env.scripts[w.focus] }

// at is the processes' clock.
func (w *World) at() time.Duration { return time.Duration(w.now) * time.Millisecond }

// message is under way: a request to a coordinator, or its answer.
type message struct {
	life int // of the sender of the request
	req  *protocol.HeartbeatRequest
	resp *protocol.HeartbeatResponse // nil for a request
}

// post puts a message on its way, behind those of the same sender; when too many are under
// way it is lost.
func (w *World) post(m message) {
	if len(w.bag) >= w.env.setup.Bag {
		w.visit("bag full")
		return
	}
	at := len(w.bag)
	for at > 0 && w.after(w.bag[at-1].life, m.life) {
		at--
	}
	w.bag = slices.Insert(w.bag, at, m)
}

// after tells whether messages of one life come after those of another: the living come
// first, so that it does not matter in which order those have come who are gone.
func (w *World) after(a, b int) bool {
	if w.process(b) < 0 {
		return false
	}
	return a > b || w.process(a) < 0
}

// find returns the place in the bag of the message that an event names: of its life, a
// request or an answer, counted from the newest. It is -1 when there is none.
func (w *World) find(e Event, answer bool) int {
	age := e.Age
	for i, m := range slices.Backward(w.bag) {
		if m.life == int(e.Life) && (m.resp != nil) == answer {
			if age == 0 {
				return i
			}
			age--
		}
	}
	return -1
}

// take returns a message; keep leaves it under way.
func (w *World) take(i int, keep bool) message {
	m := w.bag[i]
	if !keep {
		w.bag = slices.Delete(w.bag, i, i+1)
	}
	return m
}

// Steps tells how often the core was run.
func (w *World) Steps() int { return w.env.steps }
