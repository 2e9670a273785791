package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

const (
	shards    = 4
	patience  = 2 * time.Minute
	interval  = 10 * time.Millisecond
	ordersURL = "/coord/v1/streams/orders/groups/billing"
	ordersKey = "redis-stream:coord:{orders:billing}:metadata"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// settings returns a configuration on a Redis of the test. Leases and barriers are those of
// production: short enough to be waited for, and long enough that a member lives on between
// two lines of a test, however slow the machine is. The loop is quicker.
func settings(redis *redisproc.Server) app.Config {
	cfg := app.DefaultConfig()
	cfg.API.Dev = true
	cfg.Redis.URL = config.Secret(redis.URL())
	cfg.Coordination.HeartbeatInterval = 100 * time.Millisecond
	cfg.Coordination.HintInterval = 50 * time.Millisecond
	cfg.Coordination.EventLoop.Interval = 50 * time.Millisecond
	cfg.Coordination.EventLoop.SweepInterval = 200 * time.Millisecond
	return cfg
}

// coordinator is one that runs embedded in the test.
type coordinator struct {
	t   *testing.T
	app *app.App
	url string
	// token goes with the calls; empty sends none.
	token string
}

func start(t *testing.T, cfg app.Config, deps app.Deps) *coordinator {
	t.Helper()
	embedded, err := app.New(t.Context(), cfg, deps)
	require.NoError(t, err)
	embedded.Start()
	server := httptest.NewServer(embedded.Handler())
	c := &coordinator{t: t, app: embedded, url: server.URL}
	t.Cleanup(func() {
		c.close()
		server.Close()
	})
	return c
}

func (c *coordinator) close() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.t.Context()), patience)
	defer cancel()
	require.NoError(c.t, c.app.Close(ctx))
}

// call sends a request with body as JSON, nil sends none, and reads the answer into out.
func (c *coordinator) call(method, path string, body, out any) (int, http.Header) {
	c.t.Helper()
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		require.NoError(c.t, err)
		sent = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, sent)
	require.NoError(c.t, err)
	request.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(c.t, err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	require.NoError(c.t, err)
	if out != nil {
		require.NoErrorf(c.t, json.Unmarshal(data, out), "%s", data)
	}
	return answer.StatusCode, answer.Header
}

// refused sends a request that must be refused, and returns the code.
func (c *coordinator) refused(method, path string, body any, status int) protocol.Code {
	c.t.Helper()
	var refusal protocol.ErrorResponse
	got, header := c.call(method, path, body, &refusal)
	require.Equalf(c.t, status, got, "%+v", refusal)
	if refusal.Retriable && status == http.StatusServiceUnavailable {
		require.NotEmpty(c.t, header.Get("Retry-After"))
	}
	return refusal.ErrorCode
}

// createOrders creates the stream orders with 4 shards.
func (c *coordinator) createOrders(groups ...string) {
	c.t.Helper()
	count := shards
	body := protocol.CreateStreamRequest{InitialShardCount: &count, ConsumerGroups: groups, RequestedBy: "test"}
	var refusal json.RawMessage
	status, _ := c.call("POST", "/coord/v1/streams/orders", body, &refusal)
	require.Equalf(c.t, http.StatusCreated, status, "%s", refusal)
}

func (c *coordinator) health() protocol.HealthResponse {
	c.t.Helper()
	var health protocol.HealthResponse
	status, _ := c.call("GET", "/coord/v1/monitoring/health", nil, &health)
	require.Equal(c.t, http.StatusOK, status)
	return health
}

// healthy waits until nothing is wrong with the coordinator.
func healthy(c *coordinator) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		health := c.health()
		return health.Status == protocol.HealthUp && len(health.Problems) == 0
	}, patience, interval)
}

// ready waits until the coordinator can work with its store.
func ready(c *coordinator) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		status, _ := c.call("GET", "/readyz", nil, nil)
		return status == http.StatusOK
	}, patience, interval)
}

// member speaks the protocol as far as a test needs it.
type member struct {
	id       string
	url      string // of the group
	epoch    int64
	version  int64
	lineage  string
	sequence int64
	owned    []protocol.ShardID
}

func newMember(id, url string) *member { return &member{id: id, url: url} }

// request returns the member's next heartbeat.
func (m *member) request() protocol.HeartbeatRequest {
	m.sequence++
	return protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: fmt.Sprintf("%s-%d", m.id, m.sequence), MemberID: m.id, MemberEpoch: m.epoch,
		MetadataVersion: m.version, Lineage: m.lineage, Incarnation: "01J0000000000000000000" + m.id, Sequence: m.sequence,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1}, OwnedShards: m.owned,
	}
}

// beat sends a heartbeat to c, takes over what the answer says, and returns it.
func (m *member) beat(c *coordinator) protocol.HeartbeatResponse {
	c.t.Helper()
	var answer protocol.HeartbeatResponse
	status, _ := c.call("POST", m.url+"/members/"+m.id+"/heartbeat", m.request(), &answer)
	require.Equalf(c.t, http.StatusOK, status, "%+v", answer)
	switch answer.Status {
	case protocol.StatusOK:
		m.owned = answer.Assignment.AssignedShards
	case protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch:
		m.epoch, m.version, m.lineage, m.owned = 0, 0, "", nil
		return answer
	case protocol.StatusSyncMetadata, protocol.StatusRevokePending:
	case protocol.StatusRetry, protocol.StatusUnsupportedProtocol, protocol.StatusInvalidRequest:
		return answer
	}
	m.epoch, m.version, m.lineage = answer.MemberEpoch, answer.MetadataVersion, answer.Lineage
	return answer
}

// settle sends heartbeats of all members until each is answered OK with its share of
// shards and the group is stable.
func settle(c *coordinator, members ...*member) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		even := true
		for _, m := range members {
			even = m.beat(c).Status == protocol.StatusOK && len(m.owned) == shards/len(members) && even
		}
		var group protocol.GroupResponse
		status, _ := c.call("GET", members[0].url, nil, &group)
		return even && status == http.StatusOK && group.State == protocol.GroupStable
	}, patience, interval)
}
