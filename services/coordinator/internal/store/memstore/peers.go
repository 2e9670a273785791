package memstore

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// announced is a coordinator with the end of its announcement.
type announced struct {
	peer  store.Peer
	until store.Millis
}

// Announce implements store.Registry.
func (s *Store) Announce(ctx context.Context, peer store.Peer, ttl time.Duration) ([]store.Peer, error) {
	if err := s.enter(ctx, store.CheckPeer(peer.ID)); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	clock := s.now()
	maps.DeleteFunc(s.peers, func(_ string, a announced) bool { return a.until <= clock })
	s.peers[peer.ID] = announced{peer: peer, until: clock.Add(ttl)}
	known := make([]store.Peer, 0, len(s.peers))
	for _, id := range slices.Sorted(maps.Keys(s.peers)) {
		known = append(known, s.peers[id].peer)
	}
	return known, nil
}

// Withdraw implements store.Registry.
func (s *Store) Withdraw(ctx context.Context, id string) error {
	if err := s.enter(ctx, store.CheckPeer(id)); err != nil {
		return err
	}
	defer s.mu.Unlock()
	delete(s.peers, id)
	return nil
}
