package reshard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// scene is a resharding with two coordinators: one that a fuse is in, and one that
// serves the members and takes over when the other one dies.
type scene struct {
	*bench
	doomed *coordinator
	fuse   *fuse
	over   bool           // the lease that was held when the fuse blew is over
	sent   map[string]int // records published, by shard key
	quiet  bool           // nothing is published
	lost   bool           // members miss a shard
}

// story is what happens to a stream of two or four shards and its groups "a" and "b".
type story struct {
	name string
	from int
	live func(s *scene)
}

func stories() []story {
	return []story{
		{"scale-in", 4, func(s *scene) {
			s.scale(2)
			s.finish()
		}},
		{"scale-out", 2, func(s *scene) {
			s.scale(4)
			s.finish()
		}},
		{"scale-in behind a lost shard", 4, func(s *scene) {
			s.quiet, s.lost = true, true
			s.do("DEL", s.key(1))
			s.goOn("made again", func() bool {
				return len(s.stream().Lost) == 0 && s.rdb.Exists(s.t.Context(), s.key(1)).Val() == 1 && len(s.crew[0].missing) == 0
			})
			s.quiet, s.lost = false, false
			s.scale(2)
			s.finish()
		}},
		{"rollback of a scale-in that has sealed a shard", 4, func(s *scene) {
			s.crew[0].skips, s.crew[1].skips = []int{3}, []int{3}
			s.add(3)
			id := s.scale(2)
			s.goOn("one shard sealed", func() bool {
				r := s.stream().Resharding
				return r != nil && len(r.Shards) == 2 && r.Shards[0].Step == "SEALED" && r.Shards[1].Reason == "UNREAD"
			})
			s.rollback(id)
			s.crew[0].skips, s.crew[1].skips = nil, nil
			s.finish()
		}},
		{"rollback of a scale-out whose shards were written to", 2, func(s *scene) {
			s.crew[0].keeps, s.crew[1].keeps = []int{0, 1}, []int{0, 1} // the group a comes to no rest
			s.join("a", "a-2")
			s.goOn("a hand-over", func() bool { return !s.group("a").Settled() })
			id := s.scale(4)
			s.goOn("routing", func() bool { return s.stream().ShardCount == 4 })
			s.rollback(id)
			s.finish()
			s.crew[0].keeps, s.crew[1].keeps = nil, nil
		}},
	}
}

// T27, I9, L1: at whichever call the process dies, before or after its effect, or only the
// answer is lost, the resharding ends as if nothing had happened, and meanwhile producers
// can publish to every shard that routing names.
func TestI9ReshardingEndsTheSameWhateverCallFails(t *testing.T) {
	t.Parallel()
	for _, story := range stories() {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			rdb := redisproc.Start(t).Client(t)
			want, calls := tell(t, rdb, "undisturbed", story, &fuse{})
			require.Greater(t, calls, 20)
			for _, kind := range []struct{ after, deadly bool }{{true, false}, {false, true}, {true, true}} {
				for at := 1; ; at++ {
					f := &fuse{at: at, after: kind.after, deadly: kind.deadly}
					got, _ := tell(t, rdb, fmt.Sprintf("at-%d-%t-%t", at, f.after, f.deadly), story, f)
					require.Equal(t, want, got, "call %d (%s) after=%t deadly=%t", at, f.lost, f.after, f.deadly)
					if !f.hasBlown() {
						break
					}
				}
			}
		})
	}
}

// tell lives a story through and returns what has become of the stream, and how many calls
// the doomed coordinator made.
func tell(t *testing.T, rdb *redis.Client, prefix string, story story, f *fuse) (picture, int) {
	t.Helper()
	b := newBench(t, rdb)
	b.prefix = prefix
	b.cfg.RoutingLease = 5 * time.Millisecond
	s := &scene{bench: b, doomed: b.still(), fuse: f, sent: map[string]int{}}
	b.lead = b.still()
	b.create(story.from, "a", "b")
	s.join("a", "a-1")
	s.join("b", "b-1")
	s.publishAll()
	s.settled()
	f.fit(s.doomed)
	story.live(s)
	s.settled()
	s.await("everything handled", func() bool {
		a, _ := s.handledBy("a")
		b, _ := s.handledBy("b")
		return a == s.total() && b == s.total()
	})
	return s.picture(), f.calls
}

// who goes on with the resharding. A lease that was left behind runs out.
func (s *scene) who() *coordinator {
	if s.fuse.hasBlown() && !s.over {
		s.do("DEL", protocol.DefaultKeyPrefix+":{"+s.prefix+"}:stream:lease")
		s.over = true
	}
	if s.fuse.dead() {
		return s.lead
	}
	return s.doomed
}

