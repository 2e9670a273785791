package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// Script writes down what the store and the core see of a world, in the language of the
// core's script tests, ready to be put under internal/group/testdata: `go test -rewrite`
// there fills in what comes out. What the language has no word for stands as a comment. A nil
// Script writes nothing.
type Script struct {
	b        strings.Builder
	clock    group.Millis
	views    []*group.Group // saves made, by the state that they are of
	viewAt   []group.Millis
	applied  int               // steps that have drawn a nonce
	lineages map[string]string // of the world, as the script names them
	history  [2]int            // saves of what a failover can bring back, 0 for none
	last     int               // the save before the decision that is being made
}

func newScript(w *World) *Script {
	s := &Script{clock: w.clock(), applied: 1, lineages: map[string]string{w.store.g.Lineage: "L1"}}
	s.line("config stale-retention=%v rebalance-timeout=%v", w.env.cfg.StaleRetention, w.env.cfg.RebalanceTimeout)
	barrier := ""
	if w.env.setup.Barrier {
		barrier = " barrier"
	}
	s.line("identity %s", w.store.identity)
	s.line("group shards=%d%s", w.env.setup.Shards, barrier)
	return s
}

func (s *Script) text() string {
	if s == nil {
		return ""
	}
	return s.b.String()
}

// line writes a command without input.
func (s *Script) line(format string, args ...any) {
	if s != nil {
		fmt.Fprintf(&s.b, format+"\n----\n\n", args...)
	}
}

// unsayable says what the language has no word for.
func (s *Script) unsayable(what string) {
	if s != nil {
		fmt.Fprintf(&s.b, "# %s: scripts have no word for it, from here on they differ\n\n", what)
	}
}

// pass brings the script's clock to the world's.
func (s *Script) pass(to group.Millis) {
	if to > s.clock {
		s.line("pass %dms unserved", to-s.clock)
		s.clock = to
	}
}

// loaded keeps what a coordinator has loaded for a decision that comes later.
func (s *Script) loaded(w *World) {
	if s == nil {
		return
	}
	s.pass(w.clock())
	s.save(w.store.g)
}

// save writes a save of the store as it is and returns its number.
func (s *Script) save(g *group.Group) int {
	s.line("save")
	s.views, s.viewAt = append(s.views, g), append(s.viewAt, s.clock)
	return len(s.views)
}

// cached writes heartbeats that are carried out by touch.
func (s *Script) cached(w *World, on *view, msgs []message) {
	if s == nil {
		return
	}
	s.pass(w.clock())
	n := slices.Index(s.views, on.g) + 1
	if n == 0 {
		n = s.save(on.g)
	}
	fmt.Fprintf(&s.b, "cached %d\n%s----\n\n", n, s.requests(msgs))
	s.line("pass 0ms") // served just now
}

// decided writes a step that may lead to a commit.
func (s *Script) decided(w *World, p *pending, in group.Input, out group.Output) {
	if s == nil {
		return
	}
	s.pass(w.clock())
	if w.has(FailOvers) {
		s.last = s.save(w.store.g)
	}
	if w.recalled(in) {
		s.unsayable("the coordinator saw what is lost")
	}
	lines := s.requests(p.msgs)
	stale := in.Now < w.clock() || p.on.g != w.store.g
	view := s.viewOf(p.on.g, in.Now)
	switch {
	case in.Layout != nil:
		s.layout(in.Layout, stale, view, lines)
	case in.Order != nil:
		fmt.Fprintf(&s.b, "order %s\n%s----\n\n", orderText(in.Order), lines)
	case stale:
		fmt.Fprintf(&s.b, "stale %d\n%s----\n\n", view, lines)
	case lines == "":
		s.line("tick")
	default:
		fmt.Fprintf(&s.b, "beat %s----\n\n", withRest(lines))
	}
	s.applied++
	if out.Next != nil && out.Next.Lineage != p.on.g.Lineage {
		s.lineages[out.Next.Lineage] = fmt.Sprintf("L%d", s.applied)
	}
}

// committed notes that a failover can bring back what was before the last decision.
func (s *Script) committed() {
	if s != nil {
		s.history[0], s.history[1] = s.history[1], s.last
	}
}

// withRest makes a command line of the first request, and input of the others.
func withRest(lines string) string {
	first, rest, _ := strings.Cut(lines, "\n")
	return first + "\n" + rest
}

func orderText(o *group.Order) string {
	switch o.Kind {
	case group.OrderBarrier:
		return "barrier"
	case group.OrderUnbar:
		return "unbar"
	case group.OrderRewrite:
		return "rewrite"
	case group.OrderFence:
		return "fence " + o.Member
	}
	return ""
}

func (s *Script) layout(l *group.Layout, stale bool, view int, lines string) {
	fmt.Fprintf(&s.b, "layout version=%d shards=%d read=%d", l.Version, l.ShardCount, l.ReadCount)
	if len(l.Closed) > 0 {
		fmt.Fprintf(&s.b, " closed=%s", plus(l.Closed))
	}
	if len(l.Lost) > 0 {
		fmt.Fprintf(&s.b, " lost=%s", plus(l.Lost))
	}
	if l.Cause != "" {
		fmt.Fprintf(&s.b, " cause=%s", l.Cause)
	}
	if stale {
		fmt.Fprintf(&s.b, " view=%d", view)
	}
	fmt.Fprintf(&s.b, "\n%s----\n\n", lines)
}

// viewOf returns the save that was made when the state was loaded at that time.
func (s *Script) viewOf(g *group.Group, at group.Millis) int {
	best := 0
	for i := range s.views {
		if s.views[i] == g && s.viewAt[i] <= at {
			best = i + 1
		}
	}
	return best
}

// failedOver writes a failover of the store.
func (s *Script) failedOver(w *World) {
	if s == nil {
		return
	}
	s.pass(w.clock())
	for lost := range 2 {
		n := s.history[1-lost]
		if n > 0 && s.views[n-1] == w.store.g {
			s.line("restore %d", n)
			break
		}
	}
	s.line("identity %s", w.store.identity)
}

// jumped writes a jump of the store's clock.
func (s *Script) jumped(w *World) {
	if s == nil {
		return
	}
	s.line("pass %dms unserved jump", w.clock()-s.clock)
	s.clock = w.clock()
}

// requests writes heartbeats with every number given.
func (s *Script) requests(msgs []message) string {
	var b strings.Builder
	for _, m := range msgs {
		r := m.req
		fmt.Fprintf(&b, "%s as=%s%d epoch=%d ver=%d id=%s own=%s", r.MemberID, r.MemberID, m.life, r.MemberEpoch, r.MetadataVersion,
			r.RequestID, plus(indexes(r.OwnedShards)))
		if len(r.RevokingShards) > 0 {
			fmt.Fprintf(&b, " rev=%s", revokingText(r.RevokingShards))
		}
		if r.Incarnation == "" {
			b.WriteString(" old\n")
			continue
		}
		fmt.Fprintf(&b, " inc=%s seq=%d", r.Incarnation, r.Sequence)
		if r.Lineage != "" {
			fmt.Fprintf(&b, " lin=%s", cmp.Or(s.lineages[r.Lineage], "lost-"+r.Lineage))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func plus(list []int) string {
	if len(list) == 0 {
		return "none"
	}
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = fmt.Sprint(n)
	}
	return strings.Join(words, "+")
}

func revokingText(list []protocol.RevokingShard) string {
	words := make([]string, len(list))
	for i, r := range list {
		words[i] = fmt.Sprintf("%d:%s:%d", r.Shard.ShardIndex, r.State, r.InFlight)
	}
	return strings.Join(words, "+")
}
