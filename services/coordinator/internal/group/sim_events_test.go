package group_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// event is one thing that may happen, as often as its weight says.
type event struct {
	weight int
	do     func()
}

// happen lets one event happen.
func (s *sim) happen() {
	events := s.events()
	total := 0
	for _, e := range events {
		total += e.weight
	}
	at := s.draw.pick("event", total)
	for _, e := range events {
		if at -= e.weight; at < 0 {
			e.do()
			return
		}
	}
}

// events lists what may happen now, the simpler ones first.
func (s *sim) events() []event {
	events := []event{{20, s.pass}}
	add := func(weight int, do func()) { events = append(events, event{weight, do}) }
	alive := s.alive()
	if len(alive) > 0 {
		add(30, func() { s.roundTrip(oneOf(s, "process", alive), oneOf(s, "coordinator", s.coords)) })
		add(8, func() { s.send(oneOf(s, "process", alive)) })
		if !s.has("slow handlers") {
			add(5, func() { oneOf(s, "process", alive).drained() })
		}
	}
	if len(alive) < s.mix.processes {
		add(6, s.newcomer)
	}
	add(5, func() { s.tick(oneOf(s, "coordinator", s.coords)) })
	if len(s.bag) > 0 {
		add(12, func() { s.deliver(s.draw.pick("message", len(s.bag)), false) })
		add(3, func() { s.drop(s.draw.pick("message", len(s.bag))) })
	}
	for _, c := range s.coords {
		if c.pending != nil {
			add(10, func() { s.finish(c, lives) })
		}
	}
	if len(alive) > 0 {
		add(2, func() { s.goodbye(oneOf(s, "process", alive)) })
	}
	return slices.Concat(events, s.faults(alive), s.reshardings(alive))
}

// faults lists the events that the mix allows beyond the plain ones.
func (s *sim) faults(alive []*process) []event {
	var events []event
	add := func(fault string, weight int, do func()) {
		if s.has(fault) {
			events = append(events, event{weight, do})
		}
	}
	if len(s.bag) > 0 {
		add("duplicates", 4, func() { s.deliver(s.draw.pick("message", len(s.bag)), true) })
	}
	if len(alive) > 0 {
		add("slow handlers", 4, s.calm)
		add("crashes", 3, func() { s.crash(oneOf(s, "process", alive)) })
		add("bad reports", 4, func() { s.lie(oneOf(s, "process", alive)) })
		if len(alive) < s.mix.processes {
			add("twins", 3, func() { s.twin(oneOf(s, "process", alive)) })
		}
	}
	for _, c := range s.coords {
		weight := 1
		if c.pending != nil {
			weight = 6
		}
		add("coordinator crashes", weight, func() { s.crashCoordinator(c) })
	}
	add("failovers", 1, s.failOver)
	add("many failovers", 8, s.failOver)
	add("clock jumps", 1, s.jump)
	return events
}

func oneOf[T any](s *sim, what string, list []T) T { return list[s.draw.pick(what, len(list))] }

func (s *sim) alive() []*process {
	var list []*process
	for _, p := range s.procs {
		if !p.gone {
			list = append(list, p)
		}
	}
	return list
}

// pass lets time go by; the steps meet the ends of leases exactly.
func (s *sim) pass() {
	steps := []int64{
		250, 1000, 3000, ms(s.cfg.Lease) / 2, ms(s.cfg.ClientLease) - 1, 1, ms(s.cfg.ClientLease),
		ms(s.cfg.Lease), ms(s.cfg.RebalanceTimeout),
	}
	s.now += steps[s.draw.pick("time", len(steps))]
}

// roundTrip is a heartbeat on a good day.
func (s *sim) roundTrip(p *process, c *coordinator) {
	m := message{from: p, req: p.request()}
	s.logf("%s sends %s", p.name, requestText(m.req))
	s.bag = append(s.bag, m)
	s.deliverTo(c, len(s.bag)-1, true)
	if n := len(s.bag); n > 0 && s.bag[n-1].req == m.req && s.bag[n-1].resp != nil {
		s.deliver(n-1, false)
	}
}

// calm is a while in which nothing fails but handlers, which do not end.
func (s *sim) calm() {
	for range []int{2, 8, 22}[s.draw.pick("calm", 3)] {
		for _, p := range s.alive() {
			s.roundTrip(p, s.coords[0])
		}
		s.now += ms(s.cfg.HeartbeatInterval)
		s.checkState()
	}
}

func (s *sim) send(p *process) {
	m := message{from: p, req: p.request()}
	s.logf("%s sends %s, on its way", p.name, requestText(m.req))
	s.post(m)
}

// deliver brings a message to its end; keep leaves a copy under way.
func (s *sim) deliver(i int, keep bool) {
	if m := s.bag[i]; m.resp != nil {
		s.take(i, keep)
		m.from.take(m.req, m.resp)
		return
	}
	c := oneOf(s, "coordinator", s.coords)
	if keep {
		s.bag = append(s.bag, s.bag[i])
	}
	s.deliverTo(c, i, false)
}

func (s *sim) take(i int, keep bool) message {
	m := s.bag[i]
	if !keep {
		s.bag = append(s.bag[:i:i], s.bag[i+1:]...)
	}
	return m
}

