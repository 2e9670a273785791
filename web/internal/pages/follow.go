package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

const (
	// liveTime is how long a page is kept up to date by one request. The browser comes back at
	// once, with a new token of the gateway: so who has logged out, or lost a right, sees no more
	// after this long.
	liveTime = 30 * time.Second
	// liveRetry is after how many milliseconds it comes back.
	liveRetry = 500
	// liveWrite is how long a browser may take for one event.
	liveWrite = 10 * time.Second
)

// fragment is a piece of a page that changes: the content of the element with its ID.
type fragment struct {
	id   string
	body templ.Component
}

// kept is a page that can be kept up to date.
type kept struct {
	// room is what is followed for a request.
	room func(r *http.Request) room
	// allowed asks the API whether the visitor may see that.
	allowed func(ctx context.Context, at room) error
	// details asks for what the events do not tell; nil where a page needs no more.
	details detailer
	// every is after how long the pieces are made again though no event came; 0 is never.
	every time.Duration
	// fragments are the pieces for a request, of what there is to see.
	fragments func(ctx context.Context, r *http.Request, scene *model.Scene) ([]fragment, error)
}

// kept returns the pages that are kept up to date, by their names.
func (p *Pages) kept() map[string]kept {
	return map[string]kept{"overview": p.overviewKept(), "group": p.groupKept(), "migration": p.migrationKept(), "system": p.systemKept()}
}

// follow answers with server-sent events: the pieces of a page that have changed, as JSON
// objects of id and html, or of id and the rows of its tables that have.
func (p *Pages) follow(w http.ResponseWriter, r *http.Request) {
	who := p.visitorOf(r)
	page, found := p.kept()[r.URL.Query().Get("page")]
	switch {
	case !who.known():
		p.answers.Error(w, r, protocol.Errorf(protocol.CodeUnauthorized, "log in first"))
		return
	case !found:
		p.answers.Error(w, r, protocol.Errorf(protocol.CodeNotFound, "there is no such page"))
		return
	}
	ctx, cancel := context.WithTimeout(who.asking(r.Context()), liveTime)
	defer cancel()
	at := page.room(r)
	if at.stream == "" {
		at.scopes = who.scopes()
	}
	if err := page.allowed(ctx, at); err != nil {
		p.answers.Error(w, r, err)
		return
	}
	one, err := p.live.enter(ctx, at, who.token, p.deps.API)
	if err != nil {
		p.answers.Error(w, r, err)
		return
	}
	defer p.live.leave(one)
	if page.details != nil {
		p.live.detail(one, page.details)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies in front are not to collect it
	t := &teller{to: w, control: http.NewResponseController(w), sent: map[string]shape{}}
	if err := p.tell(ctx, r, t, one, page); err != nil {
		p.deps.Log.DebugContext(ctx, "a page is no longer kept up to date", "reason", err)
	}
}

func (p *Pages) tell(ctx context.Context, r *http.Request, t *teller, one *viewer, page kept) error {
	if err := t.write(fmt.Appendf(nil, "retry: %d\n\n", liveRetry)); err != nil {
		return err
	}
	again, stop := ticks(page.every)
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		case _, more := <-one.news:
			if !more {
				return nil
			}
		}
		scene := p.live.scene(one)
		if scene == nil {
			continue
		}
		pieces, err := page.fragments(ctx, r, scene)
		if err != nil {
			return err
		}
		if err := t.tell(ctx, scene, pieces); err != nil {
			return err
		}
	}
}

// ticks returns a channel that something comes from at an interval, nothing ever for 0.
func ticks(every time.Duration) (<-chan time.Time, func()) {
	if every == 0 {
		return nil, func() {}
	}
	ticker := clock.NewTicker(every)
	return ticker.C, ticker.Stop
}

// teller writes the pieces of one page, those that differ from what it wrote before.
type teller struct {
	to      http.ResponseWriter
	control *http.ResponseController
	sent    map[string]shape
}

// news is an event: the pieces that have changed, and of when they are.
type news struct {
	At     protocol.Timestamp `json:"at"`
	Pieces []piece            `json:"pieces"`
}

// piece is what has changed of a fragment: all of it, or with Rows only those.
type piece struct {
	ID   string    `json:"id"`
	HTML string    `json:"html"`
	Rows []rowNews `json:"rows,omitempty"`
}

func (t *teller) tell(ctx context.Context, scene *model.Scene, pieces []fragment) error {
	event := news{At: scene.At, Pieces: []piece{}}
	for _, each := range pieces {
		var html bytes.Buffer
		if err := each.body.Render(ctx, &html); err != nil {
			return fmt.Errorf("render %s: %w", each.id, err)
		}
		now, rows := shapeOf(html.String())
		before, was := t.sent[each.id]
		t.sent[each.id] = now
		switch changed, only := now.changed(before, rows); {
		case !was || !only:
			event.Pieces = append(event.Pieces, piece{ID: each.id, HTML: html.String()})
		case len(changed) > 0:
			event.Pieces = append(event.Pieces, piece{ID: each.id, Rows: changed})
		}
	}
	out := bytes.NewBufferString("event: pieces\ndata: ")
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false) // it is HTML, and read as JSON
	if err := encoder.Encode(event); err != nil {
		return fmt.Errorf("encode pieces: %w", err)
	}
	out.WriteByte('\n')
	return t.write(out.Bytes())
}

func (t *teller) write(text []byte) error {
	// A writer that has no deadline needs none moved.
	_ = t.control.SetWriteDeadline(clock.Now().Add(liveWrite))
	if _, err := t.to.Write(text); err != nil {
		return fmt.Errorf("write an event: %w", err)
	}
	if err := t.control.Flush(); err != nil {
		return fmt.Errorf("flush an event: %w", err)
	}
	return nil
}
