package model

import (
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// scopesShown is how many of a user's scopes are named.
const scopesShown = 3

// ScopeWords names the streams that a user is bound to; empty for all.
func ScopeWords(scopes []auth.Scope) string {
	names := make([]string, 0, scopesShown)
	for _, scope := range scopes[:min(len(scopes), scopesShown)] {
		names = append(names, cut(string(scope), idShown))
	}
	said := strings.Join(names, ", ")
	if more := len(scopes) - scopesShown; more > 0 {
		said += " and " + strconv.Itoa(more) + " more"
	}
	return said
}
