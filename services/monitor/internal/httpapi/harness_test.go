package httpapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/openapitest"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

const (
	base    = "/coord/v1/monitoring"
	billing = base + "/streams/orders/groups/billing"
	rowsOf  = base + "/grafana"
)

// document is the API's, read once for all tests.
var document struct {
	once sync.Once
	read *openapitest.Document
}

// monitor is an API over rounds made by hand.
type monitor struct {
	t        *testing.T
	book     *rates.Book
	feed     *httpapi.Feed
	document *openapitest.Document
	server   *httptest.Server
	reader   *reader

	mu   sync.Mutex
	look *httpapi.Look
}

// reader gives pages without records, and keeps what was asked for.
type reader struct {
	mu    sync.Mutex
	asked []httpapi.Ask
	// pending are the entries that were asked for.
	pending []httpapi.AskPending
	err     error
}

func (r *reader) keep(ask httpapi.Ask) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, ask)
	return r.err
}

func (r *reader) last(t *testing.T) httpapi.Ask {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.NotEmpty(t, r.asked)
	return r.asked[len(r.asked)-1]
}

func (r *reader) Page(_ context.Context, ask httpapi.Ask) (protocol.StreamMessagesPageResponse, error) {
	shard := ask.Shards[0]
	return protocol.StreamMessagesPageResponse{
		StreamPrefix: ask.Stream, ConsumerGroup: ask.Group, Shard: protocol.ShardID{ShardIndex: shard.Index}, StreamKey: shard.Key,
		Direction: ask.Direction, Limit: ask.Limit, Records: []protocol.StreamMessageRecord{},
	}, r.keep(ask)
}

func (r *reader) Rows(_ context.Context, ask httpapi.Ask) ([]protocol.GrafanaMessageRow, error) {
	return nil, r.keep(ask)
}

func (r *reader) Pending(_ context.Context, ask httpapi.AskPending) (protocol.PendingResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = append(r.pending, ask)
	return protocol.PendingResponse{
		StreamPrefix: ask.Stream, ConsumerGroup: ask.Group, Shard: protocol.ShardID{ShardIndex: ask.Shard.Index}, StreamKey: ask.Shard.Key,
		Limit: ask.Limit, Entries: []protocol.PendingEntry{},
	}, r.err
}

// Look implements httpapi.Source.
func (m *monitor) Look() (httpapi.Look, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.look == nil {
		return httpapi.Look{}, false
	}
	return *m.look, true
}

// Ready implements httpapi.Health.
func (m *monitor) Ready(context.Context) error { return nil }

// publish makes a round the newest.
func (m *monitor) publish(round facts.Round) {
	look := httpapi.Look{Round: round, Snapshot: m.book.Add(round)}
	m.mu.Lock()
	m.look = &look
	m.mu.Unlock()
	m.feed.Publish(look)
}

// start serves an API that everybody may ask, before its first round.
func start(t *testing.T, config httpapi.Config, deps httpapi.Deps) *monitor {
	t.Helper()
	document.once.Do(func() { document.read = openapitest.Load(t) })
	m := &monitor{t: t, book: rates.NewBook(time.Minute), document: document.read, reader: &reader{}}
	if deps.Guard == nil {
		deps.Guard = httpapi.NewGuard(nil, true, time.Now)
	}
	if deps.Feed == nil {
		deps.Feed = httpapi.NewFeed(0)
	}
	m.feed = deps.Feed
	deps.Source, deps.Messages, deps.Health = m, m.reader, m
	m.server = httptest.NewServer(httpapi.New(config, deps))
	t.Cleanup(func() {
		m.feed.Close()
		m.server.Close()
	})
	return m
}

// serving is a monitor that has seen its first round.
func serving(t *testing.T) *monitor {
	t.Helper()
	m := start(t, httpapi.Config{}, httpapi.Deps{})
	m.publish(roundOf(1))
	return m
}

