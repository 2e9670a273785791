package codec_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// schedule drives a group by random heartbeats and times, through the bytes: each state
// that a step leads to is stored and read before the next one.
type schedule struct {
	r        *rand.Rand
	cfg      group.Config
	g        *group.Group
	live     map[string]group.Liveness
	served   group.Millis
	now      group.Millis
	identity string
	sequence int64
	last     *protocol.HeartbeatRequest
	seen     map[string]bool
}

func newSchedule(seed uint64, seen map[string]bool) *schedule {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &schedule{r: r, cfg: group.DefaultConfig(), live: map[string]group.Liveness{}, now: 1_000_000, served: 1_000_000, identity: "one", seen: seen}
	s.cfg.StaleRetention = 30 * time.Second
	s.g = group.New(s.cfg, group.Birth{
		StreamPrefix: "orders", ConsumerGroup: "billing", Layout: group.Whole(r.IntN(4)), Lineage: "L0", Now: s.now, Barrier: r.IntN(4) == 0,
	})
	return s
}

// request is a heartbeat of anybody, mostly of one who knows the present state.
func (s *schedule) request() *protocol.HeartbeatRequest {
	s.sequence++
	if s.last != nil && s.r.IntN(12) == 0 {
		return s.last
	}
	req := &protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: fmt.Sprint(s.sequence), MemberID: []string{"a", "b", "c:1"}[s.r.IntN(3)],
		MetadataVersion: s.g.MetadataVersion, Sequence: s.sequence,
	}
	m, _ := s.g.Find(req.MemberID)
	req.Incarnation, req.MemberEpoch = m.Incarnation, m.Epoch
	if s.r.IntN(6) == 0 || m.Epoch == 0 {
		req.Incarnation = []string{"", "x", "y"}[s.r.IntN(3)]
	}
	if req.Incarnation != "" {
		req.Lineage = s.g.Lineage
	}
	switch s.r.IntN(14) {
	case 0, 1, 2, 3:
		req.MemberEpoch = 0
	case 4:
		req.MemberEpoch = -1
	case 5:
		req.MemberEpoch = -2
	case 6:
		req.MemberEpoch = max(1, m.JoinEpoch-int64(s.r.IntN(2)))
	case 7:
		s.claim(req)
	}
	s.list(req)
	s.last = req
	return req
}

// claim makes the request know of what the store does not (M1).
func (s *schedule) claim(req *protocol.HeartbeatRequest) {
	switch s.r.IntN(12) {
	case 0:
		req.MetadataVersion += 3
	case 1:
		req.MemberEpoch += 5
	case 2:
		req.Lineage = "lost" + req.RequestID
	}
}

// list reports what is held, or less, or more.
func (s *schedule) list(req *protocol.HeartbeatRequest) {
	for shard, h := range s.g.Holds {
		id := protocol.ShardID{ShardIndex: shard}
		switch mine := h.Member == req.MemberID; {
		case mine && s.r.IntN(4) > 0, s.r.IntN(20) == 0:
			req.OwnedShards = append(req.OwnedShards, id)
		case mine && s.r.IntN(2) == 0:
			req.RevokingShards = append(req.RevokingShards, protocol.RevokingShard{Shard: id, State: protocol.Revoked, InFlight: s.r.IntN(2)})
		}
	}
}

// input is the next step: some heartbeats, or a tick, after some time.
func (s *schedule) input() group.Input {
	pauses := []group.Millis{1, 250, 250, 1000, 1000, 1000, 3000, 5000, 9999, 10_000, 60_000}
	pause := pauses[s.r.IntN(len(pauses))]
	s.now += pause
	if pause < 10_000 { // another coordinator ticked meanwhile
		s.served = s.now
	}
	if s.r.IntN(150) == 0 {
		s.identity += "+"
	}
	if s.r.IntN(150) == 0 {
		delete(s.live, "a")
	}
	in := group.Input{
		Now: s.now, Fresh: true, Live: s.live, ServedAt: s.served, Identity: s.identity,
		ClockJumped: s.r.IntN(150) == 0, Nonce: fmt.Sprintf("L%d", s.sequence+1),
	}
	for range s.r.IntN(4) {
		in.Heartbeats = append(in.Heartbeats, s.request())
	}
	if s.r.IntN(8) == 0 {
		in.Layout = s.layout()
	}
	return in
}

// layout is another one of the stream: shards come, are removed, closed, lost or gone.
func (s *schedule) layout() *group.Layout {
	l := &group.Layout{Version: s.g.LayoutVersion + int64(s.r.IntN(3)), ShardCount: s.r.IntN(5), Cause: group.CauseScale}
	l.ReadCount = l.ShardCount + s.r.IntN(4)
	for shard := range l.ReadCount {
		if shard >= l.ShardCount && s.r.IntN(2) == 0 {
			l.Closed = append(l.Closed, shard)
		} else if s.r.IntN(6) == 0 {
			l.Lost = append(l.Lost, shard)
		}
	}
	return l
}