// goOn takes the resharding on until something has come about.
func (s *scene) goOn(what string, come func() bool) {
	s.t.Helper()
	s.await(what, func() bool {
		if come() {
			return true
		}
		blown := s.fuse.hasBlown()
		_, err := s.who().driver.Look(s.prefix, s.lost)
		if err != nil && blown == s.fuse.hasBlown() {
			require.Fail(s.t, "a look failed by itself", "%v after %s", err, s.fuse.lost)
		}
		s.publishAll()
		return come()
	})
}

// finish takes the resharding to its end.
func (s *scene) finish() {
	s.t.Helper()
	s.goOn("the resharding is over", func() bool { return s.stream().Resharding == nil })
}

// scale orders a resharding until one coordinator has taken the order.
func (s *scene) scale(to int) string {
	s.t.Helper()
	id, err := s.who().scale(s.t, s.prefix, to)
	if err == nil {
		return id
	}
	require.True(s.t, s.fuse.hasBlown(), "%v", err)
	if id, err = s.who().scale(s.t, s.prefix, to); err == nil {
		return id
	}
	requireCode(s.t, err, protocol.CodeActiveMigrationExists) // the first answer was lost
	return s.stream().Resharding.ID
}

// rollback orders a rollback until one coordinator has taken the order.
func (s *scene) rollback(id string) {
	s.t.Helper()
	order := protocol.RollbackRequest{RequestedBy: "ops", Reason: "regret"}
	_, err := s.who().service.Rollback(s.t.Context(), s.prefix, "a", id, order)
	if err == nil {
		return
	}
	require.True(s.t, s.fuse.hasBlown(), "%v", err)
	if _, err = s.who().service.Rollback(s.t.Context(), s.prefix, "a", id, order); err != nil {
		requireCode(s.t, err, protocol.CodeRollbackNotAllowed) // the first answer was lost
	}
}

// publishAll adds a record to every shard that routing names, up to five a shard: every
// one of them takes it (L3, L8).
func (s *scene) publishAll() {
	s.t.Helper()
	if s.quiet {
		return
	}
	routing, err := s.lead.catalog.Routing(s.t.Context(), s.prefix, "a")
	require.NoError(s.t, err)
	for _, shard := range routing.Shards {
		if s.sent[shard.StreamKey] < 5 {
			s.add(shard.ShardIndex)
		}
	}
}

func (s *scene) add(index int) {
	s.t.Helper()
	s.publish(index, 1)
	s.sent[s.key(index)]++
}

func (s *scene) total() int {
	total := 0
	for _, n := range s.sent {
		total += n
	}
	return total
}

// picture is what has become of a stream, without what may differ.
type picture struct {
	Shards  int
	State   string
	Removed []string
	Lost    []int
	Problem string
	Groups  []string
	Keys    []string
	Handled []int
	Twice   []int
	Rounds  int
	Retired int
}

func (s *scene) picture() picture {
	s.t.Helper()
	record := s.stream()
	require.Nil(s.t, record.Resharding)
	require.Len(s.t, record.Past, 1)
	past := record.Past[0]
	p := picture{Shards: record.ShardCount, State: string(past.Phase), Lost: record.Lost, Problem: past.Problem}
	for _, shard := range past.Shards {
		p.Removed = append(p.Removed, fmt.Sprintf("%d %s %s", shard.Index, shard.Step, shard.Proof))
	}
	for _, name := range record.Active() {
		g := s.group(name)
		require.Equal(s.t, record.LayoutVersion, g.LayoutVersion)
		holders := []string{}
		for _, h := range g.Holds {
			require.Zero(s.t, h.Lingers)
			holders = append(holders, h.Member)
		}
		slices.Sort(holders)
		p.Groups = append(p.Groups, fmt.Sprintf("%s %d+%d closed %v lost %v holds %v", name, g.ShardCount, g.Removed, g.Closed, g.Lost, holders))
		p.Rounds += len(g.Known)
		n, twice := s.handledBy(name)
		p.Handled, p.Twice = append(p.Handled, n-s.total()), append(p.Twice, twice)
	}
	for index := range 4 {
		kind := s.rdb.Type(s.t.Context(), s.key(index)).Val()
		if kind == "string" {
			require.Equal(s.t, "retired:"+past.ID, s.rdb.Get(s.t.Context(), s.key(index)).Val())
		}
		on := []string{}
		if kind == "stream" {
			for _, g := range s.rdb.XInfoGroups(s.t.Context(), s.key(index)).Val() {
				on = append(on, fmt.Sprintf("%s pending %d lag %d", g.Name, g.Pending, g.Lag))
			}
		}
		p.Keys = append(p.Keys, strings.Join(append([]string{kind}, on...), " "))
		p.Retired += int(s.rdb.Exists(s.t.Context(), s.lead.shards.RetiredKey(s.prefix, index, past.ID)).Val())
	}
	return p
}
