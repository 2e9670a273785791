package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

const (
	// auditCalls bounds the calls for one page of the audit, where few records fit.
	auditCalls = 5
	// maxCondition is how long a condition may be in bytes, maxCursor how long a cursor.
	maxCondition = 256
	maxCursor    = 512
)

type auditAPI interface {
	Audit(ctx context.Context, query client.AuditQuery) (*protocol.AuditResponse, error)
}

// audits are the pages of the audit.
func (p *Pages) audits(to chi.Router) {
	to.Get(Root+"/audit", p.show(p.audit))
	to.Get(Root+"/audit.csv", p.export(asCSV()))
	to.Get(Root+"/audit.ndjson", p.export(asNDJSON()))
}

// audit shows who asked for which change, and what became of it (gateway, Audit).
func (p *Pages) audit(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	query := auditQuery(r.URL.Query())
	page := model.NewAudit(query, Root)
	asked, refusal := askedOf(query)
	if refusal != nil {
		return p.auditPage(r, who, page.Refused(refusal), http.StatusBadRequest), nil
	}
	found, err := p.findAudit(ctx, query, asked)
	if err != nil {
		return p.auditRefused(r, who, page, err)
	}
	return p.auditPage(r, who, page.With(found, Root), http.StatusOK), nil
}

// auditRefused says why there are no records, beside the form. It returns the error where there is
// another page for it.
func (p *Pages) auditRefused(r *http.Request, who visitor, page model.Audit, err error) (answer, error) {
	refused, is := errors.AsType[*protocol.Error](err)
	if !is || errors.Is(err, client.ErrUnauthorized) {
		return answer{}, err
	}
	page = page.Refused(model.AuditRefusal(refused.Code, refused.Message))
	if page.Elsewhere {
		return p.auditPage(r, who, page, http.StatusOK), nil
	}
	status := protocol.FaultOf(refused.Code).Status
	if status >= http.StatusInternalServerError { // other pages the gateway takes for those of a broken console
		status = http.StatusServiceUnavailable
	}
	return p.auditPage(r, who, page, status), nil
}

func auditQuery(values url.Values) model.AuditQuery {
	text := func(name string) string {
		value := strings.TrimSpace(values.Get(name))
		return strings.ToValidUTF8(value[:min(len(value), maxCondition)], "")
	}
	cursor := values.Get("cursor")
	return model.AuditQuery{
		Stream: text("stream"), Group: text("group"), Principal: text("principal"), Operation: text("operation"), Outcome: text("outcome"),
		From: text("from"), To: text("to"), Cursor: cursor[:min(len(cursor), maxCursor)],
	}
}

// askedOf returns what the API is asked for. The refusal says what is wrong with a time.
func askedOf(query model.AuditQuery) (client.AuditQuery, *model.Refusal) {
	from, to, refusal := query.Times()
	return client.AuditQuery{
		StreamPrefix: query.Stream, ConsumerGroup: query.Group, Principal: query.Principal, From: from, To: to, Cursor: query.Cursor,
	}, refusal
}

// findAudit asks for records until a page is full, or as often as one page may. It asks for no
// more than the page has room for, so that its last record is where the next one begins.
func (p *Pages) findAudit(ctx context.Context, query model.AuditQuery, asked client.AuditQuery) (model.AuditFound, error) {
	var found model.AuditFound
	for call := range auditCalls {
		asked.Limit = model.AuditShown - len(found.Records)
		said, err := p.deps.API.Audit(ctx, asked)
		if err != nil {
			return found, err
		}
		if call == 0 {
			found.Head = said.Head
		}
		for _, record := range said.Records {
			if found.Newest == nil {
				found.Newest = &record
			}
			found.Seen++
			if query.Takes(record) {
				found.Records = append(found.Records, record)
			}
		}
		if said.Next == nil {
			found.Next = ""
			return found, nil
		}
		found.Next, asked.Cursor = *said.Next, *said.Next
		if len(found.Records) >= model.AuditShown || !query.Narrowed() && len(found.Records) > 0 {
			return found, nil
		}
	}
	return found, nil
}

func (p *Pages) auditPage(r *http.Request, who visitor, page model.Audit, status int) answer {
	return answer{status: status, body: view.AuditPage(p.frame(r, who, "Audit", "audit"), page)}
}
