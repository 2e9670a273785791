package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

const auditHelp = `The gateway records every change that it is asked for, allowed or not: an INTENT before it
is sent, an OUTCOME after it, a REPLAY where an earlier answer was given again. The result
is ALLOWED, REFUSED, or FAILED where nobody knows whether it was carried out.

--coordinator has to name a gateway; a coordinator keeps no audit.`

func (s *session) audit() *cobra.Command {
	return family("audit", "Who asked for which change, and what became of it", auditHelp, s.auditList(), s.auditVerify())
}

// selection is which records are asked for, as given.
type selection struct {
	client.AuditQuery

	from, to string
}

func (s *session) auditList() *cobra.Command {
	var want selection
	cmd := &cobra.Command{
		Use: "list", Short: "List audit records, the newest first", Args: cobra.NoArgs,
		Example: `  rscctl audit list --stream orders --from 2026-01-02T00:00:00Z
  rscctl audit list --principal ann --limit 20`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := want.complete(); err != nil {
				return err
			}
			found, err := s.auditRecords(cmd.Context(), want.AuditQuery)
			if err != nil {
				return s.cannotAudit(err, "list the audit")
			}
			return s.emit(found, func(page *show.Page) { printAudit(page, found) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&want.StreamPrefix, "stream", "", "records about this stream")
	flags.StringVar(&want.ConsumerGroup, "group", "", "records about this group")
	flags.StringVar(&want.Principal, "principal", "", "records of what this `user` asked for")
	flags.StringVar(&want.from, "from", "", "records from this `time` on, as in 2026-01-02T03:04:05Z")
	flags.StringVar(&want.to, "to", "", "records up to this `time`")
	flags.IntVar(&want.Limit, "limit", protocol.DefaultAudit, "list the newest `N` records; 0 lists all")
	return cmd
}

// complete checks the flags.
func (w *selection) complete() error {
	if w.Limit < 0 {
		return usage("--limit is %d; it is a number from 0 on", w.Limit)
	}
	for _, one := range []struct {
		flag, text string
		into       *time.Time
	}{{"--from", w.from, &w.From}, {"--to", w.to, &w.To}} {
		if one.text == "" {
			continue
		}
		var err error
		if *one.into, err = time.Parse(time.RFC3339, one.text); err != nil {
			return usage("%s is %q; it is a time as in 2026-01-02T03:04:05Z", one.flag, one.text)
		}
	}
	return nil
}

// auditRecords reads pages until there are as many records as wanted, 0 for all.
func (s *session) auditRecords(ctx context.Context, query client.AuditQuery) (protocol.AuditResponse, error) {
	found := protocol.AuditResponse{Records: []protocol.AuditRecord{}}
	wanted := query.Limit
	for {
		query.Limit = protocol.MaxAudit
		if left := wanted - len(found.Records); wanted > 0 && left < query.Limit {
			query.Limit = left
		}
		page, err := s.admin.Audit(ctx, query)
		if err != nil {
			return found, err
		}
		found.Records, found.Next = append(found.Records, page.Records...), page.Next
		if query.Cursor == "" {
			found.Head = page.Head
		}
		if page.Next == nil || *page.Next == query.Cursor || wanted > 0 && len(found.Records) >= wanted {
			return found, nil
		}
		query.Cursor = *page.Next
	}
}

// cannotAudit wraps what failed. An audit that goes to a log is not out of order.
func (s *session) cannotAudit(err error, doing string) error {
	if refused, ok := errors.AsType[*protocol.Error](err); ok && refused.Code == protocol.CodeRedisNotConfigured {
		return ended(exitFailed, "cannot %s: %s; verify its lines with: rscctl audit verify --file FILE", doing, refused.Message)
	}
	return s.cannot(err, place{}, "%s", doing)
}

func printAudit(page *show.Page, found protocol.AuditResponse) {
	var rows [][]string
	for _, record := range found.Records {
		rows = append(rows, []string{
			show.Time(record.Time), orElse(record.Principal, show.None), record.Operation, subjectOf(record),
			string(record.Kind), resultOf(record), statusOf(record), record.RequestID,
		})
	}
	page.Table([]string{"TIME", "WHO", "OPERATION", "STREAM/GROUP", "KIND", "RESULT", "STATUS", "REQUEST"}, rows, "No audit records.")
}

// subjectOf tells what a record is about, from the stream down.
func subjectOf(record protocol.AuditRecord) string {
	var parts []string
	for _, part := range []string{record.StreamPrefix, record.ConsumerGroup, record.MemberID, record.ReshardingID} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return orElse(strings.Join(parts, "/"), show.None)
}

func resultOf(record protocol.AuditRecord) string {
	return orElse(string(record.Result), show.None)
}

func statusOf(record protocol.AuditRecord) string {
	switch {
	case record.Status == 0:
		return show.None
	case record.ErrorCode == "":
		return strconv.Itoa(record.Status)
	default:
		return strconv.Itoa(record.Status) + " " + record.ErrorCode
	}
}
