// Package records keeps the records of streams in a store, for the workflows that change
// them: creation and deletion of groups, and reshardings.
//
// Every workflow changes the stream's record by compare-and-set before anything else
// (protocol L1). A multi-step lease keeps workflows of one stream apart, so that they do
// not do each other's work; what holds is the record.
package records

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// releaseTimeout bounds giving a lease back; it ends by itself otherwise.
const releaseTimeout = 5 * time.Second

// Records is safe for concurrent use. All fields are required.
type Records struct {
	Store store.Store
	// Nonce returns a fresh random name with every call.
	Nonce func() string
	// LeaseTTL is when the lease of a workflow that died ends.
	LeaseTTL time.Duration
	// Schema tells, at each write, the schema that records are written in (storage, Versions).
	Schema func() int
	Log    *slog.Logger
}

// Entry is a stream's record with its version; a zero Version is a stream to be made.
type Entry struct {
	Stream  stream.Stream
	Version store.Version
	Clock   store.Millis // the store's clock at the last call
}

// Load reads a stream's record. found is false when there is none.
func (r Records) Load(ctx context.Context, prefix string) (e Entry, found bool, err error) {
	record, loaded, err := loop.LoadStream(ctx, r.Store, prefix)
	if errors.Is(err, store.ErrNotFound) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, loop.Fault(err)
	}
	return Entry{Stream: record, Version: loaded.Version, Clock: loaded.Clock}, true, nil
}

// Save creates or commits the record, if it differs from what e holds, and brings e up to
// it. lease is the token of the workflow's lease. STATE_VERSION_CONFLICT when the record
// changed meanwhile; nothing is written then.
func (r Records) Save(ctx context.Context, e *Entry, next stream.Stream, lease string) error {
	if e.Version != (store.Version{}) && next.MetadataVersion == e.Stream.MetadataVersion {
		return nil
	}
	schema := r.Schema()
	aggregate, err := codec.EncodeStream(schema, next)
	if err != nil {
		return fmt.Errorf("save stream %s: %w", next.Prefix, err)
	}
	key := store.Key{Stream: next.Prefix}
	var done store.Committed
	if e.Version == (store.Version{}) {
		done, err = r.Store.Create(ctx, store.Create{Key: key, Token: r.Nonce(), Schema: schema, Aggregate: aggregate})
	} else {
		done, err = r.Store.Commit(ctx, store.Commit{
			Key: key, Prev: e.Version, Token: r.Nonce(), Schema: schema, Aggregate: aggregate, Lease: lease,
		})
	}
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrExists) {
		return protocol.Errorf(protocol.CodeStateVersionConflict, "stream %q changed meanwhile, try again", next.Prefix).Because(err)
	}
	if err != nil {
		return loop.Fault(err)
	}
	e.Stream, e.Version, e.Clock = next, done.Version, done.Clock
	return nil
}

// Alone runs a workflow under the stream's multi-step lease, which it is given.
// COORDINATOR_STATE_MUTEX_UNAVAILABLE when another one is under way.
func (r Records) Alone(ctx context.Context, prefix string, workflow func(lease store.Lease) error) error {
	lease, err := r.Store.Lease(ctx, store.Key{Stream: prefix}, r.LeaseTTL)
	if errors.Is(err, store.ErrBusy) {
		return protocol.Errorf(protocol.CodeStateMutexUnavailable,
			"another change of stream %q is under way, try again", prefix).Because(err)
	}
	if err != nil {
		return loop.Fault(err)
	}
	defer func() {
		// The caller may be gone; the lease is given back all the same.
		release, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		if err := lease.Release(release); err != nil {
			r.Log.Warn("multi-step lease not given back, it ends by itself", "stream", prefix, "error", err)
		}
	}()
	return workflow(lease)
}

// Resharding refuses what may not be done while the stream is resharded (L1).
func Resharding(s stream.Stream) *protocol.Error {
	r := s.Resharding
	return protocol.Errorf(protocol.CodeActiveMigrationExists,
		"stream %q is being resharded from %d to %d shards (%s, %s); wait for it or roll it back", s.Prefix, r.From, r.To, r.ID, r.Phase)
}