// step takes one step and stores what it leads to.
func (s *schedule) step(t *testing.T) {
	t.Helper()
	out := group.Step(s.cfg, s.g, s.input())
	if out.Next != nil {
		data := encoded(t, out.Next)
		next, err := codec.DecodeGroup(1, data)
		require.NoError(t, err, "%s\n%v", data, out.Changes)
		require.Equal(t, out.Next, next)
		require.Equal(t, string(data), string(encoded(t, next)))
		s.g = next
		s.visit()
	}
	s.served = s.now
	for _, b := range out.Beats {
		l := s.live[b.Request.MemberID]
		l.Deadline, l.HeardAt, l.SyncVersion = s.now.Add(s.cfg.Lease), s.now, b.SyncVersion
		l.Incarnation, l.Sequence, l.RequestID = b.Request.Incarnation, b.Request.Sequence, b.Request.RequestID
		s.live[b.Request.MemberID] = l
	}
	for _, n := range out.Newcomers {
		l := s.live[n.Member]
		l.Successor, l.SuccessorAt = n.Incarnation, s.now
		s.live[n.Member] = l
	}
	for _, id := range out.Forget {
		delete(s.live, id)
		s.seen["forgotten"] = true
	}
}

// visit notes what the state shows, so that a green run is not an empty one.
func (s *schedule) visit() {
	note := func(what string, is bool) { s.seen[what] = s.seen[what] || is }
	for _, m := range s.g.Members {
		s.seen[string(m.State)] = true
		note("drop timer", m.DropBy != 0)
		note("old client", m.Incarnation == "")
		note("floor of a round", m.RoundFloor != 0)
	}
	for i, h := range s.g.Holds {
		m, _ := s.g.Find(h.Member)
		note("told", h.Told)
		note("lingering", h.Lingers != 0)
		note("lingering of a former life", h.Lingers != 0 && m.State == group.Active && s.g.Target[i] == h.Member)
	}
	note("barrier", s.g.BarrierUntil != 0)
	note("barrier without round", s.g.BarrierUntil != 0 && s.g.Round == nil)
	note("round", s.g.Round != nil)
	note("round behind its barrier", s.g.Round != nil && s.g.BarrierUntil == 0)
	note("grace", s.g.GraceUntil != 0)
	note("claimed", s.g.ClaimedVersion != 0 && s.g.ClaimedEpoch != 0)
	note("removed", s.g.Removed > 0)
	note("closed", len(s.g.Closed) > 0)
	note("lost", len(s.g.Lost) > 0)
	note("held outside the reading set", len(s.g.Holds) > s.g.ReadCount())
	note("all lineages", len(s.g.Known) == group.MaxKnown)
}

// TestEveryGroupThatAStepLeadsToIsReadAgain: the decoder is strict, but never with what
// the core writes.
func TestEveryGroupThatAStepLeadsToIsReadAgain(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for seed := range uint64(30) {
		s := newSchedule(seed, seen)
		for range 120 {
			s.step(t)
		}
	}
	var missing []string
	for _, what := range []string{
		"ACTIVE", "LEAVING", "SUSPENDED", "WAITING", "EXPIRED", "FENCED", "LEFT", "forgotten", "drop timer", "old client",
		"floor of a round", "told", "lingering", "lingering of a former life", "barrier", "barrier without round", "round",
		"round behind its barrier", "grace", "claimed", "removed", "closed", "lost",
		"held outside the reading set",
	} {
		if !seen[what] {
			missing = append(missing, what)
		}
	}
	require.Empty(t, missing, "the schedules never came to these")
}

// TestM1KnownLineagesStayWithinWhatIsRead: more evidence than lineages are kept.
func TestM1KnownLineagesStayWithinWhatIsRead(t *testing.T) {
	t.Parallel()
	g, err := codec.DecodeGroup(1, golden(t, "group-new.json"))
	require.NoError(t, err)
	for i := range group.MaxKnown + 6 {
		out := group.Step(group.DefaultConfig(), g, group.Input{Now: 1_000_000, Fresh: true, Nonce: fmt.Sprintf("L%d", i), ClockJumped: true})
		g, err = codec.DecodeGroup(1, encoded(t, out.Next))
		require.NoError(t, err)
	}
	require.Len(t, g.Known, group.MaxKnown)
	require.True(t, slices.Contains(g.Known, "L60"))
}
