package audit

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

// Query answers GET /audit, newest first (wire contract). Whoever has scopes sees the
// records of their streams only.
func (a *Auditor) Query(w http.ResponseWriter, r *http.Request) {
	page, err := a.page(r)
	if err != nil {
		if refusal, ok := errors.AsType[*protocol.Error](err); ok {
			exchange.Of(r.Context()).Code = refusal.Code
		}
		a.answers.Error(w, r, err)
		return
	}
	a.answers.JSON(w, r, http.StatusOK, page)
}

func (a *Auditor) page(r *http.Request) (protocol.AuditResponse, error) {
	query, err := queryFrom(r.URL.RawQuery)
	if err != nil {
		return protocol.AuditResponse{}, err
	}
	if who := exchange.Of(r.Context()).Principal; len(who.Scopes) > 0 {
		query.Reaches = who.Reaches
	}
	if a.reader == nil {
		return protocol.AuditResponse{}, protocol.Errorf(protocol.CodeRedisNotConfigured,
			"the audit goes to the log, which cannot be asked; audit.sink redis or postgres can")
	}
	page, err := a.reader.Page(r.Context(), query)
	if _, refused := errors.AsType[*protocol.Error](err); err != nil && !refused {
		return page, protocol.Errorf(protocol.CodeStoreUnavailable, "the audit cannot be read").Because(err)
	}
	return page, err
}

// queryFrom reads what is asked for. Names that nobody knows are no condition.
func queryFrom(raw string) (Query, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return Query{}, protocol.Errorf(protocol.CodeInvalidRequest, "query is not encoded as a URL asks")
	}
	for _, name := range []string{"streamPrefix", "consumerGroup", "principal", "from", "to", "cursor", "limit"} {
		if len(values[name]) > 1 {
			return Query{}, protocol.Errorf(protocol.CodeInvalidRequest, "%s is given more than once", name)
		}
	}
	query := Query{
		StreamPrefix: values.Get("streamPrefix"), ConsumerGroup: values.Get("consumerGroup"),
		Principal: values.Get("principal"), Cursor: values.Get("cursor"), Limit: protocol.DefaultAudit,
	}
	if query.From, err = timeOf(values, "from"); err != nil {
		return Query{}, err
	}
	if query.To, err = timeOf(values, "to"); err != nil {
		return Query{}, err
	}
	if text := values.Get("limit"); text != "" {
		query.Limit, err = strconv.Atoi(text)
		if err != nil || query.Limit < 1 || query.Limit > protocol.MaxAudit {
			return Query{}, protocol.Errorf(protocol.CodeInvalidRequest, "limit %q is not a number from 1 to %d",
				protocol.Echo(text), protocol.MaxAudit)
		}
	}
	return query, nil
}

func timeOf(values url.Values, name string) (time.Time, error) {
	text := values.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, protocol.Errorf(protocol.CodeInvalidRequest,
			"%s %q is not a time of RFC 3339, as in 2026-01-02T03:04:05Z", name, protocol.Echo(text))
	}
	return at, nil
}