// deliverTo hands a request to a coordinator, perhaps together with another one. The
// decision is carried out at once, or loaded for now and finished later.
func (s *sim) deliverTo(c *coordinator, i int, atOnce bool) {
	msgs := []message{s.take(i, false)}
	if !atOnce && s.draw.pick("batch", 3) == 2 {
		for j, m := range s.bag {
			if m.resp == nil {
				msgs = append(msgs, s.take(j, false))
				break
			}
		}
	}
	if c.pending != nil {
		s.finish(c, lives)
	}
	if s.draw.pick("cached", 2) == 0 && s.steady(c, msgs) {
		return
	}
	s.begin(c, msgs)
	if atOnce || s.draw.pick("later", 3) < 2 {
		s.finish(c, lives)
	}
}

func (s *sim) drop(i int) { s.take(i, false) }

func (s *sim) tick(c *coordinator) {
	if c.pending != nil {
		s.finish(c, lives)
	}
	s.begin(c, nil)
	if s.draw.pick("later", 3) < 2 {
		s.finish(c, lives)
	}
}

// ids are few, so that processes meet under one.
func (s *sim) ids() []string { return []string{"a", "b", "c"} }

func (s *sim) newcomer() {
	old := s.has("old clients") && s.draw.pick("old", 3) == 2
	free := slicesWithout(s.ids(), s.alive())
	if len(free) == 0 {
		return
	}
	p := s.start(oneOf(s, "id", free), old)
	s.logf("%s starts, old=%v", p.name, old)
}

func slicesWithout(ids []string, procs []*process) []string {
	var free []string
	for _, id := range ids {
		taken := false
		for _, p := range procs {
			taken = taken || p.id == id
		}
		if !taken {
			free = append(free, id)
		}
	}
	return free
}

// goodbye lets a process leave or suspend. An old one only says so and is gone.
func (s *sim) goodbye(p *process) {
	epoch := protocol.EpochLeave
	if s.draw.pick("suspend", 2) == 1 {
		epoch = protocol.EpochSuspend
	}
	p.depart(epoch)
	s.logf("%s departs with %d", p.name, epoch)
	s.send(p)
	if p.old {
		p.gone = true
	}
}

// crash ends a process without a word; another life of the same member may follow at once.
func (s *sim) crash(p *process) {
	p.gone = true
	s.logf("%s crashes", p.name)
	if s.draw.pick("restart", 2) == 1 {
		n := s.start(p.id, p.old)
		s.logf("%s restarts as %s", p.name, n.name)
	}
}

func (s *sim) twin(p *process) {
	n := s.start(p.id, p.old && s.draw.pick("old", 2) == 0)
	s.logf("%s starts beside %s, old=%v", n.name, p.name, n.old)
}

// lie sends a report that names a shard which the process does not read (R1).
func (s *sim) lie(p *process) {
	shard := s.draw.pick("shard", s.most())
	if p.shards[shard] != idle {
		return
	}
	p.misbehaved = true
	req := p.request()
	req.OwnedShards = append(req.OwnedShards, protocol.ShardID{ShardIndex: shard})
	s.logf("%s claims shard %d: %s", p.name, shard, requestText(req))
	s.post(message{from: p, req: req})
}

func (s *sim) crashCoordinator(c *coordinator) {
	c.drive = nil
	switch {
	case c.pending == nil:
		s.logf("%s restarts", c.name)
		c.cache, c.seen = nil, group.Sighting{}
	case s.draw.pick("crash", 2) == 0:
		s.finish(c, beforeCommit)
	default:
		s.finish(c, beforeAnswer)
	}
}

// failOver puts the store back by up to two commits, under another identity (M1). Where
// an old client can take over from another one no commit is lost: two processes without
// an incarnation that both have been let in, one of them in a lost commit, cannot be told
// apart.
func (s *sim) failOver() {
	lost := s.draw.pick("lost commits", min(2, len(s.store.history))+1)
	if s.has("old clients") && (s.has("twins") || s.has("crashes")) {
		lost = 0
	}
	s.store.failOver(lost)
	s.logf("store fails over and loses %d commits, now %s", lost, s.store.identity)
	s.visit("failover")
	s.excuse("")
}

// jump moves the store's clock ahead; both coordinators have seen it before (T1).
func (s *sim) jump() {
	steps := []int64{ms(s.cfg.Lease) / 5, ms(s.cfg.Lease), 3 * ms(s.cfg.Lease)}
	s.store.offset += steps[s.draw.pick("jump", len(steps))]
	for _, c := range s.coords {
		c.cache = nil
	}
	s.logf("store clock jumps to %d", s.clock())
	s.visit("jump")
}

func requestText(r *protocol.HeartbeatRequest) string {
	return fmt.Sprintf("%s e%d v%d %s seq %d own %v rev %v", r.RequestID, r.MemberEpoch, r.MetadataVersion, r.Lineage, r.Sequence,
		indexes(r.OwnedShards), r.RevokingShards)
}

func answerText(r *protocol.HeartbeatResponse) string {
	return fmt.Sprintf("%s %s e%d v%d %s lease %d assigned %v pending %v %s", r.ResponseTo, r.Status, r.MemberEpoch, r.MetadataVersion,
		r.Lineage, r.LeaseMs, indexes(r.Assignment.AssignedShards), indexes(r.Assignment.PendingShards), r.Reason)
}

func outcome(out group.Output) string {
	words := make([]string, 0, len(out.Changes))
	for _, c := range out.Changes {
		words = append(words, changeText(c))
	}
	if out.Next == nil {
		return "touch"
	}
	return fmt.Sprintf("v%d %s", out.Next.MetadataVersion, strings.Join(words, ", "))
}