// get asks, holds the exchange against the document, and requires a status.
func (m *monitor) get(status int, target string, header ...string) []byte {
	m.t.Helper()
	request, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, m.server.URL+target, http.NoBody)
	require.NoError(m.t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	answer, err := m.server.Client().Do(request)
	require.NoError(m.t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(m.t, err)
	require.Equalf(m.t, status, answer.StatusCode, "%s: %s", target, body)
	m.document.Check(m.t, openapitest.Exchange{
		Method: http.MethodGet, Path: target, RequestHeader: request.Header, Status: status, Header: answer.Header, Body: body,
	})
	return body
}

// code asks for what is refused and returns why.
func (m *monitor) code(status int, target string, header ...string) protocol.Code {
	m.t.Helper()
	var refusal protocol.ErrorResponse
	require.NoError(m.t, json.Unmarshal(m.get(status, target, header...), &refusal))
	return refusal.ErrorCode
}

func read[T any](m *monitor, target string) T {
	m.t.Helper()
	var into T
	require.NoError(m.t, json.Unmarshal(m.get(http.StatusOK, target), &into))
	return into
}

// roundOf is a round of two streams: orders of two shards, with the groups billing and
// shipping, and other, whose group cannot be shown.
func roundOf(number int64) facts.Round {
	at := time.UnixMilli(1_767_323_045_000).Add(time.Duration(number) * 5 * time.Second)
	member := protocol.MemberMetadata{
		MemberID: "billing-1", MemberName: "one", State: protocol.MemberActive, MemberEpoch: 2, MetadataVersion: 4,
		RuntimeMaxConcurrency: 8, CurrentAssignment: []protocol.ShardID{{ShardIndex: 0}}, GrantedAssignment: []protocol.ShardID{{ShardIndex: 0}},
		Revoking: []protocol.ShardID{}, LastHeartbeatAt: protocol.Timestamp{Time: at}, MemberLeaseExpiresAt: protocol.Timestamp{Time: at},
		RebalanceTimeoutMs: 60_000, StateDetail: "ACTIVE", Incarnation: "i",
		ShardProgress: []protocol.ShardProgress{{Shard: protocol.ShardID{ShardIndex: 0}, StreamKey: "orders:0", PendingCount: 1}},
	}
	return facts.Round{
		Number: number, At: at, Took: 3 * time.Millisecond,
		Groups: []facts.Group{
			groupOf("orders", "billing", member), groupOf("orders", "shipping"),
			{View: protocol.GroupResponse{StreamPrefix: "other", ConsumerGroup: "broken"}, Problem: "METADATA_CORRUPT"},
		},
		Streams: []facts.Stream{{Prefix: "orders", ShardCount: 2, Shards: []facts.Shard{shardOf(0, at, number), shardOf(1, at, number)}}},
	}
}

func groupOf(stream, group string, members ...protocol.MemberMetadata) facts.Group {
	held := map[string][]protocol.ShardID{}
	for _, member := range members {
		held[member.MemberID] = member.CurrentAssignment
	}
	return facts.Group{
		View: protocol.GroupResponse{
			StreamPrefix: stream, ConsumerGroup: group, State: protocol.GroupStable, GroupEpoch: 2, AssignmentEpoch: 2, MetadataVersion: 4,
			ShardCount: 2, TargetAssignmentSummary: map[string]int{}, CurrentAssignmentSummary: map[string]int{}, Lineage: "l",
			UnassignedShards: []int{}, LostShards: []int{}, SurplusMembers: []string{},
		},
		Members: members,
		Assignments: protocol.AssignmentsResponse{
			TargetAssignment: held, CurrentAssignments: held, RevokeProgress: map[string][]protocol.ShardID{}, InvariantViolations: []string{},
		},
	}
}

// shardOf is a shard to which 10 entries are added each round.
func shardOf(index int, at time.Time, round int64) facts.Shard {
	added := 100 + 10*round
	first, last := "1767323000000-0", strconv.FormatInt(at.UnixMilli()-10, 10)+"-0"
	endpoint := "10.0.0.7:6379"
	zero := int64(0)
	group := facts.ShardGroup{LastDeliveredID: &last, EntriesRead: &added, Lag: &zero, Tail: &zero}
	return facts.Shard{
		Index: index, Key: "orders:" + strconv.Itoa(index), Slot: 7, Node: facts.Node{Endpoint: &endpoint, RunID: "r"}, At: at,
		Length: added, EntriesAdded: &added, FirstID: &first, LastID: &last, LastGeneratedID: &last,
		Groups: map[string]facts.ShardGroup{"billing": group, "shipping": group},
	}
}
