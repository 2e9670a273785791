package proxy

import (
	"bytes"
	"net/url"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// longestWait is the longest time that a request may be kept waiting for.
const longestWait = time.Minute

const waitName = "waitMs"

// report is what the proxy reads of a heartbeat; the coordinator reads and checks all of it.
type report struct {
	RequestID   string `json:"requestId"`
	MemberID    string `json:"memberId"`
	MemberEpoch int64  `json:"memberEpoch"`
	Incarnation string `json:"incarnation"`
	WaitMs      int64  `json:"waitMs"`
}

type manyReports struct {
	Members []report `json:"members"`
}

// reports reads heartbeats.
type reports struct {
	one  *httpx.Decoder[report]
	many *httpx.Decoder[manyReports]
}

func newReports() reports {
	optional := []string{"requestId", "memberId", "memberEpoch", "incarnation", waitName}
	return reports{httpx.NewDecoder[report](optional...), httpx.NewDecoder[manyReports](optional...)}
}

// waitOf returns how long an exchange asks to be kept waiting, at most longestWait. What
// cannot be read asks for nothing: the coordinator will refuse it at once.
func (r reports) waitOf(e *exchange.Exchange) time.Duration {
	var wait int64
	switch e.Route.Operation {
	case route.OperationRouting:
		wait = waitIn(e.Route.Query)
	case route.OperationHeartbeat, route.OperationHeartbeats:
		if !bytes.Contains(e.Body, []byte(waitName)) { // which most have not
			return 0
		}
		wait = r.longestOf(e)
	}
	return min(max(time.Duration(min(wait, longestWait.Milliseconds()))*time.Millisecond, 0), longestWait)
}

func (r reports) longestOf(e *exchange.Exchange) int64 {
	if e.Route.Operation == route.OperationHeartbeat {
		said, err := r.one.Decode(e.Body)
		if err != nil {
			return 0
		}
		return said.WaitMs
	}
	said, err := r.many.Decode(e.Body)
	if err != nil {
		return 0
	}
	var longest int64
	for _, member := range said.Members {
		longest = max(longest, member.WaitMs)
	}
	return longest
}

func waitIn(query string) int64 {
	if query == "" {
		return 0
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0
	}
	wait, err := strconv.ParseInt(values.Get(waitName), 10, 64)
	if err != nil {
		return 0
	}
	return wait
}
