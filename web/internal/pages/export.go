package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

const (
	// exportMost is how many records one export has.
	exportMost = 100_000
	// exportTime bounds an export; it is below the life of the token with which the API is asked.
	exportTime = 55 * time.Second
	// exportWrite is how long a browser may take for one page of the API's.
	exportWrite = 20 * time.Second
	// exportsMost is how many exports are made at once. Each asks the gateway as fast as it answers.
	exportsMost = 4
)

// errNotTaken is a browser that takes no more.
var errNotTaken = errors.New("the export was not taken")

// exportForm is how records are written.
type exportForm struct {
	ending, mediaType string
	head              func() []byte
	record            func(protocol.AuditRecord) ([]byte, error)
	end               func(model.ExportEnd) ([]byte, error)
}

func asCSV() exportForm {
	return exportForm{
		ending: "csv", mediaType: "text/csv; charset=utf-8; header=present", head: model.AuditCSVHead,
		record: func(record protocol.AuditRecord) ([]byte, error) { return model.AuditCSV(record), nil },
		end:    func(end model.ExportEnd) ([]byte, error) { return end.CSV(), nil },
	}
}

// asNDJSON writes the records in the one form of which their hashes are.
func asNDJSON() exportForm {
	return exportForm{
		ending: "ndjson", mediaType: "application/x-ndjson", head: func() []byte { return nil },
		record: func(record protocol.AuditRecord) ([]byte, error) { return line(audit.Encode(record)) },
		end:    func(end model.ExportEnd) ([]byte, error) { return line(json.Marshal(end)) },
	}
}

func line(text []byte, err error) ([]byte, error) { return append(text, '\n'), err }

// export answers with all records that meet the conditions, newest first, as they are read. What
// keeps it from being complete is said in its last line; before the first record it is a page.
func (p *Pages) export(form exportForm) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who := p.visitorOf(r)
		if !who.known() {
			p.write(w, r, see(loginFor(r)))
			return
		}
		select {
		case p.exports <- struct{}{}:
			defer func() { <-p.exports }()
		default:
			p.write(w, r, p.failed(r, who, protocol.Errorf(protocol.CodeOverloaded, "%d exports are being made already, which is as many as may", exportsMost)))
			return
		}
		ctx, cancel := context.WithTimeout(who.asking(r.Context()), exportTime)
		defer cancel()
		query := auditQuery(r.URL.Query())
		page := model.NewAudit(query, Root)
		asked, refusal := askedOf(query)
		if refusal != nil {
			p.write(w, r, p.auditPage(r, who, page.Refused(refusal), http.StatusBadRequest))
			return
		}
		asked.Limit = protocol.MaxAudit
		first, err := p.deps.API.Audit(ctx, asked)
		if err != nil {
			said, err := p.auditRefused(r, who, page, err)
			if err != nil {
				said = p.failed(r, who, err)
			}
			p.write(w, r, said)
			return
		}
		w.Header().Set("Content-Type", form.mediaType)
		w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="audit-%s.%s"`, p.deps.Now().UTC().Format("20060102T150405Z"), form.ending))
		out := &exporter{to: w, control: http.NewResponseController(w), form: form, query: query}
		if err := p.exportAll(ctx, out, asked, first); err != nil {
			p.deps.Log.DebugContext(ctx, "an export has ended early", "records", out.written, "reason", err)
		}
	}
}

// exportAll writes a page of the API's and all that follow.
func (p *Pages) exportAll(ctx context.Context, out *exporter, asked client.AuditQuery, page *protocol.AuditResponse) error {
	if err := out.write(out.form.head()); err != nil {
		return err
	}
	for {
		if err := out.records(page.Records); err != nil {
			return err
		}
		switch {
		case page.Next == nil:
			return nil
		case *page.Next == asked.Cursor:
			return out.end("the gateway does not get on", asked.Cursor)
		}
		asked.Cursor = *page.Next
		if asked.Limit = min(protocol.MaxAudit, exportMost-out.written); asked.Limit == 0 {
			return out.end("that is as many as one export may have", asked.Cursor)
		}
		var err error
		if page, err = p.deps.API.Audit(ctx, asked); err != nil {
			return errors.Join(err, out.end(whyEnded(ctx, err), asked.Cursor))
		}
	}
}

// whyEnded says why the API was not asked for more.
func whyEnded(ctx context.Context, err error) string {
	switch {
	case errors.Is(err, client.ErrUnauthorized), ctx.Err() != nil:
		return "the time of one export, a minute, is over, or the session has ended"
	default:
		return "the gateway has refused the next page: " + textOf(err)
	}
}

// exporter writes an export.
type exporter struct {
	to      http.ResponseWriter
	control *http.ResponseController
	form    exportForm
	query   model.AuditQuery
	written int
}

// records writes those that meet the conditions which the API does not know.
func (e *exporter) records(records []protocol.AuditRecord) error {
	var text []byte
	for _, record := range records {
		if !e.query.Takes(record) {
			continue
		}
		line, err := e.form.record(record)
		if err != nil {
			return fmt.Errorf("write record %d: %w", record.Sequence, err)
		}
		text = append(text, line...)
		e.written++
	}
	return e.write(text)
}

func (e *exporter) end(why, cursor string) error {
	text, err := e.form.end(model.NewExportEnd(e.query, e.written, why, Root, e.form.ending, cursor))
	if err != nil {
		return fmt.Errorf("write the end: %w", err)
	}
	return e.write(text)
}

func (e *exporter) write(text []byte) error {
	// A writer that has no deadline needs none moved.
	_ = e.control.SetWriteDeadline(clock.Now().Add(exportWrite))
	if _, err := e.to.Write(text); err != nil {
		return fmt.Errorf("%w: %w", errNotTaken, err)
	}
	if err := e.control.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errNotTaken, err)
	}
	return nil
}
