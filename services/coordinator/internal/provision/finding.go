package provision

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// Finding is what a script saw on one shard, in one step on the primary (protocol L4).
type Finding struct {
	// Index is the shard's.
	Index int
	// Reason is what keeps the shard from being empty, "" when it is proven empty. With
	// DrainLagUnknown and DrainLagContradicts nothing is unread and nothing pending for any
	// group, as the other reasons are looked for first: what L9 needs.
	Reason protocol.DrainReason
	// Proof is what the emptiness rests on; "" when it is not proven, and for a seal that
	// was there before.
	Proof protocol.DrainProof
	// Sealed tells that the shard is sealed by this resharding, now or before.
	Sealed bool
	// Stale tells that the marker names another phase: nothing was done, nothing else is
	// filled in (protocol L2).
	Stale bool
	// Pending and Lag are summed over all Redis groups; nil when unknown. A lag is unknown
	// also where what Redis says of it cannot be true.
	Pending, Lag *int64
	// Tail is the first entry that BlockingGroup was not given, "" for none.
	Tail string
	// BlockingGroup is the group that Reason is about, BlockingConsumer its consumer with
	// the most pending entries; "" for none.
	BlockingGroup, BlockingConsumer string
	// LastID is the id of the last entry ever added, "" without a stream.
	LastID string
	// EntriesAdded is how many entries were ever added, nil when unknown.
	EntriesAdded *int64
	// Missing are the groups of the stream that are not there.
	Missing []string
	// Groups is what Redis says of each group on the key, foreign ones included, by name.
	Groups []GroupEvidence
	// RetiredBy is the resharding whose seal is in the key's place, "" for none.
	RetiredBy string
	// Err is why a proven shard could not be sealed: ErrRetired.
	Err error
}

// GroupEvidence is what Redis says of one group.
type GroupEvidence struct {
	// Name is the group's, LastDelivered the id of its cursor.
	Name, LastDelivered string
	// Pending is how many entries were delivered and not acknowledged.
	Pending int64
	// Lag is how many entries wait, EntriesRead how many were read; nil when Redis does not
	// know, or says something negative (field cases F03, F04).
	Lag, EntriesRead *int64
}

// reportLength is the number of entries in a report behind its word; the last one tells
// whether a replica follows.
const reportLength = 12

// finding reads the report about a shard.
func finding(on shard, rest []any) (Finding, error) {
	f := Finding{Index: on.index}
	if len(rest) != reportLength {
		return f, redisx.ErrReply
	}
	var reason string
	for i, into := range map[int]*string{
		0: &reason, 3: &f.Tail, 4: &f.BlockingGroup, 5: &f.BlockingConsumer, 6: &f.LastID, 8: &f.RetiredBy,
	} {
		said, ok := text(rest, i)
		if !ok {
			return f, redisx.ErrReply
		}
		*into = said
	}
	f.Reason = protocol.DrainReason(reason)
	f.Pending, f.Lag, f.EntriesAdded = number(rest[1]), number(rest[2]), number(rest[7])
	missing, ok := rest[9].([]any)
	if !ok {
		return f, redisx.ErrReply
	}
	if f.Missing, ok = texts(missing); !ok {
		return f, redisx.ErrReply
	}
	groups, ok := rest[10].([]any)
	if !ok {
		return f, redisx.ErrReply
	}
	for _, item := range groups {
		g, err := evidence(item)
		if err != nil {
			return f, err
		}
		f.Groups = append(f.Groups, g)
	}
	return f, nil
}

func evidence(item any) (GroupEvidence, error) {
	said, _ := item.([]any)
	if len(said) != 5 {
		return GroupEvidence{}, redisx.ErrReply
	}
	name, named := text(said, 0)
	last, placed := text(said, 1)
	pending := number(said[2])
	if !named || !placed || pending == nil {
		return GroupEvidence{}, redisx.ErrReply
	}
	return GroupEvidence{
		Name: name, LastDelivered: last, Pending: *pending, Lag: number(said[3]), EntriesRead: number(said[4]),
	}, nil
}
