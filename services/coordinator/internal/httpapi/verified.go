package httpapi

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

const (
	// verifiedFor is how long a token is believed after it was verified, and so how long one
	// lives on whose key was withdrawn.
	verifiedFor = 30 * time.Second
	// verifiedMost bounds the tokens that are remembered.
	verifiedMost = 10_000
)

// verified remembers tokens that were verified, as members send theirs every second. It
// knows their hashes only. Two generations bound it: when the young one is full it becomes
// the old one, which is forgotten.
type verified struct {
	mu         sync.Mutex
	young, old map[[sha256.Size]byte]remembered
}

type remembered struct {
	claims auth.Claims
	until  time.Time
}

func newVerified() *verified { return &verified{young: map[[sha256.Size]byte]remembered{}} }

// get returns the claims of a token that was verified lately and has not ended.
func (v *verified) get(token string, now time.Time) (auth.Claims, bool) {
	hash := sha256.Sum256([]byte(token))
	v.mu.Lock()
	defer v.mu.Unlock()
	found, known := v.young[hash]
	if !known {
		found, known = v.old[hash]
	}
	if !known || !now.Before(found.until) {
		return auth.Claims{}, false
	}
	return found.claims, true
}

// put remembers a token that was just verified.
func (v *verified) put(token string, claims auth.Claims, now time.Time) {
	until := now.Add(min(verifiedFor, claims.ExpiresAt.Sub(now)))
	hash := sha256.Sum256([]byte(token))
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.young) >= verifiedMost/2 {
		v.young, v.old = make(map[[sha256.Size]byte]remembered, verifiedMost/2), v.young
	}
	v.young[hash] = remembered{claims, until}
}
