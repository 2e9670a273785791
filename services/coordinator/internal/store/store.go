// Package store is the contract between the coordinator and the place that keeps its
// metadata. Records are opaque here: the store guards them, it does not read them.
//
// A record has a structure (the aggregate) that changes by Create, Commit and Delete
// only, and beside it the liveness of each member, which a steady heartbeat moves by
// Touch without reading or writing the aggregate (storage design). Every call returns
// the store's clock, the only time that decides about leases (protocol T1).
//
// All implementations pass the one conformance suite in storetest.
package store

import (
	"context"
	"time"
)

// Millis is a time of the store's clock in milliseconds since 1970.
type Millis int64

// Add returns the time d later, cut to milliseconds.
func (m Millis) Add(d time.Duration) Millis { return m + Millis(d/time.Millisecond) }

// Key names a record: a group's, or the stream's own one where Group is empty (L1).
type Key struct {
	Stream string
	Group  string
}

// Version guards a record. The token is random, because a revision alone repeats
// after the store went back in time (protocol T07).
type Version struct {
	Revision int64
	Token    string
}

// Record is a stored record as one atomic read saw it.
type Record struct {
	Key       Key
	Version   Version
	Schema    int    // schema version of Aggregate, for the codec
	Aggregate []byte // owned by the caller after the call
}

// Snapshot is what Load returns.
type Snapshot struct {
	// Record is nil when the version that the caller already has is the stored one.
	Record *Record
	// Version is the stored version, also when Record is nil.
	Version Version
	// Liveness is keyed by member id.
	Liveness map[string]Liveness
	// ServedAt is when a coordinator last served the group; 0 when never (T1).
	ServedAt Millis
	// Clock is the store's clock at the read.
	Clock Millis
	// Identity names the store's history (replication id and run id); it is "none"
	// where the store cannot tell, and then it is no evidence (M1).
	Identity string
}

// IdentityUnknown is the identity of a store that cannot tell its history.
const IdentityUnknown = "none"

// Liveness is what a member's heartbeats move without a structural commit.
type Liveness struct {
	// Deadline is the end of the member's lease on the store's clock.
	Deadline Millis
	// HeardAt is when the last heartbeat was applied.
	HeardAt Millis
	// Incarnation, Sequence and RequestID belong to the last applied request (E5).
	Incarnation string
	Sequence    int64
	RequestID   string
	// SyncVersion is the metadata version at which the member last was synchronised (M4).
	SyncVersion int64
	// Detail is progress and capacity, opaque to the store.
	Detail []byte
	// Successor is the incarnation of another process that asks for the id, and
	// SuccessorAt when it last did (J4); written by Touch and Commit as Newcomers.
	Successor   string
	SuccessorAt Millis
}

// Beat is a heartbeat to be recorded: the store sets HeardAt to its clock and
// Deadline to clock + Lease.
//
// A beat is applied unless it repeats: stored incarnation equal and Sequence (if
// above 0) not above the stored one, or no Sequence and RequestID equal (E5). A beat
// that repeats writes nothing. Forced beats (a join) are applied in any case.
type Beat struct {
	Member      string
	Incarnation string
	Sequence    int64
	RequestID   string
	SyncVersion int64
	Detail      []byte
	Lease       time.Duration
	Forced      bool
}

// Newcomer records that another process asks for a member id (J4). The time is the
// store's clock. It moves nothing else of the member.
type Newcomer struct {
	Member      string
	Incarnation string
}

// Touch is a batch of heartbeats that change nothing structural. With no beats it
// only tells that the group is served.
//
// A touch that rests on a state of some time ago renews only leases that still run by the
// store's clock. When one has run out, or is not known, a later commit may have given the
// member's shards away, and the store may have lost that commit: the version is the old one
// again, and who got the shards still reads them (H3, M1).
type Touch struct {
	Key     Key
	Version Version // compared in the same atomic step, both parts
	// Identity, when not empty, tells that the decision was taken on a state just loaded
	// from the store of that name. It is compared as in Commit, and leases that have run
	// out are renewed too: the decision knew of them. It is empty in a touch that rests on
	// a cached state.
	Identity  string
	Beats     []Beat
	Newcomers []Newcomer
	// ServedEvery bounds how often ServedAt is written.
	ServedEvery time.Duration
}

