package idempotency

import (
	"context"
	"errors"
	"time"
)

// ErrFull comes from Claim when as many requests are under way as a store has places.
var ErrFull = errors.New("too many requests with an Idempotency-Key are under way")

// Claim is a request's hold on a key.
type Claim struct {
	// Key is what the request is remembered by, BodyHash the SHA-256 of its body in
	// hexadecimal.
	Key, BodyHash string
	// Token tells this request's claim from any other of the same key.
	Token string
}

// Answer is what a caller gets again.
type Answer struct {
	Status      int
	ContentType string // empty where the answer had none
	Body        []byte // nobody changes it
}

// State is what a store has under a key.
type State int

// The states of a key.
const (
	// Claimed is a key that this request has now, for ClaimLife.
	Claimed State = iota
	// UnderWay is a key that another request has.
	UnderWay
	// Kept is a key with an answer.
	Kept
)

// Found is what a store has under a key.
type Found struct {
	State State
	// BodyHash is that of the request which claimed the key first; empty with Claimed.
	BodyHash string
	// Answer is the one of Kept.
	Answer Answer
}

// Store remembers who has claimed which key, and the answers. A store with a clock of its
// own, which its users share, ignores now.
type Store interface {
	// Claim takes a key that nobody has for ClaimLife, or says who has it. Asking again with
	// the same token, as after a lost connection, gets the same claim. Its error is ErrFull
	// or that of a store that does not answer, in which case the claim may have been made.
	Claim(ctx context.Context, claim Claim, now time.Time) (Found, error)
	// Keep puts an answer in the place of a claim, for AnswerLife. It does nothing when the
	// claim has ended or is another one's by now.
	Keep(ctx context.Context, claim Claim, answer Answer, now time.Time) error
	// Drop gives a key free again. It does nothing when the claim has ended, is another
	// one's by now, or has an answer.
	Drop(ctx context.Context, claim Claim) error
}
