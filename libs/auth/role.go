package auth

import (
	"fmt"
	"strings"
)

// Roles is a set of rights.
type Roles uint8

// The roles (gateway, Roles).
const (
	// Read lets see everything: monitoring, health, messages, audit, streams.
	Read Roles = 1 << iota
	// Write lets change streams, groups and members. Whoever has it has Read as well.
	Write
	// Member lets send heartbeats and read where to write.
	Member
)

// ParseRole returns what the name of a role grants: READ, WRITE (with READ), MEMBER, or an
// alias of the original service, ADMIN (all) and MONITOR (READ). Case matters.
func ParseRole(name string) (Roles, error) {
	switch name {
	case "READ", "MONITOR":
		return Read, nil
	case "WRITE":
		return Read | Write, nil
	case "MEMBER":
		return Member, nil
	case "ADMIN":
		return Read | Write | Member, nil
	default:
		return 0, fmt.Errorf("role %q is not READ, WRITE, MEMBER, ADMIN or MONITOR", name)
	}
}

// RolesOf returns what the names grant together. A name that is no role grants nothing.
func RolesOf(names []string) Roles {
	var all Roles
	for _, name := range names {
		granted, err := ParseRole(name)
		if err == nil {
			all |= granted
		}
	}
	return all
}

// Any tells whether the set has at least one of the roles.
func (r Roles) Any(of Roles) bool { return r&of != 0 }

// Names returns the roles of the set in the order READ, WRITE, MEMBER; never nil.
func (r Roles) Names() []string {
	names := []string{}
	if r.Any(Read) {
		names = append(names, "READ")
	}
	if r.Any(Write) {
		names = append(names, "WRITE")
	}
	if r.Any(Member) {
		names = append(names, "MEMBER")
	}
	return names
}

// String joins the names.
func (r Roles) String() string { return strings.Join(r.Names(), ",") }
