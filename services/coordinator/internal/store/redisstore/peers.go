package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Announce implements store.Registry.
func (s *Store) Announce(ctx context.Context, peer store.Peer, ttl time.Duration) ([]store.Peer, error) {
	if err := store.CheckPeer(peer.ID); err != nil {
		return nil, err
	}
	return s.register(ctx, peer.ID, peer.Reads, peer.Writes, ttl.Milliseconds())
}

// Withdraw implements store.Registry.
func (s *Store) Withdraw(ctx context.Context, id string) error {
	if err := store.CheckPeer(id); err != nil {
		return err
	}
	_, err := s.register(ctx, id, 0, 0, "")
	return err
}

// register runs the script that keeps, and answers, who is announced.
func (s *Store) register(ctx context.Context, args ...any) ([]store.Peer, error) {
	answer, err := s.run(ctx, s.scripts.announce, writes, []string{s.keys.peers()}, args...)
	if err != nil {
		return nil, fmt.Errorf("announce the coordinator: %w", s.fault(store.Key{}, err))
	}
	if answer.word != wordOK || len(answer.rest)%2 != 0 {
		return nil, answer.unexpected()
	}
	known := make([]store.Peer, 0, len(answer.rest)/2)
	for i := 0; i < len(answer.rest); i += 2 {
		id, named := answer.text(i)
		value, told := answer.text(i + 1)
		peer, err := readPeer(id, value)
		if !named || !told || err != nil {
			return nil, answer.unexpected()
		}
		known = append(known, peer)
	}
	slices.SortFunc(known, func(a, b store.Peer) int { return cmp.Compare(a.ID, b.ID) })
	return known, nil
}

// readPeer reads "until reads writes", as the script writes it.
func readPeer(id, value string) (store.Peer, error) {
	_, schemas, _ := strings.Cut(value, " ")
	reads, writes, _ := strings.Cut(schemas, " ")
	peer := store.Peer{ID: id}
	var err error
	if peer.Reads, err = strconv.Atoi(reads); err != nil {
		return store.Peer{}, errNotNumber
	}
	if peer.Writes, err = strconv.Atoi(writes); err != nil {
		return store.Peer{}, errNotNumber
	}
	return peer, nil
}
