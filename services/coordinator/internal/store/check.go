package store

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Repeats tells whether a member with the liveness stored has had this beat already
// (E5). It is asked for members with liveness only: the first beat never repeats, nor
// does a forced one, nor one that has neither sequence nor request id.
func (b Beat) Repeats(stored Liveness) bool {
	switch {
	case b.Forced || b.Incarnation != stored.Incarnation:
		return false
	case b.Sequence > 0:
		return b.Sequence <= stored.Sequence
	default:
		return b.RequestID != "" && b.RequestID == stored.RequestID
	}
}

// Check refuses a create that no store may accept, with ErrInvalid.
func (c Create) Check(keyPrefix string) error {
	if c.Token == "" {
		return fmt.Errorf("%w: create of %q has no token", ErrInvalid, c.Key)
	}
	return c.Key.Check(keyPrefix)
}

// Check refuses a commit that no store may accept, with ErrInvalid.
func (c Commit) Check(keyPrefix string) error {
	if c.Token == "" || c.Token == c.Prev.Token {
		return fmt.Errorf("%w: commit of %q has no token of its own", ErrInvalid, c.Key)
	}
	if err := c.Key.Check(keyPrefix); err != nil {
		return err
	}
	for member := range c.Unmoved {
		if err := checkMember(member); err != nil {
			return err
		}
	}
	for _, member := range c.Forget {
		if err := checkMember(member); err != nil {
			return err
		}
	}
	return checkHeard(c.Beats, c.Newcomers)
}

// Check refuses a touch that no store may accept, with ErrInvalid.
func (t Touch) Check(keyPrefix string) error {
	if err := t.Key.Check(keyPrefix); err != nil {
		return err
	}
	return checkHeard(t.Beats, t.Newcomers)
}

func checkHeard(beats []Beat, newcomers []Newcomer) error {
	for i := range beats {
		if err := checkMember(beats[i].Member); err != nil {
			return err
		}
	}
	for _, newcomer := range newcomers {
		if err := checkMember(newcomer.Member); err != nil {
			return err
		}
	}
	return nil
}

func checkMember(id string) error {
	if err := protocol.CheckMemberID(id); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}
