package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// allShards is the selector of the records of all shards in the order of their ids.
const allShards = "all"

const messagesHelp = `Shows the records of a stream as a group sees them, the newest first: those of one shard, or of
all shards in the order of their ids. On a terminal every record is cut to one line; json and
yaml show whole values, of which the monitor cuts those above 64 kB and says so in cutFields.
What is not text is base64, named in base64Fields, and marked as such in the table.

A page ends with the cursor of the next one, which --cursor takes. --all reads all pages: with
--output json it prints one record a line, with yaml one document each. Records that are
written meanwhile belong to a walk forward too.`

// browsing is which records are asked for.
type browsing struct {
	client.MessageQuery

	shard, direction string
	index            int // of the shard, -1 for all
	all              bool
}

// messagePage is what messages answers.
type messagePage struct {
	StreamPrefix  string                         `json:"streamPrefix"`
	ConsumerGroup string                         `json:"consumerGroup"`
	Records       []protocol.StreamMessageRecord `json:"records"`
	NextCursor    *string                        `json:"nextCursor"`
}

func (s *session) messages() *cobra.Command {
	var want browsing
	cmd := &cobra.Command{
		Use: "messages STREAM [GROUP]", Short: "Show records", Args: cobra.RangeArgs(1, 2),
		Long: messagesHelp,
		Example: `  rscctl messages orders billing --limit 10
  rscctl messages orders --shard 3 --direction forward
  rscctl messages orders --id 1767323045000-0 -o json
  rscctl messages orders --all -o json | jq -r .payload`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := want.complete(); err != nil {
				return err
			}
			at, err := s.groupOf(cmd.Context(), args)
			if err != nil {
				return err
			}
			if want.all {
				return s.walkMessages(cmd.Context(), at, want)
			}
			return s.showMessages(cmd.Context(), at, want)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&want.shard, "shard", allShards, "`index` of a shard, or all")
	flags.StringVar(&want.direction, "direction", "backward", "backward from the newest, or forward from the oldest")
	flags.IntVar(&want.Limit, "limit", protocol.DefaultMessages, fmt.Sprintf("how many records a page has, 1 to %d", protocol.MaxMessages))
	flags.StringVar(&want.RecordID, "id", "", "show the record with this `id` only")
	flags.StringVar(&want.Cursor, "cursor", "", "go on where a page has ended")
	flags.BoolVar(&want.all, "all", false, "read all pages")
	return cmd
}

// complete checks the flags.
func (b *browsing) complete() error {
	b.Direction = protocol.MessageDirection(strings.ToUpper(b.direction))
	var err error
	if b.index, err = shardFlag(b.shard); err != nil {
		return err
	}
	switch {
	case b.Direction != protocol.DirectionForward && b.Direction != protocol.DirectionBackward:
		return usage("--direction is %q; it is forward or backward", b.direction)
	case b.RecordID != "" && (b.all || b.Cursor != ""):
		return usage("--id names one record; it goes neither with --all nor with --cursor")
	case b.Limit < 1 || b.Limit > protocol.MaxMessages:
		return usage("--limit is %d; it is a number from 1 to %d", b.Limit, protocol.MaxMessages)
	}
	return nil
}

func (s *session) showMessages(ctx context.Context, at place, want browsing) error {
	page, err := s.readMessages(ctx, at, want)
	if err != nil {
		return s.cannotMonitor(err, at, "show the records")
	}
	err = s.emit(page, func(out *show.Page) {
		s.printRecords(out, page.Records, true)
		switch {
		case len(page.Records) == 0:
			out.Line("No records.")
		case page.NextCursor != nil && want.RecordID == "":
			out.Line("Go on with: --cursor '%s'", *page.NextCursor)
		}
	})
	if err == nil && want.RecordID != "" && len(page.Records) == 0 {
		return ended(exitFailed, "stream %s has no record %s there", at.stream, want.RecordID)
	}
	return err
}

