package group_test

import (
	"fmt"
	"maps"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// simStore is a store as the storage contract has it: versions with a token, liveness
// beside the structure, one atomic step for each call.
type simStore struct {
	sim      *sim
	g        *group.Group
	token    int
	tokens   int
	identity string
	offset   int64 // of the store's clock to true time
	live     map[string]group.Liveness
	servedAt group.Millis
	history  []simImage // what a failover can bring back, oldest first
}

// simImage is a state that the store has had.
type simImage struct {
	g        *group.Group
	token    int
	live     map[string]group.Liveness
	servedAt group.Millis
}

// view is what a load gave.
type view struct {
	g        *group.Group
	token    int
	identity string
	live     map[string]group.Liveness
	servedAt group.Millis
	clock    group.Millis
}

// stored is the outcome of a commit or touch.
type stored struct {
	clock     group.Millis
	deadlines []group.Millis
	applied   []bool
}

func newSimStore(s *sim) *simStore {
	st := &simStore{sim: s, identity: "store-0", live: map[string]group.Liveness{}}
	st.g = group.New(s.cfg, group.Birth{
		StreamPrefix: "orders", ConsumerGroup: "g", Layout: group.Whole(s.mix.shards),
		Lineage: s.nonce(), Identity: st.identity, Now: group.Millis(s.now), Barrier: s.has("used-shards"),
	})
	return st
}

func (st *simStore) load() *view {
	return &view{
		g: st.g, token: st.token, identity: st.identity, live: maps.Clone(st.live),
		servedAt: st.servedAt, clock: st.sim.clock(),
	}
}

// commit is compare-and-set on version, token, identity and the liveness relied on.
func (st *simStore) commit(on *view, out group.Output) (stored, bool) {
	if on.token != st.token && st.sim.mix.flaw != "cas checks before the write" {
		return stored{}, false
	}
	if on.identity != st.identity && st.sim.mix.flaw != "cas ignores identity" {
		return stored{}, false
	}
	if st.moved(out) && st.sim.mix.flaw != "cas ignores moved liveness" {
		return stored{}, false
	}
	st.history = append(st.history, simImage{g: st.g, token: st.token, live: maps.Clone(st.live), servedAt: st.servedAt})
	if len(st.history) > 2 {
		st.history = st.history[1:]
	}
	st.g = out.Next
	st.tokens++
	st.token = st.tokens
	for _, id := range out.Forget {
		delete(st.live, id)
	}
	st.servedAt = st.sim.clock()
	return st.hear(out), true
}

func (st *simStore) moved(out group.Output) bool {
	for id, seen := range out.Unmoved {
		if l := st.live[id]; l.Deadline != seen.Deadline || l.Sequence != seen.Sequence {
			return true
		}
	}
	return false
}

// touch writes liveness only.
func (st *simStore) touch(on *view, out group.Output) (stored, bool) {
	same := on.token == st.token
	if st.sim.mix.flaw == "touch compares the number only" {
		same = on.g.MetadataVersion == st.g.MetadataVersion
	}
	if !same {
		return stored{}, false
	}
	st.servedAt = st.sim.clock()
	return st.hear(out), true
}

func (st *simStore) hear(out group.Output) stored {
	done := stored{clock: st.sim.clock()}
	for _, b := range out.Beats {
		l := st.live[b.Request.MemberID]
		same := l.Incarnation == b.Request.Incarnation
		repeats := same && b.Request.Sequence > 0 && b.Request.Sequence <= l.Sequence ||
			same && b.Request.Sequence == 0 && b.Request.RequestID == l.RequestID
		if b.Forced || !repeats {
			l.Deadline, l.HeardAt = done.clock.Add(st.sim.cfg.Lease), done.clock
			l.Incarnation, l.Sequence, l.RequestID = b.Request.Incarnation, b.Request.Sequence, b.Request.RequestID
			l.SyncVersion = b.SyncVersion
			st.live[b.Request.MemberID] = l
		}
		done.deadlines = append(done.deadlines, l.Deadline)
		done.applied = append(done.applied, b.Forced || !repeats)
	}
	for _, n := range out.Newcomers {
		l := st.live[n.Member]
		l.Successor, l.SuccessorAt = n.Incarnation, done.clock
		st.live[n.Member] = l
	}
	return done
}

// failOver gives the store another identity and loses its last commits.
func (st *simStore) failOver(lost int) {
	st.identity = fmt.Sprintf("store-%d-%d", st.sim.now, st.tokens)
	if lost == 0 {
		return
	}
	image := st.history[len(st.history)-lost]
	st.history = st.history[:len(st.history)-lost]
	st.g, st.token, st.live, st.servedAt = image.g, image.token, maps.Clone(image.live), image.servedAt
}

// lostUnnoticed tells that writes may be lost and nobody has loaded the store since.
func (st *simStore) lostUnnoticed() bool { return st.identity != st.g.Identity }
