package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

const (
	// progressEvery is after how many records it is said how many there are.
	progressEvery = 10_000
	// maxLine is the longest line of a log, in bytes.
	maxLine = 16 << 20
)

const verifyHelp = `Verifies the chain of hashes of the audit: whether records were changed, removed, moved or
forged since they were written, and which changes have an intent and no outcome. The exit
code is 1 when something is wrong. Notes tell what the chain cannot show: a sink keeps a
bound of records, so the oldest ones may be gone; compare the hash that is told with one
noted before.

It needs a user without scopes, and an rscctl that is no older than the gateway.

With --file it verifies the lines of a log instead, each run of a gateway for itself; "-"
reads the input. Files of one log are named in their order.`

// verdict is what rscctl audit verify answers.
type verdict struct {
	Records  int                 `json:"records"`
	Head     *protocol.AuditHead `json:"head"`
	Findings []audit.Finding     `json:"findings"`
}

// faults counts what is no note.
func (v verdict) faults() int {
	count := 0
	for _, finding := range v.Findings {
		if !finding.Kind.Note() {
			count++
		}
	}
	return count
}

func (s *session) auditVerify() *cobra.Command {
	var files []string
	cmd := &cobra.Command{
		Use: "verify", Short: "Verify that nobody tampered with the audit", Args: cobra.NoArgs,
		Long: verifyHelp,
		Example: `  rscctl audit verify
  kubectl logs deploy/gateway | rscctl audit verify --file -`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := s.verify(cmd.Context(), files)
			if err != nil {
				return err
			}
			if err := s.emit(found, func(page *show.Page) { printVerdict(page, found) }); err != nil {
				return err
			}
			if faults := found.faults(); faults > 0 {
				return ended(exitFailed, "the audit is not whole: %d findings", faults)
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&files, "file", nil, "verify the lines of this `file` instead; may be repeated")
	return cmd
}

func (s *session) verify(ctx context.Context, files []string) (verdict, error) {
	if len(files) > 0 {
		return s.verifyFiles(files)
	}
	var records []protocol.AuditRecord
	var head *protocol.AuditHead
	for query := (client.AuditQuery{Limit: protocol.MaxAudit}); ; {
		page, err := s.admin.Audit(ctx, query)
		if err != nil {
			return verdict{}, s.cannotAudit(err, "verify the audit")
		}
		if query.Cursor == "" {
			if head = page.Head; head == nil {
				return verdict{}, ended(exitFailed, "the gateway shows a part of the audit only, as this user has scopes; a part has no chain")
			}
		}
		before := len(records)
		records = append(records, page.Records...)
		s.progress(before, len(records))
		if page.Next == nil || *page.Next == query.Cursor {
			break
		}
		query.Cursor = *page.Next
	}
	slices.Reverse(records)
	return verdict{len(records), head, append([]audit.Finding{}, audit.Verify(records, head)...)}, nil
}

// progress says how many records were read, beside the answer.
func (s *session) progress(before, now int) {
	if before/progressEvery != now/progressEvery {
		s.notes().Line("rscctl: %d records read", now)
	}
}

func (s *session) verifyFiles(names []string) (verdict, error) {
	var log auditLog
	for _, name := range names {
		if err := s.readLog(name, &log); err != nil {
			return verdict{}, err
		}
	}
	findings := append([]audit.Finding{}, log.findings...)
	return verdict{len(log.records), nil, append(findings, audit.Verify(log.records, nil)...)}, nil
}

// auditLog is what the lines of logs hold.
type auditLog struct {
	records  []protocol.AuditRecord
	findings []audit.Finding
}

func (s *session) readLog(name string, log *auditLog) error {
	from := s.In
	if name != "-" {
		file, err := os.Open(name) // #nosec G304 -- the caller says which
		if err != nil {
			return fmt.Errorf("open log: %w", err)
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	return s.takeLines(name, from, log)
}

func (s *session) takeLines(name string, from io.Reader, log *auditLog) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	for number := 1; lines.Scan(); number++ {
		record, found, err := audit.ParseLine(lines.Bytes())
		at := fmt.Sprintf("line %d of %s", number, name)
		switch {
		case !found:
			continue
		case errors.Is(err, audit.ErrTorn):
			log.findings = append(log.findings, audit.Finding{Kind: audit.Unreadable, Text: at + " is not whole"})
			continue
		case err != nil:
			log.findings = append(log.findings, audit.Finding{
				Kind: audit.Changed, Sequence: record.Sequence, Chain: record.Chain, Text: at + " has not the form in which it was written",
			})
		}
		log.records = append(log.records, record)
		s.progress(len(log.records)-1, len(log.records))
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read log %s: %w", name, err)
	}
	return nil
}

func printVerdict(page *show.Page, found verdict) {
	for _, finding := range found.Findings {
		word := "FAULT"
		if finding.Kind.Note() {
			word = "note"
		}
		page.Line("%s  %s  chain %s: %s", word, finding.Kind, orElse(finding.Chain, show.None), finding.Text)
	}
	if found.faults() == 0 {
		page.Line("The audit is whole: %d records.", found.Records)
	}
	if found.Head != nil && found.Head.Sequence > 0 {
		page.Line("Its newest record is %d with hash %s; note it elsewhere to compare later.", found.Head.Sequence, found.Head.Hash)
	}
}