// walkMessages prints page after page.
func (s *session) walkMessages(ctx context.Context, at place, want browsing) error {
	for first := true; ; first = false {
		page, err := s.readMessages(ctx, at, want)
		if err != nil {
			if !first {
				s.notes().Line("rscctl: there is more; go on with: --cursor '%s'", want.Cursor)
			}
			return s.cannotMonitor(err, at, "read all records")
		}
		if err := s.printWalk(page.Records, first); err != nil {
			return err
		}
		if page.NextCursor == nil || *page.NextCursor == want.Cursor {
			return nil
		}
		want.Cursor = *page.NextCursor
	}
}

func (s *session) printWalk(records []protocol.StreamMessageRecord, heads bool) error {
	if !s.forPrograms() {
		out := s.page()
		s.printRecords(out, records, heads)
		if heads && len(records) == 0 {
			out.Line("No records.")
		}
		return out.Err()
	}
	for _, record := range records {
		if err := s.emitNext(record); err != nil {
			return err
		}
	}
	return nil
}

// readMessages reads one page, in one form for one shard and for all.
func (s *session) readMessages(ctx context.Context, at place, want browsing) (messagePage, error) {
	page := messagePage{StreamPrefix: at.stream, ConsumerGroup: at.group, Records: []protocol.StreamMessageRecord{}}
	if want.index >= 0 {
		found, err := s.admin.Messages(ctx, at.stream, at.group, want.index, want.MessageQuery)
		if err != nil {
			return page, err
		}
		page.Records, page.NextCursor = append(page.Records, found.Records...), found.NextCursor
		return page, nil
	}
	rows, err := s.admin.MergedMessages(ctx, at.stream, at.group, want.MessageQuery)
	if err != nil {
		return page, err
	}
	for _, row := range rows {
		record, err := recordOf(row)
		if err != nil {
			return page, err
		}
		page.Records, page.NextCursor = append(page.Records, record), row.PageNextCursor
	}
	return page, nil
}

// recordOf turns a flat row into a record.
func recordOf(row protocol.GrafanaMessageRow) (protocol.StreamMessageRecord, error) {
	fields := map[string]string{}
	if err := json.Unmarshal([]byte(row.FieldsJSON), &fields); err != nil {
		return protocol.StreamMessageRecord{}, fmt.Errorf("read the fields of record %s: %w", row.RecordID, err)
	}
	return protocol.StreamMessageRecord{
		StreamPrefix: row.StreamPrefix, ConsumerGroup: row.ConsumerGroup,
		Shard: protocol.ShardID{ShardIndex: row.ShardIndex}, StreamKey: row.StreamKey,
		RecordID: row.RecordID, Fields: fields, Payload: row.Payload,
		RecordTimestampMs: row.RecordTimestampMs, RecordTime: row.RecordTime,
		Base64Fields: append([]string{}, row.Base64Fields...), CutFields: append([]string{}, row.CutFields...),
	}, nil
}

// printRecords prints a line for each record, under heads where they are wanted. Pages of one
// walk stand below each other.
func (s *session) printRecords(out *show.Page, records []protocol.StreamMessageRecord, heads bool) {
	columns, _ := s.size()
	const form = "%-24s   %5s   %-20s   %s"
	if heads && len(records) > 0 {
		out.Line("%s", fmt.Sprintf(form, "TIME", "SHARD", "ID", "RECORD"))
	}
	for _, record := range records {
		at := show.None
		if record.RecordTime != nil {
			at = record.RecordTime.UTC().Format(eventTime)
		}
		out.Cut(columns, fmt.Sprintf(form, at, strconv.Itoa(record.Shard.ShardIndex), record.RecordID, contentOf(record)))
	}
}

// contentOf is a record on one line: its fields, sorted, with what they hold.
func contentOf(record protocol.StreamMessageRecord) string {
	parts := make([]string, 0, len(record.Fields))
	for _, name := range keys(record.Fields) {
		value := record.Fields[name]
		if slices.Contains(record.Base64Fields, name) {
			value = "(base64)" + value
		}
		if slices.Contains(record.CutFields, name) {
			value += "(cut)"
		}
		parts = append(parts, name+"="+value)
	}
	return strings.Join(parts, " ")
}
