package auth

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
)

// Keyring signs with one key and knows those of before, whose tokens are still taken while a
// rotation lasts. It is safe for concurrent use.
type Keyring struct {
	current Key
	known   map[string]ed25519.PublicKey
	set     []byte
}

// NewKeyring returns a ring that signs with current and verifies the tokens of all. It
// refuses the zero Key.
func NewKeyring(current Key, previous ...Key) (*Keyring, error) {
	ring := &Keyring{current: current, known: map[string]ed25519.PublicKey{}}
	var set struct {
		Keys []jwk `json:"keys"`
	}
	for _, key := range append([]Key{current}, previous...) {
		if key.private == nil {
			return nil, errors.New("a key of the ring is empty")
		}
		if _, twice := ring.known[key.id]; twice {
			continue
		}
		ring.known[key.id] = key.Public()
		set.Keys = append(set.Keys, newJWK(key))
	}
	var err error
	if ring.set, err = json.Marshal(set); err != nil {
		return nil, fmt.Errorf("write JWK set: %w", err)
	}
	return ring, nil
}

// JWKS returns the public keys as a JWK set, for /.well-known/jwks.json. The caller does not
// change it.
func (r *Keyring) JWKS() []byte { return r.set }

// PublicKey implements Keys.
func (r *Keyring) PublicKey(_ context.Context, id string) (ed25519.PublicKey, error) {
	key, known := r.known[id]
	if !known {
		return nil, ErrUnknownKey
	}
	return key, nil
}
