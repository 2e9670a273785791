package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// followPause is the pause before a stream of events is asked for again, followMaxPause
	// what it grows to.
	followPause    = 500 * time.Millisecond
	followMaxPause = 10 * time.Second
)

// FollowQuery is what is followed. Empty names are no condition; with both the shards of the
// group are told of too.
type FollowQuery struct {
	Stream, Group string
	// OnTrouble, when set, is called with each error after which Follow tries again.
	OnTrouble func(error)
}

// Update is one event of Follow. One of Groups, Group and Shards is set.
type Update struct {
	// Fresh marks the first event of a connection: what was learnt before is to be forgotten,
	// as this and the next ones tell of everything.
	Fresh  bool
	Groups *protocol.GroupsEvent
	Group  *protocol.GroupResponse
	Shards *protocol.ShardsEvent
}

// Follow tells report of every round of the monitor until ctx ends, which it returns the error
// of, or report fails, which it returns. It comes back after a stream that broke off or ended,
// with pauses of 0.5 s to 10 s, and returns refusals that trying again does not help.
// report is called from this goroutine, and events wait for it: who is late by more than two
// rounds is cut off and begins afresh.
func (a *Admin) Follow(ctx context.Context, query FollowQuery, report func(Update) error) error {
	pause := followPause
	for {
		fresh := true
		var own error // of report
		err := a.api.Follow(ctx, query.Stream, query.Group, func(event api.Event) error {
			update, err := updateOf(event)
			if err != nil || update == (Update{}) {
				return err
			}
			update.Fresh, fresh = fresh, false
			own = report(update)
			return own
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case own != nil:
			return own
		case err != nil && !passing(err):
			return fmt.Errorf("follow the monitor: %w", err)
		case err != nil && query.OnTrouble != nil:
			query.OnTrouble(err)
		}
		if !fresh {
			pause = followPause
		}
		wait := pause
		if asked, ok := RetryAfter(err); ok {
			wait = max(wait, asked)
		}
		if err := clock.Sleep(ctx, wait); err != nil {
			return err
		}
		pause = min(2*pause, followMaxPause)
	}
}

// errEvent is an event that is not what its kind says.
var errEvent = errors.New("an event is not the JSON that its kind asks for")

// updateOf reads an event; kinds that are not known give nothing.
func updateOf(event api.Event) (Update, error) {
	var update Update
	var into any
	switch event.Kind {
	case protocol.FollowGroups:
		update.Groups = &protocol.GroupsEvent{}
		into = update.Groups
	case protocol.FollowGroup:
		update.Group = &protocol.GroupResponse{}
		into = update.Group
	case protocol.FollowShards:
		update.Shards = &protocol.ShardsEvent{}
		into = update.Shards
	default:
		return update, nil
	}
	if err := json.Unmarshal(event.Data, into); err != nil {
		return Update{}, fmt.Errorf("%w: %s: %w", errEvent, event.Kind, err)
	}
	return update, nil
}
