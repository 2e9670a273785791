package model

import (
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// scopesShown is how many of a user's scopes are named.
const scopesShown = 3

// ScopeWords names the streams that a user is bound to; empty for all.
func ScopeWords(scopes []auth.Scope) string {
	said := ""
	for i, scope := range scopes[:min(len(scopes), scopesShown)] {
		if i > 0 {
			said += ", "
		}
		said += cut(string(scope), idShown)
	}
	if more := len(scopes) - scopesShown; more > 0 {
		said += " and " + strconv.Itoa(more) + " more"
	}
	return said
}
