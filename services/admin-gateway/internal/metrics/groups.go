package metrics

import (
	"sync"
	"time"
)

const (
	// MaxGroups is how many pairs of stream and group have series of their own.
	MaxGroups = 1000
	// idleFor is how long a group that nobody asks for keeps its series.
	idleFor = time.Hour
)

// groups are the pairs of stream and group that a service has answered for.
type groups struct {
	now    func() time.Time
	forget func(stream, group string)

	mu    sync.Mutex
	seen  map[pair]time.Time
	swept time.Time
}

type pair struct{ stream, group string }

func newGroups(now func() time.Time, forget func(stream, group string)) *groups {
	return &groups{now: now, forget: forget, seen: map[pair]time.Time{}, swept: now()}
}

// count calls count with the pair if it is known, else with none. An answer with success makes it
// known, as long as there is room. Nothing is forgotten meanwhile, so that no series comes back.
func (g *groups) count(of pair, success bool, count func(pair)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	g.sweep(now)
	_, is := g.seen[of]
	if success && (is || len(g.seen) < MaxGroups) {
		g.seen[of] = now
		is = true
	}
	if !is {
		of = pair{none, none}
	}
	count(of)
}

// gone takes out a group, or with an empty group all of a stream.
func (g *groups) gone(what pair) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for of := range g.seen {
		if of.stream == what.stream && (what.group == "" || of.group == what.group) {
			g.drop(of)
		}
	}
}

// sweep takes out what nobody has asked for, once a minute at most.
func (g *groups) sweep(now time.Time) {
	if now.Sub(g.swept) < time.Minute {
		return
	}
	g.swept = now
	for of, last := range g.seen {
		if now.Sub(last) >= idleFor {
			g.drop(of)
		}
	}
}

func (g *groups) drop(of pair) {
	delete(g.seen, of)
	g.forget(of.stream, of.group)
}
