package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

const pendingHelp = `Shows the records that a group was given and has not acknowledged: with whom each one is, for
how long, and how often it was delivered. Those with the lowest ids come first, shard by shard.
Without --shard these are the shards on which the monitor saw something pending when it looked
last.

An entry whose consumer is gone is taken over by who reads the shard now. One that was delivered
again and again is a record that its handler cannot bear: see it with
rscctl messages STREAM GROUP --shard N --id ID. Looking changes nothing.

Where there is more, the last lines tell the shard and the cursor to go on with.`

// outstanding is which pending entries are asked for.
type outstanding struct {
	client.PendingQuery

	shard string
	index int // of the shard, -1 for all
}

// pendingPage is what pending answers.
type pendingPage struct {
	StreamPrefix  string         `json:"streamPrefix"`
	ConsumerGroup string         `json:"consumerGroup"`
	Entries       []pendingEntry `json:"entries"`
	// More are the shards of which entries were left out.
	More []pendingMore `json:"more"`
}

// pendingEntry is an entry with its shard.
type pendingEntry struct {
	Shard protocol.ShardID `json:"shard"`
	protocol.PendingEntry
}

// pendingMore is where to go on with a shard; without a cursor nothing of it was shown.
type pendingMore struct {
	Shard      protocol.ShardID `json:"shard"`
	NextCursor *string          `json:"nextCursor"`
}

func (s *session) pending() *cobra.Command {
	var want outstanding
	cmd := &cobra.Command{
		Use: "pending STREAM [GROUP]", Short: "Show records that were delivered and not acknowledged", Args: cobra.RangeArgs(1, 2),
		Long: pendingHelp,
		Example: `  rscctl pending orders billing
  rscctl pending orders billing --shard 3 --limit 100
  rscctl pending orders billing --consumer billing-7c9f
  rscctl pending orders -o json | jq '.entries[] | select(.deliveryCount > 3)'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := want.complete(); err != nil {
				return err
			}
			at, err := s.groupOf(cmd.Context(), args)
			if err != nil {
				return err
			}
			page, failed, err := s.readPending(cmd.Context(), at, want)
			if err != nil {
				return s.cannotMonitor(err, at, "show what is pending")
			}
			err = s.emit(page, func(out *show.Page) { printPending(out, page) })
			if err == nil && len(failed) > 0 {
				return ended(exitFailed, "shard %s could not be read, so this is not all; rscctl lag %s %s says what is wrong with it",
					show.Ranges(failed), at.stream, at.group)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&want.shard, "shard", allShards, "`index` of a shard, or all")
	flags.StringVar(&want.Consumer, "consumer", "", "only what this `id` of a member was given")
	flags.IntVar(&want.Limit, "limit", protocol.DefaultMessages, fmt.Sprintf("how many entries are shown, 1 to %d", protocol.MaxMessages))
	flags.StringVar(&want.Cursor, "cursor", "", "go on in a shard where it has ended, or behind a record `id`")
	return cmd
}

// complete checks the flags.
func (o *outstanding) complete() error {
	var err error
	if o.index, err = shardFlag(o.shard); err != nil {
		return err
	}
	switch {
	case o.index < 0 && o.Cursor != "":
		return usage("--cursor is of one shard; name it with --shard")
	case o.Limit < 1 || o.Limit > protocol.MaxMessages:
		return usage("--limit is %d; it is a number from 1 to %d", o.Limit, protocol.MaxMessages)
	}
	return nil
}

// shardFlag reads the index of a shard, -1 for all.
func shardFlag(text string) (int, error) {
	index, err := strconv.Atoi(text)
	switch {
	case text == allShards:
		return -1, nil
	case err != nil || index < 0:
		return 0, usage("--shard is %q; it is an index from 0 on, or all", text)
	}
	return index, nil
}

// readPending reads shard after shard until there is enough. failed are those of all that could not
// be read now.
func (s *session) readPending(ctx context.Context, at place, want outstanding) (page pendingPage, failed []int, err error) {
	page = pendingPage{StreamPrefix: at.stream, ConsumerGroup: at.group, Entries: []pendingEntry{}, More: []pendingMore{}}
	if want.index >= 0 {
		err = s.addPending(ctx, at, want.index, want, &page)
		return page, nil, err
	}
	shards, err := s.shardsPending(ctx, at)
	if err != nil {
		return page, nil, err
	}
	for _, shard := range shards {
		switch err := s.addPending(ctx, at, shard, want, &page); {
		case err == nil, isNotFound(err): // it was sealed, or its group went, since the monitor looked
		case passing(err) && ctx.Err() == nil:
			s.notes().Line("rscctl: shard %d: %v", shard, err)
			failed = append(failed, shard)
		default:
			return page, nil, err
		}
	}
	return page, failed, nil
}

// addPending adds what is pending on a shard to a page, unless that has enough.
func (s *session) addPending(ctx context.Context, at place, shard int, want outstanding, page *pendingPage) error {
	query := want.PendingQuery
	if query.Limit = want.Limit - len(page.Entries); query.Limit == 0 {
		page.More = append(page.More, pendingMore{Shard: protocol.ShardID{ShardIndex: shard}})
		return nil
	}
	found, err := s.admin.Pending(ctx, at.stream, at.group, shard, query)
	if err != nil {
		return err
	}
	for _, entry := range found.Entries {
		page.Entries = append(page.Entries, pendingEntry{found.Shard, entry})
	}
	if found.NextCursor != nil {
		page.More = append(page.More, pendingMore{found.Shard, found.NextCursor})
	}
	return nil
}

// shardsPending returns the shards on which something was pending when the monitor looked last,
// and those that it could not look at.
func (s *session) shardsPending(ctx context.Context, at place) ([]int, error) {
	seen, err := s.admin.Offsets(ctx, at.stream, at.group)
	if err != nil {
		return nil, err
	}
	var shards []int
	for _, shard := range seen.Shards {
		if shard.PendingCount > 0 || shard.Problem != nil {
			shards = append(shards, shard.Shard.ShardIndex)
		}
	}
	return shards, nil
}

func isNotFound(err error) bool {
	refusal, is := errors.AsType[*protocol.Error](err)
	return is && refusal.Code == protocol.CodeNotFound
}

func printPending(out *show.Page, page pendingPage) {
	rows := make([][]string, 0, len(page.Entries))
	for _, entry := range page.Entries {
		rows = append(rows, []string{
			strconv.Itoa(entry.Shard.ShardIndex), entry.RecordID, entry.Consumer,
			age(&entry.IdleMs), strconv.FormatInt(entry.DeliveryCount, 10),
			show.OptionalTime(entry.RecordTime),
		})
	}
	out.Table([]string{"SHARD", "ID", "CONSUMER", "IDLE", "DELIVERIES", "WRITTEN"}, rows, "Nothing is pending.")
	var untouched []int
	for _, more := range page.More {
		if more.NextCursor == nil {
			untouched = append(untouched, more.Shard.ShardIndex)
			continue
		}
		out.Line("Go on with: --shard %d --cursor '%s'", more.Shard.ShardIndex, *more.NextCursor)
	}
	if len(untouched) > 0 {
		out.Line("Not shown: shard %s; a higher --limit, or --shard, shows them", show.Ranges(untouched))
	}
}