// Touched answers a Touch.
type Touched struct {
	Clock Millis
	// Deadlines has one entry for each beat, in order: the member's deadline after
	// the call, whether or not the beat was applied.
	Deadlines []Millis
	// Applied tells for each beat whether it was written; false is a repeat.
	Applied []bool
}

// Create makes a record with revision 1.
type Create struct {
	Key       Key
	Token     string
	Schema    int
	Aggregate []byte
	// Event is appended to the record's history when not empty.
	Event []byte
}

// Commit replaces a record's structure.
type Commit struct {
	Key Key
	// Prev must be the stored version, both parts; the new revision is Prev.Revision + 1.
	Prev Version
	// Token is the random token of the new version.
	Token     string
	Schema    int
	Aggregate []byte
	// Identity must be the store's identity unless it is empty or IdentityUnknown (MUT35).
	Identity string
	// Unmoved are members whose deadline and sequence the decision used: the
	// commit is refused when one of them has moved (T3).
	Unmoved map[string]Observed
	// Beats are the members heard in this commit; no other liveness is written (T3).
	Beats []Beat
	// Newcomers as in Touch.
	Newcomers []Newcomer
	// Forget are members whose liveness goes (J6), before the beats are applied.
	Forget []string
	// Event is appended to the record's history when not empty.
	Event []byte
	// Lease, when not empty, is the fencing token of the multi-step lease on the key
	// that must still be held.
	Lease string
}

// Observed is the part of a member's liveness that a decision rests on. A member
// without liveness is the zero value.
type Observed struct {
	Deadline Millis
	Sequence int64
}

// Committed answers Create, Commit and Delete.
type Committed struct {
	Version Version
	Clock   Millis
	// Deadlines and Applied as in Touched, one entry for each beat.
	Deadlines []Millis
	Applied   []bool
}

// Store keeps records. Implementations are safe for concurrent use. Errors wrap one of
// the sentinels of this package; anything that cannot be told apart is ErrUnavailable.
type Store interface {
	// Load reads a record with its liveness. When known is the stored version the
	// aggregate is not transferred and Snapshot.Record is nil. The zero Version
	// always transfers. ErrNotFound, ErrCorrupt.
	Load(ctx context.Context, key Key, known Version) (Snapshot, error)
	// Create makes the record if it is absent: ErrExists otherwise.
	Create(ctx context.Context, c Create) (Committed, error)
	// Commit is compare-and-set: ErrConflict when the version, the identity, the
	// lease or observed liveness differ, ErrNotFound when the record is gone. Create
	// and Commit whose token is already the stored one are the same request again,
	// after its answer was lost: they succeed and write nothing.
	Commit(ctx context.Context, c Commit) (Committed, error)
	// Touch writes liveness only: ErrConflict when the version or the identity differs, or
	// when it has no identity and the lease of a member heard does not run (but for forced
	// beats), and then nothing was written; ErrNotFound when the record is gone.
	Touch(ctx context.Context, t Touch) (Touched, error)
	// Delete removes the record of exactly that version with its liveness; the zero
	// Version removes only a record whose guard fields cannot be read (M6).
	// The history stays for its retention, with event appended when that is not empty; a
	// store that has no room for the event deletes all the same. ErrConflict, ErrNotFound.
	Delete(ctx context.Context, key Key, version Version, event []byte) (Committed, error)
	// List returns the keys of all records, from an index that may name records
	// that are gone; callers skip those.
	List(ctx context.Context) ([]Key, error)
	// Lease takes the key's multi-step lease for ttl, or fails with ErrBusy. Only the
	// holder of the returned token releases or extends it.
	Lease(ctx context.Context, key Key, ttl time.Duration) (Lease, error)
	// Ping tells whether the store answers, and its clock.
	Ping(ctx context.Context) (Millis, error)
}

// Lease is a multi-step lease that is held.
type Lease interface {
	// Token is the fencing token for Commit.Lease.
	Token() string
	// Extend moves the end to ttl from now, or fails with ErrBusy when it was lost.
	Extend(ctx context.Context, ttl time.Duration) error
	// Release gives the lease back if it is still held; it is idempotent.
	Release(ctx context.Context) error
}
