package pgstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Announce implements store.Registry.
func (s *Store) Announce(ctx context.Context, peer store.Peer, ttl time.Duration) ([]store.Peer, error) {
	if err := store.CheckPeer(peer.ID); err != nil {
		return nil, err
	}
	var known []store.Peer
	read := func(rows pgx.Rows) (err error) {
		known, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (store.Peer, error) {
			var found store.Peer
			err := row.Scan(&found.ID, &found.Reads, &found.Writes)
			return found, err
		})
		return err
	}
	err := s.call(ctx, writes, read, "SELECT id, reads, writes FROM rsc_announce($1, $2, $3, $4)",
		peer.ID, peer.Reads, peer.Writes, ttl.Milliseconds())
	if err != nil {
		return nil, fmt.Errorf("announce the coordinator: %w", err)
	}
	slices.SortFunc(known, func(a, b store.Peer) int { return cmp.Compare(a.ID, b.ID) })
	return known, nil
}

// Withdraw implements store.Registry.
func (s *Store) Withdraw(ctx context.Context, id string) error {
	if err := store.CheckPeer(id); err != nil {
		return err
	}
	var gone bool
	err := s.call(ctx, writes, into(&gone), "WITH gone AS (DELETE FROM rsc_coordinator WHERE id = $1) SELECT true", id)
	if err != nil {
		return fmt.Errorf("withdraw the coordinator: %w", err)
	}
	return nil
}
