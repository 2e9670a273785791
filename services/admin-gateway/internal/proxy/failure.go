package proxy

import (
	"context"
	"errors"
	"net"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// unsent tells that a request cannot have reached an instance: no connection came about.
func unsent(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == "dial"
}

// unanswered names why there is no answer. A mutation that was sent may have been carried
// out, and its caller is told so.
func unanswered(asked route.Route, err error) error {
	if unsent(err) {
		return protocol.Errorf(protocol.CodeUpstreamUnavailable, "the %s cannot be reached", asked.Service).Because(err)
	}
	what := "has broken off"
	if errors.Is(err, context.DeadlineExceeded) {
		what = "has not answered in time"
	}
	if asked.Mutation && !asked.DryRun {
		return protocol.Errorf(protocol.CodeUpstreamUnavailable,
			"the %s %s; it is not known whether the change was carried out", asked.Service, what).Because(err)
	}
	return protocol.Errorf(protocol.CodeUpstreamUnavailable, "the %s %s", asked.Service, what).Because(err)
}

// misunderstood refuses an answer that is none of the wire contract's.
func misunderstood(asked route.Route, status int) error {
	if asked.Mutation && !asked.DryRun {
		return protocol.Errorf(protocol.CodeUpstreamFailed,
			"the %s has failed (status %d); it is not known whether the change was carried out", asked.Service, status)
	}
	return protocol.Errorf(protocol.CodeUpstreamFailed, "the %s has failed (status %d)", asked.Service, status)
}

// codeOf returns the code of a refusal.
func codeOf(err error) protocol.Code {
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		return refusal.Code
	}
	return protocol.CodeInternal
}
