package group_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// chooser decides what happens next in a walk: rapid, which can shrink a failure, or a
// seeded generator, which is fast.
type chooser interface {
	// pick returns a number from 0 to n-1. Low numbers are the simpler choices.
	pick(what string, n int) int
}

// mix says what a walk is made of.
type mix struct {
	shards    int
	most      int // shards that a scale-out may reach; shards when it is less
	steps     int
	processes int      // that may live at once
	faults    []string // kinds of events beyond the plain ones, see events
	flaw      string   // a guard left out, to show that its absence is found
	fair      bool     // end with a fair schedule (V1)
}

// sim is a group with its store, two coordinators, a network and processes, all in one
// place and in one goroutine. Everything that happens is chosen by draw.
type sim struct {
	mix  mix
	cfg  group.Config
	draw chooser

	now    int64 // true time in ms; clients measure with it
	store  *simStore
	stream *simStream
	coords []*coordinator
	procs  []*process
	bag    []message

	nonces, requests, lives int

	broken map[string]string // first violation of each invariant
	visits map[string]int    // how often the interesting states were met
	trace  []string
}

// maxBag bounds the messages under way.
const maxBag = 4

// simConfig keeps the proportions of the defaults, with the shortest
// rebalance timeout that is allowed, so that walks reach it.
func simConfig() group.Config {
	cfg := group.DefaultConfig()
	cfg.RebalanceTimeout = 2 * cfg.Lease
	cfg.StaleRetention = 3 * cfg.Lease
	return cfg
}

func newSim(m mix, draw chooser) *sim {
	s := &sim{
		mix: m, cfg: simConfig(), draw: draw, now: 1_000_000,
		broken: map[string]string{}, visits: map[string]int{},
	}
	s.store = newSimStore(s)
	s.stream = newSimStream(m.shards)
	s.coords = []*coordinator{{name: "C1"}, {name: "C2"}}
	return s
}

// walk lets the chosen number of events happen and checks the invariants after each.
func (s *sim) walk() {
	for range s.mix.steps {
		if len(s.broken) > 0 {
			return
		}
		s.happen()
		s.checkState()
	}
	if s.mix.fair && len(s.broken) == 0 {
		s.settleFairly()
	}
}

// violated notes the first violation of an invariant.
func (s *sim) violated(invariant, format string, args ...any) {
	if _, known := s.broken[invariant]; !known {
		s.broken[invariant] = fmt.Sprintf(format, args...)
		s.logf("VIOLATED %s: %s", invariant, s.broken[invariant])
	}
}

func (s *sim) logf(format string, args ...any) {
	s.trace = append(s.trace, fmt.Sprintf("%8.3fs ", float64(s.now-1_000_000)/1000)+fmt.Sprintf(format, args...))
}

// report is what a failing test prints.
func (s *sim) report() string {
	var b strings.Builder
	for _, name := range sortedKeys(s.broken) {
		fmt.Fprintf(&b, "%s: %s\n", name, s.broken[name])
	}
	from := max(0, len(s.trace)-120)
	b.WriteString(strings.Join(s.trace[from:], "\n"))
	return b.String()
}

// most is the highest shard count that there may be.
func (s *sim) most() int { return max(s.mix.shards, s.mix.most) }

func (s *sim) visit(what string) { s.visits[what]++ }

func (s *sim) has(fault string) bool { return slices.Contains(s.mix.faults, fault) }

func (s *sim) nonce() string {
	s.nonces++
	return fmt.Sprintf("L%d", s.nonces)
}

// clock is the store's clock.
func (s *sim) clock() group.Millis { return group.Millis(s.now + s.store.offset) }

func ms(d time.Duration) int64 { return d.Milliseconds() }

// message is under way: a request to a coordinator, or its answer.
type message struct {
	from *process
	req  *protocol.HeartbeatRequest
	resp *protocol.HeartbeatResponse // nil for a request
}

// post puts a message on its way; when too many are under way it is lost.
func (s *sim) post(m message) {
	if len(s.bag) < maxBag {
		s.bag = append(s.bag, m)
	}
}
