package audit

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

const (
	// maxErrorRead is how much of an error answer is read for its code, in bytes.
	maxErrorRead = 4 << 10
	maxCode      = 64
)

// ending is how a request ended.
type ending struct {
	// status is 0 where the caller left before there was an answer.
	status int
	// body is what is known of the answer's body.
	body []byte
	// broken tells that a handler panicked.
	broken bool
}

// intentOf returns the record of a mutation that is about to be sent.
func intentOf(r *http.Request, e *exchange.Exchange, gateway string, now time.Time) protocol.AuditRecord {
	want := read(e.Body)
	if e.Route.DryRun {
		want.values["dryRun"] = strconv.FormatBool(true)
	}
	return protocol.AuditRecord{
		Time: protocol.Timestamp{Time: now.UTC()}, Kind: protocol.AuditIntent,
		Operation: e.Route.Operation, StreamPrefix: e.Route.Stream, ConsumerGroup: e.Route.Group,
		MemberID: e.Route.Member, ReshardingID: e.Route.Resharding,
		Requested: want.values, RequestedBy: want.by, Reason: want.reason,
		Principal: cut(e.Principal.Name), Roles: e.Principal.Roles.Names(),
		RequestID: httpx.RequestID(r.Context()), ClientAddress: address(e.Client.Address), PeerAddress: address(e.Client.Peer),
		ForwardedFor: cut(e.Client.Forwarded), UserAgent: cut(r.UserAgent()),
		Method: e.Route.Method, Route: e.Route.Pattern, Query: queryOf(e.Route.Query), BodySHA256: e.BodyHash,
		GatewayID: gateway,
	}
}

// outcomeOf returns the record of a request that has ended.
func outcomeOf(r *http.Request, e *exchange.Exchange, end ending, gateway string, now time.Time) protocol.AuditRecord {
	record := intentOf(r, e, gateway, now)
	record.Kind = protocol.AuditOutcome
	if e.Replayed {
		record.Kind = protocol.AuditReplay
	}
	record.Status, record.Result, record.ErrorCode = end.status, resultOf(e, end), codeOf(e, end)
	record.DurationMs = max(now.Sub(e.Began).Milliseconds(), 0)
	record.CoordinatorID, record.Intended = cut(e.Upstream), e.Intended
	return record
}

func resultOf(e *exchange.Exchange, end ending) protocol.AuditResult {
	switch {
	case end.broken:
		return protocol.AuditFailed
	case !e.Intended && !e.Replayed && end.status >= http.StatusInternalServerError:
		return protocol.AuditRefused // nothing was sent
	case end.status == 0 || end.status >= http.StatusInternalServerError:
		return protocol.AuditFailed
	case end.status >= http.StatusBadRequest:
		return protocol.AuditRefused
	default:
		return protocol.AuditAllowed
	}
}

// codeOf returns the gateway's own error code, or that of the answer.
func codeOf(e *exchange.Exchange, end ending) string {
	var answer struct {
		ErrorCode string `json:"errorCode"`
	}
	switch {
	case end.broken:
		return string(protocol.CodeInternal)
	case e.Code != "":
		return string(e.Code)
	case end.status < http.StatusBadRequest || len(end.body) > maxErrorRead || json.Unmarshal(end.body, &answer) != nil:
		return ""
	case !looksLikeCode(answer.ErrorCode):
		return ""
	default:
		return answer.ErrorCode
	}
}

func looksLikeCode(code string) bool {
	for _, c := range code {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return len(code) <= maxCode
}

// queryOf keeps what a mutation's query may say. Anything else has no effect, and could be a
// token that was put there by mistake.
func queryOf(query string) string {
	given, err := url.ParseQuery(query)
	if err != nil || !given.Has("dryRun") {
		return ""
	}
	return "dryRun=" + url.QueryEscape(cut(given.Get("dryRun")))
}

func address(of netip.Addr) string {
	if !of.IsValid() {
		return ""
	}
	return cut(of.String())
}
