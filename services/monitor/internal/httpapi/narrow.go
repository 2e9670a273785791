package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

type callerKey struct{}

// narrowed is guarded for endpoints about all streams: a caller with scopes is let through as
// well, and is told of the streams that they reach (gateway, Roles). Such an endpoint has to use
// lookFor, or callerOf.
func (a *api) narrowed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := a.admit(r, true)
		if err != nil {
			a.answers.Error(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)))
	})
}

// callerOf returns who asks a narrowed endpoint; nobody, whom nothing binds, where everybody may.
func callerOf(ctx context.Context) auth.Principal {
	caller, _ := ctx.Value(callerKey{}).(auth.Principal)
	return caller
}

// lookFor returns the newest look with the groups that the caller may be told of.
func (a *api) lookFor(ctx context.Context) (Look, error) {
	now, err := a.look()
	if err != nil {
		return Look{}, err
	}
	caller := callerOf(ctx)
	now.Round.Groups = slices.DeleteFunc(slices.Clone(now.Round.Groups), func(g facts.Group) bool {
		return !caller.Reaches(g.View.StreamPrefix)
	})
	return now, nil
}
