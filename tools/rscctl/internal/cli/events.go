package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// followInterval is the pause between two looks at a history that is followed.
const followInterval = time.Second

// eventTime is the form of times of which the milliseconds matter, in UTC.
const eventTime = "2006-01-02T15:04:05.000Z"

const eventsHelp = `Shows the flight recorder of a group: each change of its structure with its cause, who
asked for it, and what became of the shards: 2-3: one -> two went from the member one to two,
"wanted 4: one -> two" is still read by one. The history is bounded, and kept for some time
after the group is deleted.

--follow waits for more until it is interrupted. With --output json it then prints one
event a line, with yaml one document each.`

// reading is what of the history is asked for.
type reading struct {
	after  string
	last   int
	follow bool
}

func (s *session) events() *cobra.Command {
	var want reading
	cmd := &cobra.Command{
		Use: "events STREAM [GROUP]", Short: "Show what happened to a group, and why", Args: cobra.RangeArgs(1, 2),
		Long: eventsHelp,
		Example: `  rscctl events orders billing --last 20
  rscctl events orders billing --follow`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if want.last < 0 {
				return usage("--last is %d; it is a number from 0 on", want.last)
			}
			at, err := s.groupOf(cmd.Context(), args)
			if err != nil {
				return err
			}
			return s.readEvents(cmd.Context(), at, want)
		},
	}
	cmd.Flags().StringVar(&want.after, "after", "", "begin behind the event with this `id`")
	cmd.Flags().IntVar(&want.last, "last", 0, "show the last `N` events only; 0 shows all that are kept")
	cmd.Flags().BoolVarP(&want.follow, "follow", "f", false, "wait for more events")
	return cmd
}

func (s *session) readEvents(ctx context.Context, at place, want reading) error {
	found, err := s.eventsAfter(ctx, at, want.after)
	if err != nil {
		return s.cannot(err, at, "read the events of group %s of stream %s", at.group, at.stream)
	}
	cursor := want.after
	if len(found) > 0 {
		cursor = found[len(found)-1].ID
	}
	if want.last > 0 {
		found = found[max(0, len(found)-want.last):]
	}
	if !want.follow {
		return s.emit(protocol.EventsResponse{Events: found}, func(page *show.Page) {
			printEvents(page, found)
			if len(found) == 0 {
				page.Line("No events.")
			}
		})
	}
	return s.followEvents(ctx, at, found, cursor)
}

// eventsAfter reads all pages behind an event.
func (s *session) eventsAfter(ctx context.Context, at place, after string) ([]protocol.GroupEvent, error) {
	found := []protocol.GroupEvent{}
	for {
		page, err := s.admin.Events(ctx, at.stream, at.group, after, protocol.MaxEvents)
		if err != nil {
			return found, err
		}
		found = append(found, page.Events...)
		if page.Next == nil || *page.Next == after {
			return found, nil
		}
		after = *page.Next
	}
}

// followEvents prints events until ctx ends, and outlasts a coordinator that is away.
func (s *session) followEvents(ctx context.Context, at place, found []protocol.GroupEvent, cursor string) error {
	away := false
	for ctx.Err() == nil { // the interrupt is how this ends
		if err := s.stream(found); err != nil {
			return err
		}
		_ = clock.Sleep(ctx, followInterval)
		var err error
		found, err = s.eventsAfter(ctx, at, cursor)
		if err != nil && !passing(err) {
			return s.cannot(err, at, "follow the events of group %s of stream %s", at.group, at.stream)
		}
		if err != nil && !away && ctx.Err() == nil {
			s.trouble(err)
		}
		away = err != nil
		if len(found) > 0 {
			cursor = found[len(found)-1].ID
		}
	}
	return nil
}

func (s *session) stream(events []protocol.GroupEvent) error {
	if !s.forPrograms() {
		page := s.page()
		printEvents(page, events)
		return page.Err()
	}
	for _, event := range events {
		if err := s.emitNext(event); err != nil {
			return err
		}
	}
	return nil
}

// printEvents prints one line for each event.
func printEvents(page *show.Page, events []protocol.GroupEvent) {
	for _, event := range events {
		page.Line("%s", strings.Join(eventWords(event), "  "))
	}
}

func eventWords(event protocol.GroupEvent) []string {
	words := []string{event.At.UTC().Format(eventTime), "v" + strconv.FormatInt(event.MetadataVersion, 10), string(event.Cause)}
	if event.Action != nil && string(*event.Action) != string(event.Cause) {
		words = append(words, string(*event.Action))
	}
	if event.MemberID != nil {
		words = append(words, *event.MemberID)
	}
	if event.Actor != nil {
		words = append(words, "by "+*event.Actor)
	}
	if event.Reason != nil && *event.Reason != "" {
		words = append(words, strconv.Quote(*event.Reason))
	}
	for _, change := range event.Changes {
		if change.Cause != event.Cause {
			words = append(words, changeWords(change))
		}
	}
	if event.ChangesLeftOut > 0 {
		words = append(words, fmt.Sprintf("and %d more", event.ChangesLeftOut))
	}
	words = append(words, moveWords(event)...)
	if event.RequestID != nil {
		words = append(words, "request "+*event.RequestID)
	}
	return words
}

func changeWords(change protocol.EventChange) string {
	words := string(change.Cause)
	if change.Shards > 0 {
		words += " " + amount(change.Shards)
	}
	if change.MemberID != "" {
		words += " " + change.MemberID
	}
	return "+" + words
}
