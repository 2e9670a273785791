package pages

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

// answerTime bounds what a page may take.
const answerTime = 15 * time.Second

// answer is what becomes of a request: a page, or the address of another one.
type answer struct {
	status   int // 0 is 200
	body     templ.Component
	location string
}

// page makes an answer. Its context asks the API in the visitor's name.
type page func(ctx context.Context, r *http.Request, who visitor) (answer, error)

// see sends the browser on to another page, with GET.
func see(location string) answer { return answer{status: http.StatusSeeOther, location: location} }

// show serves a page to those who have logged in.
func (p *Pages) show(of page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who := p.visitorOf(r)
		if !who.known() {
			p.write(w, r, see(loginFor(r)))
			return
		}
		p.serve(w, r, who, of)
	}
}

// open serves a page to everybody.
func (p *Pages) open(of page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, p.visitorOf(r), of) }
}

func (p *Pages) serve(w http.ResponseWriter, r *http.Request, who visitor, of page) {
	ctx, cancel := context.WithTimeout(who.asking(r.Context()), answerTime)
	defer cancel()
	said, err := of(ctx, r, who)
	if err != nil {
		said = p.failed(r, who, err)
	}
	p.write(w, r, said)
}

// loginFor returns the address of the login that leads back to what was asked for.
func loginFor(r *http.Request) string {
	at := Root + "/login"
	if r.Method != http.MethodGet || r.URL.RequestURI() == Root {
		return at
	}
	return at + "?" + url.Values{"next": {r.URL.RequestURI()}}.Encode()
}

// write renders a page whole before any of it is sent, so that what fails shows as a failure.
func (p *Pages) write(w http.ResponseWriter, r *http.Request, said answer) {
	if said.location != "" {
		w.Header().Set("Location", said.location)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	var html bytes.Buffer
	if err := said.body.Render(r.Context(), &html); err != nil {
		p.answers.Error(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if said.status != 0 {
		w.WriteHeader(said.status)
	}
	if _, err := w.Write(html.Bytes()); err != nil {
		p.deps.Log.DebugContext(r.Context(), "a page was not taken", "reason", err)
	}
}

// failed returns the page for what went wrong. Somebody whose session is over logs in again.
func (p *Pages) failed(r *http.Request, who visitor, err error) answer {
	if errors.Is(err, client.ErrUnauthorized) {
		return see(loginFor(r))
	}
	trouble := troubleOf(err)
	if trouble.Status >= http.StatusInternalServerError {
		p.deps.Log.WarnContext(r.Context(), "page failed", "path", r.URL.Path, "error", err)
	}
	return answer{status: trouble.Status, body: view.TroublePage(p.frame(r, who, trouble.Title, ""), trouble)}
}

// troubleOf says what went wrong, why, and what can be done.
func troubleOf(err error) view.Trouble {
	refusal, refused := errors.AsType[*protocol.Error](err)
	switch {
	case errors.Is(err, client.ErrForbidden):
		return view.Trouble{
			Status: http.StatusForbidden, Title: "Not allowed", Text: textOf(err),
			Advice: "Ask whoever administers the gateway for the role, or for access to this stream.",
		}
	case refused && protocol.FaultOf(refusal.Code).Status == http.StatusNotFound:
		return view.Trouble{
			Status: http.StatusNotFound, Title: "Not found", Text: refusal.Message,
			Advice: "It may have been deleted. The overview lists what is there.",
		}
	case refused && refusal.Retriable():
		return view.Trouble{
			Status: http.StatusServiceUnavailable, Title: "Not available at the moment", Text: refusal.Message,
			Advice: "Try again in a few seconds; the system page shows which part does not answer.",
		}
	case refused:
		return view.Trouble{Status: http.StatusBadRequest, Title: "Refused", Text: refusal.Message, Code: string(refusal.Code)}
	case errors.Is(err, client.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		return view.Trouble{
			Status: http.StatusServiceUnavailable, Title: "The gateway does not answer",
			Text:   "The console could not get an answer from the gateway's API in time.",
			Advice: "Try again in a few seconds. If it stays so, look at the gateway's log.",
		}
	default:
		return view.Trouble{Status: http.StatusInternalServerError, Title: "The console has failed", Text: "What went wrong is in the console's log."}
	}
}

// textOf returns what the API said about a refusal, without what the SDK puts before it.
func textOf(err error) string {
	if refusal, is := errors.AsType[*protocol.Error](err); is {
		return refusal.Message
	}
	return strings.TrimSpace(err.Error())
}

// nothing answers for a path that no page has.
func (p *Pages) nothing(context.Context, *http.Request, visitor) (answer, error) {
	return answer{}, protocol.Errorf(protocol.CodeNotFound, "there is no such page")
}
