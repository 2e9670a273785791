package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

const lagHelp = `Shows how far a group is behind, one line a shard and the sums at the end; without a stream
all groups, one line each. The numbers are those that the monitor observed last. What nobody
knows is "-" and never 0, and a sum with an unknown part is unknown; the last column says why:

  LAG_UNKNOWN           Redis cannot tell the lag, for example after records were deleted
  LAG_CONTRADICTS_TAIL  Redis tells a lag that does not fit what is behind the cursor
  NOT_OBSERVED, STREAM_MISSING, GROUP_MISSING  the shard could not be looked at
  TRIMMED_UNREAD        records went away before they were read

PRODUCED/S counts records that are added, CONSUMED/S those that are delivered to the group,
UNREAD AGE is that of the oldest record that was not delivered, PENDING are those delivered
and not acknowledged.

--watch shows them anew with every round of the monitor until it is interrupted: on a
terminal in place, otherwise as lines that begin with the time; with --output json as one
line of JSON a round, with yaml as a document.`

// lagView is which lag is shown, and how.
type lagView struct {
	at    place // empty parts are all
	order string
	watch bool
}

// lagReport is what lag answers: one of the two is set.
type lagReport struct {
	shards *protocol.StreamShardOffsetsResponse
	groups *lagGroups
}

// lagGroups is the answer about several groups.
type lagGroups struct {
	Groups []protocol.GrafanaGroupRow `json:"groups"`
}

func (s *session) lag() *cobra.Command {
	var want lagView
	cmd := &cobra.Command{
		Use: "lag [STREAM] [GROUP]", Short: "Show how far groups are behind", Args: cobra.MaximumNArgs(2),
		Long: lagHelp,
		Example: `  rscctl lag
  rscctl lag orders billing --sort lag
  rscctl lag orders billing --watch`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if want.order != sortIndex && want.order != sortLag {
				return usage("--sort is %q; it is index or lag", want.order)
			}
			if len(args) > 0 {
				var err error
				if want.at, err = s.groupOf(cmd.Context(), args); err != nil {
					return err
				}
			}
			return s.showLag(cmd.Context(), want)
		},
	}
	cmd.Flags().StringVar(&want.order, "sort", sortIndex, "order: index, or lag for the most behind first")
	cmd.Flags().BoolVarP(&want.watch, "watch", "w", false, "show every round until interrupted")
	return cmd
}

func (s *session) showLag(ctx context.Context, want lagView) error {
	found, err := s.readLag(ctx, want.at)
	if err != nil {
		return s.cannotMonitor(err, want.at, "show the lag")
	}
	if want.watch {
		return s.watchLag(ctx, want)
	}
	return s.emit(found.answer(), func(page *show.Page) {
		heads, rows := found.table(want.order)
		page.Table(heads, rows, "No groups.")
	})
}

// readLag asks the monitor.
func (s *session) readLag(ctx context.Context, at place) (lagReport, error) {
	if at.stream != "" {
		shards, err := s.admin.Offsets(ctx, at.stream, at.group)
		return lagReport{shards: shards}, err
	}
	rows, err := s.admin.GroupRows(ctx)
	return lagReport{groups: &lagGroups{append([]protocol.GrafanaGroupRow{}, rows...)}}, err
}

func (r lagReport) answer() any {
	if r.shards != nil {
		return r.shards
	}
	return r.groups
}

func (r lagReport) table(order string) (heads []string, rows [][]string) {
	heads, rows, lines := groupHeads(), [][]string{}, []lagLine{}
	switch {
	case r.shards != nil:
		heads, lines = shardHeads(), shardLines(r.shards, order)
	case len(r.groups.Groups) > 0:
		lines = groupLines(r.groups.Groups, order)
	}
	for _, line := range lines {
		rows = append(rows, line.cells())
	}
	return heads, rows
}

// watchLag shows the lag with every round of the monitor, and outlasts a gateway or a monitor
// that is away.
func (s *session) watchLag(ctx context.Context, want lagView) error {
	told := s.onceInARow(func() {})
	query := client.FollowQuery{Stream: want.at.stream, OnTrouble: told}
	err := s.admin.Follow(ctx, query, func(update client.Update) error {
		if update.Groups == nil {
			return nil
		}
		found, err := s.readLag(ctx, want.at)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && passing(err):
			told(err)
			return nil
		case err != nil:
			return s.cannotMonitor(err, want.at, "show the lag")
		}
		return s.drawLag(found, want, update.Groups.At)
	})
	switch {
	case errors.Is(err, ctx.Err()): // the interrupt is how this ends
		return nil
	case errors.As(err, new(*failedError)):
		return err
	}
	return s.cannotMonitor(err, want.at, "follow the lag")
}

// drawLag shows one round.
func (s *session) drawLag(found lagReport, want lagView, at protocol.Timestamp) error {
	if s.forPrograms() {
		return s.emitNext(found.answer())
	}
	heads, rows := found.table(want.order)
	page := s.page()
	if !s.redraws() {
		printLagLines(page, heads, rows, show.Time(at))
		return page.Err()
	}
	page.Clear()
	page.Line("%s  every round of the monitor, until interrupted", show.Time(protocol.AtMillis(clock.Now().UnixMilli())))
	page.Blank()
	_, lines := s.size()
	rows, hidden := fitting(rows, lines)
	page.Table(heads, rows, "No groups.")
	if hidden > 0 {
		page.Line("(%d more lines: a higher terminal shows them)", hidden)
	}
	return page.Err()
}

// besideRows is how many lines a drawing has beside its rows: the title, a blank one, the heads,
// the note of what is hidden, and the one that the cursor stands on.
const besideRows = 5

// fitting leaves rows out until all fits on so many lines; the last one, the sums, stays.
func fitting(rows [][]string, lines int) (shown [][]string, hidden int) {
	room := max(1, lines-besideRows)
	if lines <= 0 || len(rows) <= room {
		return rows, 0
	}
	return append(slices.Clone(rows[:room-1]), rows[len(rows)-1]), len(rows) - room
}

// printLagLines prints each row as one line for who reads a log.
func printLagLines(page *show.Page, heads []string, rows [][]string, at string) {
	for _, row := range rows {
		words := []string{at}
		for column, text := range row {
			if text != "" {
				words = append(words, strings.ToLower(heads[column])+" "+text)
			}
		}
		page.Line("%s", strings.Join(words, "  "))
	}
	if len(rows) == 0 {
		page.Line("%s  no groups", at)
	}
}

// redraws tells whether the output is a terminal that can be drawn anew.
func (s *session) redraws() bool { return s.OutTerminal && s.Env("TERM") != "dumb" }

// size is that of the terminal, 0 where nobody knows.
func (s *session) size() (columns, lines int) {
	if s.Size == nil || !s.OutTerminal {
		return 0, 0
	}
	return s.Size()
}

// cannotMonitor wraps what the monitor did not answer.
func (s *session) cannotMonitor(err error, at place, doing string) error {
	if at.stream != "" {
		doing += " of group " + at.group + " of stream " + at.stream
	}
	at.monitor = true
	return s.cannot(err, at, "%s", doing)
}
