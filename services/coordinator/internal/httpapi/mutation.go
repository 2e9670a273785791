package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// maxAdminBody is the largest body of a mutation, in bytes (wire contract).
const maxAdminBody = 64 << 10

// operation asks a layer below about the place that a path names.
type operation[R, A any] func(ctx context.Context, at place, request R) (A, error)

// change is a mutation: what it asks for, what it does and what it answers.
type change[R, A any] struct {
	// check refuses a request that no state can make right.
	check func(R) error
	// plan answers a dry run (protocol L11); a change without it has none.
	plan operation[R, protocol.Plan]
	do   operation[R, A]
	// status goes with an answer of do, which complete has rid of nulls.
	status   int
	complete func(A) A
}

// mutation serves a change within the time limit of mutations.
func mutation[R, A any](a *api, c change[R, A]) http.HandlerFunc {
	body := httpx.NewDecoder[R]()
	return a.within(a.MutationTimeout, func(ctx context.Context, w http.ResponseWriter, r *http.Request) (answer, error) {
		at, err := a.placeOf(r)
		if err != nil {
			return answer{}, err
		}
		dry, err := isDryRun(r.URL.RawQuery)
		switch {
		case err != nil:
			return answer{}, err
		case dry && c.plan == nil:
			return answer{}, invalid("dryRun is not offered here")
		}
		request, err := readMutation(w, r, body)
		if err != nil {
			return answer{}, err
		}
		if err := c.check(request); err != nil {
			return answer{}, err
		}
		if dry {
			plan, err := c.plan(ctx, at, request)
			return answer{http.StatusOK, completePlan(plan)}, err
		}
		done, err := c.do(ctx, at, request)
		return answer{c.status, c.complete(done)}, err
	})
}

func readMutation[R any](w http.ResponseWriter, r *http.Request, decoder *httpx.Decoder[R]) (R, error) {
	body, err := httpx.ReadBody(w, r, maxAdminBody)
	if err != nil {
		var none R
		return none, err
	}
	return decoder.Decode(body)
}

// isDryRun reports whether a mutation is asked for as a plan only. A query that is not
// clear about it is refused: a dry run must never become a real one.
func isDryRun(query string) (bool, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return false, invalid("query is not encoded as a URL asks")
	}
	for name, given := range values {
		switch {
		case !strings.EqualFold(name, "dryRun"):
		case name != "dryRun" || len(given) > 1 || given[0] != "true" && given[0] != "false":
			return false, invalid("dryRun is written so, is true or false, and may be given once")
		}
	}
	return values.Get("dryRun") == "true", nil
}

// The functions below make an operation of what a layer does with a stream, a group or a
// resharding.

func ofStream[R, A any](call func(ctx context.Context, stream string, request R) (A, error)) operation[R, A] {
	return func(ctx context.Context, at place, request R) (A, error) { return call(ctx, at.stream, request) }
}

func ofGroup[R, A any](call func(ctx context.Context, stream, group string, request R) (A, error)) operation[R, A] {
	return func(ctx context.Context, at place, request R) (A, error) {
		return call(ctx, at.stream, at.group, request)
	}
}

func ofResharding[R, A any](call func(ctx context.Context, stream, group, id string, request R) (A, error)) operation[R, A] {
	return func(ctx context.Context, at place, request R) (A, error) {
		return call(ctx, at.stream, at.group, at.resharding, request)
	}
}
