package idempotency

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

// checkKey refuses what is not one key of printable ASCII.
func checkKey(values []string) *protocol.Error {
	if len(values) != 1 {
		return protocol.Errorf(protocol.CodeInvalidRequest, "more than one %s", HeaderKey)
	}
	key := values[0]
	if key == "" || len(key) > MaxKey || strings.ContainsFunc(key, unprintable) {
		return protocol.Errorf(protocol.CodeInvalidRequest,
			"%s has 1 to %d printable ASCII characters, not %q", HeaderKey, MaxKey, protocol.Echo(key))
	}
	return nil
}

func unprintable(c rune) bool { return c < ' ' || c > '~' }

// keyOf names what the store remembers a request by: a hash over who asks for what under
// which key. Every part goes with its length, so that no two combinations are one text, and
// the path is the rebuilt one, so that it has one spelling.
func keyOf(x *exchange.Exchange, key string) string {
	hash := sha256.New()
	for _, part := range [...]string{x.Principal.Name, x.Route.Method, x.Route.Path, x.Route.Query, key} {
		hash.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return hex.EncodeToString(hash.Sum(nil))
}
