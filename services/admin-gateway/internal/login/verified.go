package login

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// maxVerified bounds the tokens that are remembered.
const maxVerified = 8192

// verified remembers the tokens that were found good: members send theirs with every
// heartbeat, and to check a signature costs as much as all else that is done for one. What a
// gateway verifies by does not change while it runs; what may, revocations and users, is
// looked at after it for every request.
type verified struct {
	verifier *auth.Verifier
	now      func() time.Time

	mu    sync.RWMutex
	known map[[sha256.Size]byte]auth.Claims
}

func newVerified(verifier *auth.Verifier, now func() time.Time) *verified {
	return &verified{verifier: verifier, now: now, known: make(map[[sha256.Size]byte]auth.Claims)}
}

// Verify returns what a token says, which is the callers' to read only, or the error of
// auth.Verifier.
func (v *verified) Verify(ctx context.Context, token string) (auth.Claims, error) {
	sum := sha256.Sum256([]byte(token))
	v.mu.RLock()
	claims, known := v.known[sum]
	v.mu.RUnlock()
	if known && v.now().Before(claims.ExpiresAt) {
		return claims, nil
	}
	claims, err := v.verifier.Verify(ctx, token)
	if err != nil {
		return auth.Claims{}, err
	}
	v.remember(sum, claims)
	return claims, nil
}

// remember forgets all others where there are too many: they cost a check each.
func (v *verified) remember(sum [sha256.Size]byte, claims auth.Claims) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.known) >= maxVerified {
		clear(v.known)
	}
	v.known[sum] = claims
}
