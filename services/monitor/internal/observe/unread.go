package observe

import (
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// tailBytes bounds what is read of a shard to count unread entries of all its groups, as far
// as the first and the last entry tell the size of the others.
const tailBytes = 128 << 10

// unread is what is known of the unread entries of a group without asking for them.
type unread struct {
	tail  *int64
	first *string
	// ask is how many entries to ask for, 0 for none. Fewer in the answer are all there are.
	ask int
}

// unreadOf tells what follows from a stream and its group. Entries are asked for one by one
// only where a small number of them is worth a proof: where Redis knows no lag, a small one,
// one that cannot be (F01 to F03), or was miscounted when they were last counted.
// Otherwise the first one is enough. groups is how many groups share what may be read.
func unreadOf(s redisx.Stream, g redisx.Group, groups int, miscounted bool) unread {
	delivered, err := redisx.ParseEntryID(g.LastDeliveredID)
	if err != nil {
		return unread{}
	}
	first, firstErr := redisx.ParseEntryID(s.FirstID)
	last, lastErr := redisx.ParseEntryID(s.LastID)
	switch {
	case firstErr != nil || lastErr != nil || delivered.Compare(last) >= 0:
		return unread{tail: new(int64(0))}
	case delivered.Compare(first) < 0:
		u := unread{first: &s.FirstID}
		if s.Length <= facts.TailLimit {
			u.tail = &s.Length
		}
		return u
	}
	lag, lagKnown := g.Lag.Value()
	if !miscounted && lagKnown && lag > facts.TailLimit && lag <= s.Length {
		return unread{ask: 1}
	}
	return unread{ask: min(facts.TailLimit+1, max(1, tailBytes/groups/max(1, s.EntryBytes)))}
}
