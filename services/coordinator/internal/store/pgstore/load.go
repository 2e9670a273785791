package pgstore

import (
	"context"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// loadStatement reads a record with its liveness as of one moment. It has a row also where
// there is no record, so that a standby refuses before anybody concludes that.
const loadStatement = `
SELECT server.clock, server.identity, r.revision, r.token, r.schema_version, r.served_at,
	CASE WHEN r.revision = $3 AND r.token = $4 THEN NULL ELSE r.aggregate END,
	l.members, l.deadlines, l.heard, l.incarnations, l.sequences, l.requests, l.syncs, l.details, l.successors, l.asked
FROM (SELECT rsc_clock() AS clock, rsc_identity() AS identity) AS server
LEFT JOIN rsc_record r ON r.stream_prefix = $1 AND r.consumer_group = $2
LEFT JOIN LATERAL (
	SELECT array_agg(member_id) AS members, array_agg(deadline) AS deadlines, array_agg(heard_at) AS heard,
		array_agg(incarnation) AS incarnations, array_agg(sequence) AS sequences, array_agg(request_id) AS requests,
		array_agg(sync_version) AS syncs, array_agg(detail) AS details, array_agg(successor) AS successors,
		array_agg(successor_at) AS asked
	FROM rsc_liveness WHERE stream_prefix = $1 AND consumer_group = $2
) AS l ON r.revision IS NOT NULL`

// stored is a record as loadStatement answers; pointers are null without one.
type stored struct {
	clock     store.Millis
	identity  string
	revision  *int64
	token     []byte
	schema    *int
	servedAt  *store.Millis
	aggregate []byte
	liveness  columns
}

// columns are the rows of a record's liveness, one slice a column.
type columns struct {
	members                                     []string
	deadlines, heard, sequences, syncs, asked   []int64
	incarnations, requests, details, successors [][]byte
}

// Load implements store.Store. A server that takes no writes refuses it with READONLY.
func (s *Store) Load(ctx context.Context, key store.Key, known store.Version) (store.Snapshot, error) {
	if err := key.Check(s.options.KeyPrefix); err != nil {
		return store.Snapshot{}, err
	}
	var found stored
	l := &found.liveness
	read := into(&found.clock, &found.identity, &found.revision, &found.token, &found.schema, &found.servedAt, &found.aggregate,
		&l.members, &l.deadlines, &l.heard, &l.incarnations, &l.sequences, &l.requests, &l.syncs, &l.details, &l.successors, &l.asked)
	err := s.call(ctx, reads, read, loadStatement, key.Stream, key.Group, known.Revision, []byte(known.Token))
	if err != nil {
		return store.Snapshot{}, fmt.Errorf("load %q: %w", key, err)
	}
	return found.snapshot(key, known)
}

func (s *stored) snapshot(key store.Key, known store.Version) (store.Snapshot, error) {
	if s.revision == nil || s.schema == nil || s.servedAt == nil {
		return store.Snapshot{}, refusal(key, wordMissing, nil)
	}
	if flaw := s.flaw(); flaw != "" {
		return store.Snapshot{}, refusal(key, wordCorrupt, &flaw)
	}
	snapshot := store.Snapshot{
		Version:  store.Version{Revision: *s.revision, Token: string(s.token)},
		Liveness: s.liveness.byMember(),
		ServedAt: *s.servedAt,
		Clock:    s.clock,
		Identity: s.identity,
	}
	if snapshot.Version != known {
		snapshot.Record = &store.Record{Key: key, Version: snapshot.Version, Schema: *s.schema, Aggregate: s.aggregate}
	}
	return snapshot, nil
}

// flaw names a guard field that cannot be what was written, as rsc_lock does.
func (s *stored) flaw() string {
	switch {
	case *s.revision < 1:
		return "revision"
	case len(s.token) == 0:
		return "token"
	case *s.schema < 0:
		return "schemaVersion"
	case *s.servedAt < 0:
		return "servedAt"
	default:
		return ""
	}
}

func (c *columns) byMember() map[string]store.Liveness {
	liveness := make(map[string]store.Liveness, len(c.members))
	for i, member := range c.members {
		liveness[member] = store.Liveness{
			Deadline:    store.Millis(c.deadlines[i]),
			HeardAt:     store.Millis(c.heard[i]),
			Incarnation: string(c.incarnations[i]),
			Sequence:    c.sequences[i],
			RequestID:   string(c.requests[i]),
			SyncVersion: c.syncs[i],
			Detail:      orNil(c.details[i]),
			Successor:   string(c.successors[i]),
			SuccessorAt: store.Millis(c.asked[i]),
		}
	}
	return liveness
}
