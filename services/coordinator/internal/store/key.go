package store

import (
	"fmt"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// String returns "stream:group", and "stream:" for the stream's own record. No two
// valid keys share it: a group has no ':', so that it splits at the last one.
func (k Key) String() string { return k.Stream + ":" + k.Group }

// Check refuses names that break the storage rules, with ErrInvalid that wraps
// protocol.ErrInvalidName. keyPrefix is the prefix of the coordinator's own keys.
func (k Key) Check(keyPrefix string) error {
	if err := protocol.CheckStreamPrefix(k.Stream, keyPrefix); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if k.Group == "" {
		return nil
	}
	if err := protocol.CheckConsumerGroup(k.Group); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// ParseKey reads what Key.String wrote and checks it.
func ParseKey(text, keyPrefix string) (Key, error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return Key{}, fmt.Errorf("%w: %q names no record", ErrInvalid, protocol.Echo(text))
	}
	key := Key{Stream: text[:at], Group: text[at+1:]}
	if err := key.Check(keyPrefix); err != nil {
		return Key{}, err
	}
	return key, nil
}
