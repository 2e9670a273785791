package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

const (
	// writeTimeout is how long a follower may take for one event.
	writeTimeout = 10 * time.Second
	// comeBack is after how many milliseconds a follower that was cut off comes back.
	comeBack = 2000
)

// The kinds of events of a stream.
const (
	eventGroups = "groups"
	eventGroup  = "group"
	eventShards = "shards"
)

// groupsEvent tells of a round: the rows of grafana/groups that have changed, all of them in
// a follower's first event, and the groups that are gone.
type groupsEvent struct {
	Round  int64              `json:"round"`
	At     protocol.Timestamp `json:"at"`
	TookMs int64              `json:"tookMs"`
	// Problem tells why the groups are those of an earlier round, null where they are not.
	Problem *string           `json:"problem"`
	Groups  []json.RawMessage `json:"groups"`
	Removed []groupName       `json:"removed"`
	// Unreadable are the groups of which the coordinator cannot read the metadata.
	Unreadable []unreadable `json:"unreadable"`
}

type unreadable struct {
	groupName

	Problem string `json:"problem"`
}

type groupName struct {
	StreamPrefix  string `json:"streamPrefix"`
	ConsumerGroup string `json:"consumerGroup"`
}

// shardsEvent tells of the group that a follower has chosen: the rows of grafana/shards that
// have changed, and the indexes of those that are gone.
type shardsEvent struct {
	groupName

	Shards  []json.RawMessage `json:"shards"`
	Removed []int             `json:"removed"`
}

// stream answers with server-sent events, one round after the other (monitoring, APIs). With
// streamPrefix, and consumerGroup, only what is of those is told; with both also of the
// shards.
func (a *api) stream(w http.ResponseWriter, r *http.Request) {
	at, err := a.queried(r)
	if err != nil {
		a.answers.Error(w, r, err)
		return
	}
	who, err := a.Feed.follow()
	if err != nil {
		a.answers.Error(w, r, err)
		return
	}
	defer a.Feed.leave(who)
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Accel-Buffering", "no") // proxies in front are not to collect it
	t := &teller{to: w, control: http.NewResponseController(w), at: at, caller: callerOf(r.Context())}
	if err := a.tell(r, t, who); err != nil {
		a.Log.DebugContext(r.Context(), "a follower is no longer told", "reason", err)
	}
}

// tell writes events until the follower goes or is dropped, or its time is over.
func (a *api) tell(r *http.Request, t *teller, who *follower) error {
	if err := t.write(fmt.Appendf(nil, "retry: %d\n\n", comeBack)); err != nil {
		return err
	}
	heartbeat, end := clock.NewTicker(a.Heartbeat), clock.NewTimer(a.StreamLife)
	defer heartbeat.Stop()
	defer end.Stop()
	for {
		select {
		case <-r.Context().Done():
			return nil
		case <-end.C:
			return nil
		case <-heartbeat.C:
			if err := t.write([]byte(": heartbeat\n\n")); err != nil {
				return err
			}
		case next, follows := <-who.frames:
			if !follows {
				return nil
			}
			if err := t.tell(next); err != nil {
				return err
			}
		}
	}
}

// teller writes events to one follower, and remembers what that one knows.
type teller struct {
	to      http.ResponseWriter
	control *http.ResponseController
	at      place
	caller  auth.Principal // is told of what their scopes reach

	groups, shards known
	group          []byte
}

// tell writes the events of a round in one piece.
func (t *teller) tell(f *frame) error {
	var out bytes.Buffer
	if err := t.tellGroups(&out, f); err != nil {
		return err
	}
	if t.at.stream != "" && t.at.group != "" {
		if err := t.tellGroup(&out, f); err != nil {
			return err
		}
	}
	return t.write(out.Bytes())
}

func (t *teller) tellGroups(out *bytes.Buffer, f *frame) error {
	all, err := f.groups()
	if err != nil {
		return err
	}
	var mine []piece
	for _, group := range all {
		if t.follows(group.at) {
			mine = append(mine, group)
		}
	}
	changed, gone := t.groups.learn(mine)
	round := f.look.Round
	event := groupsEvent{
		Round: round.Number, At: protocol.Timestamp{Time: round.At}, TookMs: round.Took.Milliseconds(),
		Groups: changed, Removed: []groupName{}, Unreadable: t.unreadable(round),
	}
	if round.Problem != "" {
		event.Problem = &round.Problem
	}
	for _, each := range gone {
		event.Removed = append(event.Removed, groupName{each.at.stream, each.at.group})
	}
	return write(out, eventGroups, round.Number, event)
}

func (t *teller) unreadable(round facts.Round) []unreadable {
	found := []unreadable{}
	for _, group := range round.Groups {
		if at := (place{stream: group.View.StreamPrefix, group: group.View.ConsumerGroup}); !readable(group) && t.follows(at) {
			found = append(found, unreadable{groupName{at.stream, at.group}, group.Problem})
		}
	}
	return found
}

// tellGroup writes the group itself and its shards, where they have changed.
func (t *teller) tellGroup(out *bytes.Buffer, f *frame) error {
	if found, err := groupOf(f.look.Round, t.at); err == nil {
		data, err := json.Marshal(found.View)
		if err != nil {
			return fmt.Errorf("encode group %s: %w", t.at.group, err)
		}
		if !bytes.Equal(data, t.group) {
			t.group = data
			if err := write(out, eventGroup, f.look.Round.Number, json.RawMessage(data)); err != nil {
				return err
			}
		}
	}
	all, err := f.shardsOf(t.at)
	if err != nil {
		return err
	}
	changed, gone := t.shards.learn(all)
	if len(changed)+len(gone) == 0 {
		return nil
	}
	event := shardsEvent{groupName: groupName{t.at.stream, t.at.group}, Shards: changed, Removed: []int{}}
	for _, each := range gone {
		event.Removed = append(event.Removed, each.index)
	}
	return write(out, eventShards, f.look.Round.Number, event)
}

// follows tells whether a group is among those that were asked for and may be told of.
func (t *teller) follows(group place) bool {
	return t.caller.Reaches(group.stream) && (t.at.stream == "" || t.at.stream == group.stream) && (t.at.group == "" || t.at.group == group.group)
}

// write sends a piece at once. A follower that does not take it in time is cut off.
func (t *teller) write(piece []byte) error {
	// A writer that has no deadline needs none moved.
	_ = t.control.SetWriteDeadline(clock.Now().Add(writeTimeout))
	if _, err := t.to.Write(piece); err != nil {
		return fmt.Errorf("write an event: %w", err)
	}
	if err := t.control.Flush(); err != nil {
		return fmt.Errorf("flush an event: %w", err)
	}
	return nil
}

// write encodes an event. JSON has no line break, so that an event is one line.
func write(out *bytes.Buffer, kind string, round int64, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode event %s: %w", kind, err)
	}
	fmt.Fprintf(out, "event: %s\nid: %d\ndata: %s\n\n", kind, round, data)
	return nil
}
