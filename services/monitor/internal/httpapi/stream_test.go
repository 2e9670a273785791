package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
)

// listener reads a stream.
type listener struct {
	t     *testing.T
	lines *bufio.Scanner
	leave context.CancelFunc
}

// event is one of a stream; a comment has no kind.
type event struct{ kind, id, data string }

func (m *monitor) listen(query string, header ...string) *listener {
	m.t.Helper()
	ctx, leave := context.WithCancel(m.t.Context())
	m.t.Cleanup(leave)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.server.URL+base+"/stream"+query, http.NoBody)
	require.NoError(m.t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	answer, err := m.server.Client().Do(request)
	require.NoError(m.t, err)
	m.t.Cleanup(func() { _ = answer.Body.Close() })
	require.Equal(m.t, http.StatusOK, answer.StatusCode)
	require.Equal(m.t, "text/event-stream", answer.Header.Get("Content-Type"))
	require.Equal(m.t, "no-store", answer.Header.Get("Cache-Control"))
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return &listener{m.t, lines, leave}
}

// next returns the next event or comment; false at the end.
func (l *listener) next() (event, bool) {
	var found event
	for l.lines.Scan() {
		name, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch name {
		case "event":
			found.kind = value
		case "id":
			found.id = value
		case "data", "", "retry":
			found.data += value
		}
		if l.lines.Text() == "" {
			return found, true
		}
	}
	return event{}, false
}

// groups waits for the next event that tells of a round.
func (l *listener) groups() groupsEvent {
	l.t.Helper()
	return decoded[groupsEvent](l, "groups")
}

func decoded[T any](l *listener, kind string) T {
	l.t.Helper()
	var into T
	for {
		found, more := l.next()
		require.True(l.t, more, "the stream ends")
		if found.kind == kind {
			require.NoError(l.t, json.Unmarshal([]byte(found.data), &into))
			return into
		}
	}
}

type groupsEvent struct {
	Round   int64
	Problem *string
	Groups  []protocol.GrafanaGroupRow
	Removed []struct{ StreamPrefix, ConsumerGroup string }

	Unreadable []protocol.UnreadableGroup
}

type shardsEvent struct {
	StreamPrefix, ConsumerGroup string
	Shards                      []protocol.GrafanaShardRow
	Removed                     []int
}

func TestAStreamTellsEverythingFirstAndThenWhatHasChanged(t *testing.T) {
	t.Parallel()
	m := serving(t)
	l := m.listen("")
	first := l.groups()
	require.EqualValues(t, 1, first.Round)
	require.NotEmpty(t, first.Groups)
	require.Empty(t, first.Removed)

	same := roundOf(1)
	same.Number, same.Problem = 2, "the coordinator is away"
	m.publish(same)
	second := l.groups()
	require.EqualValues(t, 2, second.Round)
	require.Equal(t, "the coordinator is away", *second.Problem)

	third := roundOf(3)
	third.Groups[0].View.State = protocol.GroupReconciling
	third.Groups = third.Groups[:1]
	m.publish(third)
	told := l.groups()
	require.Len(t, told.Groups, 1)
	require.Equal(t, protocol.GroupReconciling, told.Groups[0].State)
	require.NotEmpty(t, told.Removed)
	require.Equal(t, "shipping", told.Removed[0].ConsumerGroup)
}

// An hour without traffic is no news, though it was observed again.
func TestARoundWithoutNewsTellsOnlyThatItWas(t *testing.T) {
	t.Parallel()
	m := serving(t)
	l := m.listen("?streamPrefix=orders&consumerGroup=billing")
	l.groups()
	quiet := func(number int64) facts.Round {
		round := roundOf(number)
		for i := range round.Streams[0].Shards {
			round.Streams[0].Shards[i] = shardOf(i, roundOf(1).At, 1)
			round.Streams[0].Shards[i].At = round.At
		}
		round.Groups[0].Members = nil
		return round
	}
	m.publish(quiet(2))
	l.groups()
	m.publish(quiet(3)) // now the rates are 0
	l.groups()
	m.publish(quiet(4))
	told := l.groups()
	require.EqualValues(t, 4, told.Round)
	require.Empty(t, told.Groups)
	m.publish(quiet(5))
	found, _ := l.next()
	require.Equal(t, "groups", found.kind, "nothing of group or shards came between")
}

func TestAFollowerOfOneGroupIsToldOfItAndItsShards(t *testing.T) {
	t.Parallel()
	m := serving(t)
	l := m.listen("?streamPrefix=orders&consumerGroup=billing")
	require.Len(t, l.groups().Groups, 1)
	view := decoded[protocol.GroupResponse](l, "group")
	require.Equal(t, "billing", view.ConsumerGroup)
	first := decoded[shardsEvent](l, "shards")
	require.Equal(t, "orders", first.StreamPrefix)
	require.Len(t, first.Shards, 2)

	second := roundOf(2)
	second.Streams[0].Shards = second.Streams[0].Shards[:1]
	m.publish(second)
	told := decoded[shardsEvent](l, "shards")
	require.Len(t, told.Shards, 1)
	require.Equal(t, []int{1}, told.Removed)

	require.Len(t, m.listen("?streamPrefix=orders").groups().Groups, 2)
	require.Empty(t, m.listen("?streamPrefix=nowhere").groups().Groups)
}

func TestAFollowerBeforeTheFirstRoundWaitsForIt(t *testing.T) {
	t.Parallel()
	m := start(t, httpapi.Config{}, httpapi.Deps{})
	l := m.listen("")
	m.publish(roundOf(1))
	require.EqualValues(t, 1, l.groups().Round)
}

func TestAStreamWithoutNewsShowsThatItIsAlive(t *testing.T) {
	t.Parallel()
	m := start(t, httpapi.Config{Heartbeat: 10 * time.Millisecond}, httpapi.Deps{})
	l := m.listen("")
	beats := 0
	for beats < 3 {
		found, more := l.next()
		require.True(t, more)
		if found.kind == "" && found.data == "heartbeat" {
			beats++
		}
	}
}

// Whoever lost the right to listen is found out when the stream is asked for again.
func TestAStreamEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	m := start(t, httpapi.Config{StreamLife: 20 * time.Millisecond}, httpapi.Deps{})
	m.listen("").ends()
}

func (l *listener) ends() {
	for more := true; more; {
		_, more = l.next()
	}
}

func TestSoManyFollowAndNoMore(t *testing.T) {
	t.Parallel()
	m := start(t, httpapi.Config{}, httpapi.Deps{Feed: httpapi.NewFeed(2)})
	m.publish(roundOf(1))
	first := m.listen("")
	first.groups()
	m.listen("").groups()
	require.Equal(t, protocol.CodeOverloaded, m.code(503, base+"/stream"))
	first.leave()
	require.Eventually(t, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.server.URL+base+"/stream", http.NoBody)
		require.NoError(t, err)
		answer, err := m.server.Client().Do(request)
		require.NoError(t, err)
		return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	}, 10*time.Second, 5*time.Millisecond, "the place is free again")
}

func TestTheEndOfTheFeedEndsEveryStream(t *testing.T) {
	t.Parallel()
	m := serving(t)
	l, other := m.listen(""), m.listen("")
	l.groups()
	m.feed.Close()
	l.ends()
	other.ends()
	m.feed.Publish(httpapi.Look{})
	require.Equal(t, protocol.CodeTerminating, m.code(503, base+"/stream"))
}
