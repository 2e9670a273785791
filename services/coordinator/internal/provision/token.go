package provision

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Errors that callers act on.
var (
	// ErrInvalid comes when shards, groups or a token make no sense. Nothing was asked
	// of Redis.
	ErrInvalid = errors.New("invalid provisioning request")
	// ErrStale comes when a shard's marker is not the token of the call: a later phase has
	// begun, or the marker is lost. Nothing was done on that shard (protocol L2).
	ErrStale = errors.New("the shard's marker names another phase")
)

// HigherMarkError comes when a shard carries a higher mark than the call's, or the same one
// in another token, so that nothing was made. It is an ErrStale. Who may still change the stream's record gives the next
// phase a mark above Higher there, and tries again.
type HigherMarkError struct {
	// Mark is the call's, Higher the highest one found.
	Mark, Higher int64
}

// Error names both marks.
func (e *HigherMarkError) Error() string {
	return fmt.Sprintf("%v: mark %d is not below %d", ErrStale, e.Higher, e.Mark)
}

// Unwrap returns ErrStale.
func (e *HigherMarkError) Unwrap() error { return ErrStale }

// Token names the phase of a shard's life that a script belongs to (protocol L2).
type Token struct {
	// Mark numbers the phases: a later one has a higher mark, from 1 on.
	Mark int64
	// ReshardingID and Phase tell phases apart for who reads the marker. They are not empty
	// and have no colon.
	ReshardingID, Phase string
}

// Creation is the token under which a stream or one of its groups is created.
func Creation(mark int64) Token {
	return Token{Mark: mark, ReshardingID: "create", Phase: "PREPARING"}
}

// String returns the token as the marker holds it, "<mark>:<reshardingId>:<phase>".
func (t Token) String() string {
	return strconv.FormatInt(t.Mark, 10) + ":" + t.ReshardingID + ":" + t.Phase
}

func (t Token) check() error {
	for _, name := range []string{t.ReshardingID, t.Phase} {
		if name == "" || strings.ContainsRune(name, ':') {
			return fmt.Errorf("%w: token %q", ErrInvalid, t)
		}
	}
	if t.Mark < 1 {
		return fmt.Errorf("%w: mark of token %q", ErrInvalid, t)
	}
	return nil
}
