package protocol

import (
	"errors"
	"fmt"
	"strings"
)

// Longest names, in bytes.
const (
	MaxStreamPrefix  = 200
	MaxConsumerGroup = 200
	MaxMemberID      = 250
)

// MaxEcho is how much of a caller's input an error text repeats, in bytes.
const MaxEcho = 64

// ErrInvalidName is wrapped by every refusal of a name (storage rules on names).
var ErrInvalidName = errors.New("invalid name")

// DefaultKeyPrefix is the prefix of the coordinator's own Redis keys.
const DefaultKeyPrefix = "redis-stream:coord"

// CheckStreamPrefix refuses a stream prefix that breaks the rules of the storage
// design: [A-Za-z0-9][A-Za-z0-9._:@+-]{0,199}, not ending in ':' and not starting
// with keyPrefix, the prefix of the coordinator's own keys.
func CheckStreamPrefix(name, keyPrefix string) error {
	if err := checkName("streamPrefix", name, MaxStreamPrefix, true); err != nil {
		return err
	}
	if strings.HasSuffix(name, ":") {
		return fmt.Errorf("%w: streamPrefix %q ends in ':'", ErrInvalidName, Echo(name))
	}
	if keyPrefix != "" && strings.HasPrefix(name, keyPrefix) {
		return fmt.Errorf("%w: streamPrefix %q starts with the coordinator's own key prefix %q",
			ErrInvalidName, Echo(name), keyPrefix)
	}
	return nil
}

// CheckConsumerGroup refuses a consumer group name; the rule is that of a stream
// prefix without ':', so that "prefix:group" splits at the last colon.
func CheckConsumerGroup(name string) error {
	return checkName("consumerGroup", name, MaxConsumerGroup, false)
}

// CheckMemberID refuses a member id; ':' is allowed, as pod addresses may be IPv6.
func CheckMemberID(name string) error {
	return checkName("memberId", name, MaxMemberID, true)
}

// Echo cuts input for use in an error text to MaxEcho bytes. Callers quote it.
func Echo(input string) string {
	if len(input) <= MaxEcho {
		return input
	}
	return strings.ToValidUTF8(input[:MaxEcho], "")
}

func checkName(what, name string, longest int, colon bool) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: %s is empty", ErrInvalidName, what)
	case len(name) > longest:
		return fmt.Errorf("%w: %s %q has %d bytes, at most %d are allowed", ErrInvalidName, what, Echo(name), len(name), longest)
	case !alphanumeric(name[0]):
		return fmt.Errorf("%w: %s %q does not begin with a letter or digit", ErrInvalidName, what, Echo(name))
	}
	for i := 1; i < len(name); i++ {
		if c := name[i]; !alphanumeric(c) && !strings.ContainsRune("._@+-", rune(c)) && (c != ':' || !colon) {
			return fmt.Errorf("%w: %s %q has a character that is not allowed at byte %d", ErrInvalidName, what, Echo(name), i)
		}
	}
	return nil
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
