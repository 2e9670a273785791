package limits

import (
	"net/http"
	"sync/atomic"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// Budgets are how many requests may be under way at once. Each kind has its own, so that
// slow reads cannot starve heartbeats, nor open streams the reads. Each is above 0.
type Budgets struct {
	// Members bounds heartbeats and routing reads, which may wait for a change.
	Members int
	// Streams bounds answers without an end.
	Streams int
	// Others bounds all else but what the gateway shows to everybody, as its health.
	Others int
}

// InFlight bounds the requests under way.
type InFlight struct {
	answers                  httpx.Answers
	members, streams, others budget
}

// NewInFlight returns the stage; its refusals are written by answers.
func NewInFlight(budgets Budgets, answers httpx.Answers) *InFlight {
	return &InFlight{
		answers: answers,
		members: budget{most: int64(budgets.Members)},
		streams: budget{most: int64(budgets.Streams)},
		others:  budget{most: int64(budgets.Others)},
	}
}

// Stage refuses with OVERLOADED, at once, what is over its budget.
func (f *InFlight) Stage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := exchange.Of(r.Context())
		spent := f.budgetOf(e.Route)
		if spent == nil {
			next.ServeHTTP(w, r)
			return
		}
		if !spent.enter() {
			e.Code = protocol.CodeOverloaded
			f.answers.Error(w, r, protocol.Errorf(e.Code, "too many requests are under way, come again later"))
			return
		}
		defer spent.leave()
		next.ServeHTTP(w, r)
	})
}

// UnderWay returns how many requests are under way by the budget that they count for: members,
// streams and others.
func (f *InFlight) UnderWay() map[string]int64 {
	return map[string]int64{"members": f.members.spent.Load(), "streams": f.streams.spent.Load(), "others": f.others.spent.Load()}
}

// budgetOf returns nil for what is never refused.
func (f *InFlight) budgetOf(r route.Route) *budget {
	switch {
	case r.Service == route.Gateway && r.Access.Public && r.Method == http.MethodGet:
		return nil
	case r.Access.MemberAPI:
		return &f.members
	case r.Streams:
		return &f.streams
	default:
		return &f.others
	}
}

type budget struct {
	most  int64
	spent atomic.Int64
}

func (b *budget) enter() bool {
	if b.spent.Add(1) <= b.most {
		return true
	}
	b.spent.Add(-1)
	return false
}

func (b *budget) leave() { b.spent.Add(-1) }
