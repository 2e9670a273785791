package auth

import (
	"fmt"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Principal is somebody whose credential was verified, with the rights of now. The zero
// value is nobody, who may do nothing.
type Principal struct {
	// Name is the user's name.
	Name string
	// Roles are what the user may do.
	Roles Roles
	// Scopes bound the streams that the roles hold for; none is every stream.
	Scopes []Scope
}

// May tells whether the principal has one of the roles for a stream. An empty stream stands
// for what is about all streams together, which only a principal without scopes may do.
func (p Principal) May(roles Roles, stream string) bool {
	return p.Roles.Any(roles) && p.Reaches(stream)
}

// Reaches tells whether the principal's scopes cover a stream; an empty stream is covered
// only where there are no scopes.
func (p Principal) Reaches(stream string) bool {
	if len(p.Scopes) == 0 {
		return true
	}
	for _, scope := range p.Scopes {
		if stream != "" && scope.Covers(stream) {
			return true
		}
	}
	return false
}

// Scope is a pattern of stream prefixes: a prefix as it is, or the beginning of some with a
// star at its end, as in "orders*".
type Scope string

// ParseScope checks a pattern: a stream may have the prefix, or one that begins so (storage
// rules on names). A star stands at the end only, and not alone with nothing to bound: no
// scope at all is the way to say every stream.
func ParseScope(pattern string) (Scope, error) {
	name, open := strings.CutSuffix(pattern, "*")
	alone := open && name == ""
	if open {
		name += "0" // as the beginning goes on, it may end in a colon
	}
	name = name[:min(len(name), protocol.MaxStreamPrefix)] // what is longer covers nothing
	if alone || protocol.CheckStreamPrefix(name, "") != nil {
		return "", fmt.Errorf("scope %q is not a stream prefix or the beginning of one with a star at its end", protocol.Echo(pattern))
	}
	return Scope(pattern), nil
}

// Covers tells whether a stream prefix fits the pattern. A star alone, which ParseScope
// refuses, covers nothing.
func (s Scope) Covers(stream string) bool {
	if begin, open := strings.CutSuffix(string(s), "*"); open {
		return begin != "" && strings.HasPrefix(stream, begin)
	}
	return string(s) == stream
}
