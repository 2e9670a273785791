package e2e_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// pythonLimit is the time limit of the original client for a request.
	pythonLimit = 5 * time.Second
	// pythonGrace is for how much longer these tests wait: where an answer comes 1 s before the
	// limit, a machine that is busy has it late now and then.
	pythonGrace = 10 * time.Second
)

// pythonStatuses are the texts of status that the original client knows; another one acts
// like INVALID_REQUEST.
var pythonStatuses = []protocol.HeartbeatStatus{
	protocol.StatusOK, protocol.StatusRetry, protocol.StatusSyncMetadata, protocol.StatusRevokePending,
	protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch, protocol.StatusUnsupportedProtocol,
	protocol.StatusInvalidRequest,
}

// pythonClient sends what the original Python client (version 0.1.0) sends, byte for byte as
// far as the server could tell, and fails the test where an answer would end its thread.
type pythonClient struct {
	base    string // without slashes at its end
	http    *http.Client
	slowest *atomic.Int64 // nanoseconds
}

func newPythonClient(t *testing.T, base string) *pythonClient {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 50}
	t.Cleanup(transport.CloseIdleConnections)
	return &pythonClient{
		base: strings.TrimRight(base, "/"), slowest: &atomic.Int64{},
		http: &http.Client{
			Transport: transport, Timeout: pythonLimit + pythonGrace,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// pythonQuote is urllib.parse.quote(text, safe="").
func pythonQuote(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

func pythonPath(parts ...string) string {
	path := protocol.BasePath
	for _, one := range parts {
		path += "/" + pythonQuote(one)
	}
	return path
}

// send sends a request like the library requests does. No body is a GET.
func (c *pythonClient) send(t *testing.T, path, body, token string) guardedReply {
	t.Helper()
	method, reader := http.MethodGet, io.Reader(http.NoBody)
	if body != "" {
		method, reader = http.MethodPost, strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, c.base+path, reader)
	require.NoError(t, err)
	request.Header.Set("User-Agent", "python-requests/2.32.3")
	request.Header.Set("Accept-Encoding", "gzip, deflate")
	request.Header.Set("Accept", "*/*")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	begun := time.Now()
	answer, err := c.http.Do(request)
	took := time.Since(begun)
	require.NoError(t, err, "%s %s ends the client's thread after %s", method, path, took)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	for slowest := c.slowest.Load(); int64(took) > slowest && !c.slowest.CompareAndSwap(slowest, int64(took)); slowest = c.slowest.Load() {
		continue
	}
	require.Empty(t, answer.Header.Get("Content-Encoding"))
	return guardedReply{status: answer.StatusCode, header: answer.Header, body: text}
}

// object sends a request whose answer has to be good: 200 and a JSON object.
func (c *pythonClient) object(t *testing.T, path, body, token string) map[string]any {
	t.Helper()
	got := c.send(t, path, body, token)
	require.Equal(t, http.StatusOK, got.status, "%s: %s", path, got.body)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	decoder := json.NewDecoder(bytes.NewReader(got.body))
	decoder.UseNumber()
	var object map[string]any
	require.NoError(t, decoder.Decode(&object), "%s", got.body)
	return object
}

func (c *pythonClient) login(t *testing.T, username, password string) string {
	t.Helper()
	answer := c.object(t, pythonPath("auth", "login"), fmt.Sprintf(`{"username": %q, "password": %q}`, username, password), "")
	token, is := answer["accessToken"].(string)
	require.True(t, is, "accessToken is a text")
	require.NotEmpty(t, token)
	return token
}

// pythonRouting is what the client reads of a routing answer.
type pythonRouting struct {
	version, count int64
	keys           map[int64]string
	slots          map[int64]int64
}

func (c *pythonClient) routing(t *testing.T, stream string) pythonRouting {
	t.Helper()
	answer := c.object(t, pythonPath("streams", stream, "groups", group, "producer-routing"), "", "")
	require.Equal(t, stream, answer["streamPrefix"])
	require.Equal(t, group, answer["consumerGroup"])
	routing := pythonRouting{
		version: whole(t, answer, "metadataVersion"), count: whole(t, answer, "shardCount"),
		keys: map[int64]string{}, slots: map[int64]int64{},
	}
	shards, is := answer["shards"].([]any)
	require.True(t, is, "shards is a list")
	for _, one := range shards {
		shard, is := one.(map[string]any)
		require.True(t, is)
		index := whole(t, shard, "shardIndex")
		require.NotContains(t, routing.keys, index)
		key, is := shard["streamKey"].(string)
		require.True(t, is, "streamKey is a text")
		routing.keys[index], routing.slots[index] = key, whole(t, shard, "redisSlot")
	}
	for index := range routing.count {
		require.Contains(t, routing.keys, index, "the list holds every index")
	}
	return routing
}

// pythonMember is a logical member of the client.
type pythonMember struct {
	client            *pythonClient
	stream, group, id string
	token             string // empty sends none

	protocol       int
	epoch, version int64
	shards         []int64 // that it may read, which it reports as owned
	status         protocol.HeartbeatStatus
	seen           []protocol.HeartbeatStatus
	said           map[string]any // the last answer
}

func (c *pythonClient) member(stream, group, id string) *pythonMember {
	return &pythonMember{client: c, stream: stream, group: group, id: id, protocol: 1, status: protocol.StatusOK}
}

func (m *pythonMember) path() string {
	return pythonPath("streams", m.stream, "groups", m.group, "members", m.id, "heartbeat")
}

// body has always the same ten fields, in the client's order, with json.dumps' blanks.
func (m *pythonMember) body() string {
	owned := make([]string, len(m.shards))
	for i, shard := range m.shards {
		owned[i] = fmt.Sprintf(`{"shardIndex": %d}`, shard)
	}
	return fmt.Sprintf(`{"protocolVersion": %d, "requestId": %q, "memberId": %q, "memberName": %q, "memberEpoch": %d, `+
		`"metadataVersion": %d, "runtimeConsumerCapacity": {"runtimeMaxConcurrency": 1, "availableConcurrency": 1}, `+
		`"ownedShards": [%s], "revokingShards": [], "shardProgress": []}`,
		m.protocol, uuid4(), m.id, m.id, m.epoch, m.version, strings.Join(owned, ", "))
}

// beat sends a heartbeat, checks its answer, and does what the client does about it.
func (m *pythonMember) beat(t *testing.T) *pythonMember {
	t.Helper()
	said := m.client.object(t, m.path(), m.body(), m.token)
	status, is := said["status"].(string)
	require.True(t, is, "status is a text: %v", said)
	m.status, m.said = protocol.HeartbeatStatus(status), said
	require.Contains(t, pythonStatuses, m.status)
	require.Equal(t, m.id, said["memberId"])
	require.Positive(t, whole(t, said, "heartbeatIntervalMs"))
	require.Positive(t, whole(t, said, "rebalanceTimeoutMs"))
	epoch, version := whole(t, said, "memberEpoch"), whole(t, said, "metadataVersion")
	require.GreaterOrEqual(t, epoch, int64(0), "an epoch that can be sent next")
	whole(t, said, "groupEpoch")
	whole(t, said, "assignmentEpoch")
	assigned := assignedIn(t, said)
	m.seen = append(m.seen, m.status)
	if m.status != protocol.StatusRetry {
		m.epoch, m.version = epoch, version
	}
	switch m.status {
	case protocol.StatusOK:
		m.shards = assigned
	case protocol.StatusSyncMetadata, protocol.StatusRevokePending:
		m.shards = slices.DeleteFunc(m.shards, func(shard int64) bool { return !slices.Contains(assigned, shard) })
	case protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch:
		m.epoch, m.shards = 0, nil
	case protocol.StatusRetry, protocol.StatusUnsupportedProtocol, protocol.StatusInvalidRequest:
	default:
	}
	slices.Sort(m.shards)
	return m
}

// reads tells whether the member reads from Redis.
func (m *pythonMember) reads() bool { return m.status == protocol.StatusOK }

// keys are those that the member reads, as it builds them.
func (m *pythonMember) keys() []string {
	var keys []string
	for _, shard := range m.shards {
		keys = append(keys, fmt.Sprintf("%s:%d", m.stream, shard))
	}
	return keys
}

// until beats, as often as the server says at most, until a condition holds.
func (m *pythonMember) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	due := time.Time{}
	soon(t, m.id+" "+what, func() bool {
		if time.Now().Before(due) {
			return false
		}
		m.beat(t)
		due = time.Now().Add(min(time.Duration(whole(t, m.said, "heartbeatIntervalMs"))*time.Millisecond, 250*time.Millisecond))
		return holds()
	})
}

// soon waits until a condition holds. It asks in the test's own goroutine, so that the
// condition may end the test.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	again := time.NewTicker(often)
	defer again.Stop()
	for begun := time.Now(); !holds(); <-again.C {
		require.Less(t, time.Since(begun), patience, "it never came that %s", what)
	}
}

// assignedIn returns the assigned shards of an answer, whose lists are there.
func assignedIn(t *testing.T, said map[string]any) []int64 {
	t.Helper()
	assignment, is := said["assignment"].(map[string]any)
	require.True(t, is, "assignment is an object: %v", said)
	whole(t, assignment, "metadataVersion")
	var assigned []int64
	for _, name := range []string{"assignedShards", "pendingShards"} {
		list, is := assignment[name].([]any)
		require.True(t, is, "%s is a list", name)
		for _, one := range list {
			shard, is := one.(map[string]any)
			require.True(t, is)
			if index := whole(t, shard, "shardIndex"); name == "assignedShards" {
				assigned = append(assigned, index)
			}
		}
	}
	return assigned
}

// whole returns a required whole number.
func whole(t *testing.T, object map[string]any, name string) int64 {
	t.Helper()
	number, is := object[name].(json.Number)
	require.True(t, is, "%s is a number: %v", name, object)
	value, err := number.Int64()
	require.NoError(t, err, "%s is a whole number", name)
	return value
}

func uuid4() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
