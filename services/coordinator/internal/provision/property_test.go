package provision

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// model is a stream as this test understands it, without asking Redis.
type model struct {
	next   int   // the id of the next entry, as in "7-0"
	live   []int // entries that are there, ascending
	groups map[string]*cursor
}

type cursor struct {
	at      int
	pending map[int]bool
}

// tail returns the first entry that a group was not given, 0 for none.
func (m *model) tail(c *cursor) int {
	for _, id := range m.live {
		if id > c.at {
			return id
		}
	}
	return 0
}

// verdict is what the shard may be said to be, and for which group.
func (m *model) verdict() (reason protocol.DrainReason, group string) {
	for _, name := range slices.Sorted(maps.Keys(m.groups)) {
		if m.tail(m.groups[name]) != 0 {
			return protocol.DrainUnread, name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.groups)) {
		if len(m.groups[name].pending) > 0 {
			return protocol.DrainPending, name
		}
	}
	if len(m.groups) == 0 && len(m.live) > 0 {
		return protocol.DrainUnread, ""
	}
	return "", ""
}

func idOf(n int) string { return strconv.Itoa(n) + "-0" }

// play does one random thing to the shard and to the model.
func (m *model) play(t *rapid.T, b *bench) {
	name := rapid.SampledFrom([]string{"a", "g", "z"}).Draw(t, "group")
	group := m.groups[name]
	pick := func() int { return rapid.IntRange(0, m.next).Draw(t, "id") }
	do := func(args ...any) {
		require.NoError(t, b.rdb.Do(b.t.Context(), args...).Err(), "%v", args)
	}
	switch action := rapid.IntRange(0, 9).Draw(t, "action"); {
	case action <= 2: // add
		do("XADD", "orders:0", idOf(m.next), "f", "v")
		m.live = append(m.live, m.next)
		m.next++
	case action == 3 && len(m.live) > 0: // delete
		id := rapid.SampledFrom(m.live).Draw(t, "entry")
		do("XDEL", "orders:0", idOf(id))
		m.live = slices.DeleteFunc(m.live, func(n int) bool { return n == id })
	case action == 4: // trim
		keep := rapid.IntRange(0, 3).Draw(t, "keep")
		do("XTRIM", "orders:0", "MAXLEN", keep)
		m.live = m.live[max(0, len(m.live)-keep):]
	case group == nil: // create, with a counter that may lie
		at := pick()
		args := []any{"XGROUP", "CREATE", "orders:0", name, idOf(at)}
		if rapid.Bool().Draw(t, "lie") {
			args = append(args, "ENTRIESREAD", rapid.IntRange(0, 9).Draw(t, "read"))
		}
		do(args...)
		m.groups[name] = &cursor{at: at, pending: map[int]bool{}}
	case action <= 6: // read
		for range rapid.IntRange(1, 3).Draw(t, "count") {
			id := m.tail(group)
			if id == 0 {
				break
			}
			do("XREADGROUP", "GROUP", name, "c", "COUNT", 1, "STREAMS", "orders:0", ">")
			group.at = id
			group.pending[id] = true
		}
	case action == 7: // acknowledge all but a few
		for _, id := range slices.Sorted(maps.Keys(group.pending)) {
			if rapid.IntRange(0, 9).Draw(t, "ack") > 0 {
				do("XACK", "orders:0", name, idOf(id))
				delete(group.pending, id)
			}
		}
	case action == 8: // move the cursor
		group.at = pick()
		args := []any{"XGROUP", "SETID", "orders:0", name, idOf(group.at)}
		if rapid.Bool().Draw(t, "lie") {
			args = append(args, "ENTRIESREAD", rapid.IntRange(0, 9).Draw(t, "read"))
		}
		do(args...)
	case action == 9 && name != "g": // "g" is the stream's own
		do("XGROUP", "DESTROY", "orders:0", name)
		delete(m.groups, name)
	}
}

// TestI12SealedImpliesProvenEmpty over random streams whose counters lie: what Redis says
// of the lag never outweighs an entry that is there, and nothing is sealed but what the
// model calls empty.
func TestI12SealedImpliesProvenEmpty(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	var byLag, byTail int
	rapid.Check(t, func(t *rapid.T) {
		b.do("FLUSHALL")
		b.made(1)
		b.mark(1, sealing())
		m := &model{next: 1, groups: map[string]*cursor{"g": {pending: map[int]bool{}}}}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			m.play(t, b)
			reason, group := m.verdict()
			f := b.prove(0, "g")
			switch {
			case reason != "":
				require.Equal(t, reason, f.Reason)
				require.Equal(t, group, f.BlockingGroup)
				if reason == protocol.DrainUnread {
					require.Equal(t, idOf(m.tail(m.groups[group])), f.Tail)
				}
			case f.Reason != "":
				require.Contains(t, []protocol.DrainReason{protocol.DrainLagUnknown, protocol.DrainLagContradicts}, f.Reason)
			}
			accepted := rapid.SampledFrom([]protocol.DrainProof{protocol.ProofLag, protocol.ProofTail}).Draw(t, "accepted")
			s := b.seal(0, RetainForever, accepted)
			require.Equal(t, f.Reason == "" || reason == "" && accepted == protocol.ProofTail, s.Sealed)
			if !s.Sealed {
				require.Equal(t, judgedOf(f), judgedOf(s))
				continue
			}
			if s.Proof == protocol.ProofLag {
				byLag++
			} else {
				byTail++
			}
			require.Empty(t, reason, "sealed what is not empty")
			require.NoError(t, b.Unseal(b.t.Context(), "orders", []int{0}, sealing(), groups()))
		}
	})
	require.Positive(t, byLag)
	require.Positive(t, byTail, "the counters did lie")
}
