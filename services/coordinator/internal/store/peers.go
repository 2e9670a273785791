package store

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"
)

// Peer is a coordinator as it announces itself to the others that share the store, so that
// during a rolling update nobody writes what another cannot read (storage, Versions).
type Peer struct {
	// ID is unique for every start of a coordinator, at most MaxPeerID bytes, no control characters.
	ID string
	// Reads is the newest schema of records that it reads.
	Reads int
	// Writes is the newest schema that it may have left records in.
	Writes int
}

// MaxPeerID bounds Peer.ID in bytes.
const MaxPeerID = 300

// Registry knows which coordinators share the store. All stores implement it beside Store; it
// is apart because nothing that decides about a group asks.
type Registry interface {
	// Announce keeps the peer known for ttl, at least a millisecond, by the store's clock, and
	// returns all that are known then, itself included, ordered by ID. ErrInvalid for an ID
	// that no store takes.
	Announce(ctx context.Context, peer Peer, ttl time.Duration) ([]Peer, error)
	// Withdraw ends the announcement of a coordinator that ends. It is idempotent.
	Withdraw(ctx context.Context, id string) error
}

// CheckPeer refuses an id that no store may take, with ErrInvalid.
func CheckPeer(id string) error {
	if id == "" || len(id) > MaxPeerID {
		return fmt.Errorf("%w: a coordinator's id has 1 to %d bytes, not %d", ErrInvalid, MaxPeerID, len(id))
	}
	for _, r := range id {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return fmt.Errorf("%w: a coordinator's id has a control character", ErrInvalid)
		}
	}
	return nil
}
