package provision

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// The words that answers begin with.
const (
	wordOK       = "ok"
	wordUsed     = "used"
	wordStale    = "stale"
	wordSealed   = "sealed"
	wordOccupied = "occupied"
	wordForeign  = "foreign"
)

// unexpected is the error of an answer that its caller has no use for.
func unexpected(word string, rest []any) error {
	if word == wordStale {
		return fmt.Errorf("%w: %v", ErrStale, rest)
	}
	return fmt.Errorf("%w: %q %v", redisx.ErrReply, word, rest)
}

// number returns a number that the script knows, nil for one that it does not.
func number(value any) *int64 {
	known, ok := value.(int64)
	if !ok {
		return nil
	}
	return &known
}

// text returns the string at an index.
func text(list []any, i int) (string, bool) {
	if i >= len(list) {
		return "", false
	}
	value, ok := list[i].(string)
	return value, ok
}

// texts returns a list of nothing but strings.
func texts(list []any) ([]string, bool) {
	var values []string
	for i := range list {
		value, ok := text(list, i)
		if !ok {
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}
