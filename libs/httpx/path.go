package httpx

import (
	"net/url"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// CheckPath refuses a path, as it was sent, that two readers could understand differently
// (wire contract, Rules). No valid name has a slash, so an encoded one is refused; so are
// empty and dot segments, backslashes, NUL, and what is still encoded after decoding once.
// Refusals are *protocol.Error with INVALID_REQUEST.
func CheckPath(escaped string) error {
	if escaped == "/" || escaped == "*" { // "OPTIONS *"
		return nil
	}
	rest, rooted := strings.CutPrefix(escaped, "/")
	for more := rooted; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		text, err := url.PathUnescape(segment)
		if err != nil || text == "" || text == "." || text == ".." || strings.ContainsAny(text, "/\\%\x00") {
			return protocol.Errorf(protocol.CodeInvalidRequest,
				"path has a segment that is not allowed: %q", protocol.Echo(segment))
		}
	}
	if !rooted {
		return protocol.Errorf(protocol.CodeInvalidRequest, "path does not begin with a slash")
	}
	return nil
}
