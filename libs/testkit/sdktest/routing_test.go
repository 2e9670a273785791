package sdktest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

const (
	stream = "orders"
	group  = "orders-consumer"
)

// routingServer is a coordinator that answers routing requests as the test says.
type routingServer struct {
	url string

	mu       sync.Mutex
	routing  protocol.ProducerRouting
	refusal  protocol.Code // answered instead when set
	requests int
}

// startRouting serves a routing with so many shards and a lease that is not renewed while a
// test counts what is asked.
func startRouting(t *testing.T, shards int) *routingServer {
	t.Helper()
	s := &routingServer{}
	s.setShards(shards)
	s.change(func(r *protocol.ProducerRouting) { r.LeaseMs = 600_000 })
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *routingServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	w.Header().Set("Content-Type", "application/json")
	if s.refusal != "" {
		w.WriteHeader(protocol.FaultOf(s.refusal).Status)
		_ = json.NewEncoder(w).Encode(protocol.ErrorResponse{ErrorCode: s.refusal})
		return
	}
	etag := strconv.Quote(strconv.FormatInt(s.routing.MetadataVersion, 10))
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_ = json.NewEncoder(w).Encode(s.routing)
}

// setShards changes the layout and raises the version.
func (s *routingServer) setShards(shards int) {
	s.change(func(r *protocol.ProducerRouting) {
		r.StreamPrefix, r.ConsumerGroup, r.Lineage = stream, group, "lineage-1"
		r.ShardCount, r.Shards = shards, make([]protocol.RoutingShard, shards)
		for i := range r.Shards {
			r.Shards[i] = protocol.RoutingShard{ShardIndex: i, StreamKey: routing.StreamKey(stream, i)}
		}
	})
}

func (s *routingServer) change(change func(*protocol.ProducerRouting)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.routing)
	s.routing.MetadataVersion++
}

// refuse answers every request with code; "" ends that.
func (s *routingServer) refuse(code protocol.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = code
}

func (s *routingServer) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// newClient returns a client of s that is closed with the test.
func newClient(t *testing.T, s *routingServer, rdb redis.UniversalClient) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{CoordinatorURL: s.url, Redis: rdb})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// newProducer returns a producer that is closed with the test.
func newProducer(t *testing.T, s *routingServer, rdb redis.UniversalClient, opts client.ProducerOptions) *client.Producer {
	t.Helper()
	p, err := newClient(t, s, rdb).NewProducer(t.Context(), stream, group, opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		require.NoError(t, p.Close(ctx))
	})
	return p
}

// createShards makes the shard keys 0 … shards-1 with the consumer group.
func createShards(t *testing.T, rdb redis.UniversalClient, shards int) {
	t.Helper()
	for i := range shards {
		require.NoError(t, rdb.XGroupCreateMkStream(t.Context(), routing.StreamKey(stream, i), group, "0").Err())
	}
}

// keyFor returns a partition key of the given shard.
func keyFor(t *testing.T, shard, shards int) string {
	t.Helper()
	for i := 0; ; i++ {
		key := "order-" + strconv.Itoa(i)
		index, err := routing.Shard(key, shards)
		require.NoError(t, err)
		if index == shard {
			return key
		}
	}
}

func length(t *testing.T, rdb redis.UniversalClient, shard int) int64 {
	t.Helper()
	n, err := rdb.XLen(t.Context(), routing.StreamKey(stream, shard)).Result()
	require.NoError(t, err)
	return n
}

const (
	patience = time.Minute
	tick     = 5 * time.Millisecond
)
