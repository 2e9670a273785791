package explore

import (
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// coordinator is one process of the coordinator: it may have a cached snapshot, and a
// decision that was loaded for and is not committed yet. What it points to is not changed.
type coordinator struct {
	cache   *view
	seen    group.Sighting // lost with the process
	jumps   int            // of the store's clock that a commit of this process has taken into account
	pending *pending
}

// pending is a decision between its load and its commit.
type pending struct {
	on    *view
	jumps int // of the store's clock that the load showed
	msgs  []message
	errand
}

// crashAt says when a coordinator dies during a decision.
type crashAt int8

const (
	lasts crashAt = iota
	beforeCommit
	beforeAnswer
)

func podName(c int) string { return numbered("C", c+1) }

// jumped tells whether the coordinator has seen the store's clock jump (T1).
func (w *World) jumped(c *coordinator) bool { return w.jumps > c.jumps }

// recalls tells whether the coordinator saw a state that the store has lost (M1).
func (w *World) recalls(c *coordinator) bool {
	g := w.store.g
	if c.seen.Lineage == g.Lineage {
		return c.seen.Revision > g.MetadataVersion
	}
	return c.seen.Lineage != "" && !slices.Contains(g.Known, c.seen.Lineage)
}

// recalled is recalls for an input.
func (w *World) recalled(in group.Input) bool {
	return in.Seen.Lineage != "" && (in.Seen.Lineage == w.store.g.Lineage && in.Seen.Revision > in.Revision ||
		in.Seen.Lineage != w.store.g.Lineage && !slices.Contains(w.store.g.Known, in.Seen.Lineage))
}

// step runs the core.
func (w *World) step(g *group.Group, in group.Input) group.Output {
	if w.env.steps++; w.env.watch != nil {
		w.env.watch(g, in)
	}
	return group.Step(w.env.cfg, g, in)
}

// steady carries out heartbeats by touch on the cached snapshot, as rule E6 allows, and
// tells whether it could.
func (w *World) steady(pod int, msgs []message) bool {
	c := &w.coords[pod]
	if c.cache == nil || w.jumped(c) {
		return false
	}
	in := group.Input{Now: c.cache.clock, Live: c.cache.live.fill(w.env.live[0]), Heartbeats: requestsIn(msgs)}
	out := w.step(c.cache.g, in)
	w.checkSkew(c, in, out)
	if !out.Steady {
		return false
	}
	if out.Next != nil {
		w.violated("E6", "a steady step changes the structure")
	}
	done, ok := w.touch(c.cache, out, false)
	if !ok {
		return false
	}
	w.visit("steady")
	w.script().cached(w, c.cache, msgs)
	w.remember(c, c.cache, out, done)
	w.answer(pod, msgs, out, done)
	return true
}

// checkSkew shows that a coordinator whose own clock is wrong decides the same (T1).
func (w *World) checkSkew(c *coordinator, in group.Input, out group.Output) {
	skew := w.env.setup.Skew
	if skew == 0 {
		return
	}
	w.visit("skewed pod")
	for _, by := range []time.Duration{skew, -skew} {
		in.Now = c.cache.clock.Add(by)
		other := w.step(c.cache.g, in)
		same := other.Steady == out.Steady && len(other.Beats) == len(out.Beats)
		for i := range out.Replies {
			same = same && (!out.Steady || sameDecision(out.Replies[i].Response, other.Replies[i].Response))
		}
		if !same {
			w.violated("I15", "a clock that is off by %v changes a decision", by)
		}
	}
}

// begin loads the store for a decision, and tells whether it could.
func (w *World) begin(pod int, msgs []message, do errand) bool {
	if !w.readable(pod) {
		w.failClosed(pod, msgs, do.rec)
		return false
	}
	w.coords[pod].pending = &pending{on: w.load(), jumps: w.jumps, msgs: msgs, errand: do}
	return true
}

// clear carries out what a coordinator has under way before it does something else.
func (w *World) clear(pod int) {
	if w.coords[pod].pending != nil {
		w.conclude(pod, lasts)
	}
}

// conclude decides and stores what begin has loaded for. A conflict loads again.
func (w *World) conclude(pod int, crash crashAt) {
	c := &w.coords[pod]
	p := *c.pending
	c.pending = nil
	if crash == beforeCommit {
		w.logf("%s dies before its commit", podName(pod))
		w.forgetPod(pod)
		return
	}
	for range 3 {
		in := group.Input{
			Now: p.on.clock, Fresh: true, Live: p.on.live.fill(w.env.live[0]), ServedAt: p.on.servedAt, Identity: p.on.identity,
			ClockJumped: p.jumps > c.jumps, Nonce: w.nonce(), Heartbeats: requestsIn(p.msgs),
			Revision: p.on.g.MetadataVersion, Seen: c.seen, Layout: p.layout, Order: p.order,
		}
		out := w.decide(p.on, in)
		w.script().decided(w, &p, in, out)
		if w.write(pod, &p, in, out, crash) {
			return
		}
		w.visit("conflict")
		if !w.readable(pod) {
			w.failClosed(pod, p.msgs, p.rec)
			return
		}
		p.on, p.jumps = w.load(), w.jumps
	}
	w.violated("engine", "a decision did not get through")
}

// write stores a decision and speaks.
func (w *World) write(pod int, p *pending, in group.Input, out group.Output, crash crashAt) bool {
	c := &w.coords[pod]
	var done stored
	var ok bool
	if out.Next != nil {
		before, live, was := w.store.g, w.store.live, w.damage
		if done, ok = w.commit(p.on, out); !ok {
			return false
		}
		w.checkClosed(was, "a commit")
		c.jumps = p.jumps
		w.checkCommit(before, in, out)
		w.checkUnmoved(before, live, in, out)
	} else if done, ok = w.touch(p.on, out, true); !ok {
		return false
	}
	w.logf("%s: %s", podName(pod), outcomeIf(w.env.logging, out))
	if crash == beforeAnswer {
		w.logf("%s dies before it answers", podName(pod))
		w.visit("lost answer")
		w.forgetPod(pod)
		return true
	}
	w.remember(c, p.on, out, done)
	if p.layout != nil {
		w.copied(pod, p.rec, w.store.g)
	}
	w.checkRepeat(in, out)
	w.answer(pod, p.msgs, out, done)
	return true
}

// forgetPod is the end of a coordinator's process: what it knows of any group is gone.
func (w *World) forgetPod(pod int) {
	w.drives[pod] = nil
	for nth := range w.groups() {
		c := &w.houseOf(nth).coords[pod]
		*c = coordinator{jumps: c.jumps}
	}
}

func outcomeIf(wanted bool, out group.Output) string {
	if !wanted {
		return ""
	}
	return outcome(out)
}
