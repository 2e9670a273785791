package scriptcoord

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Hook may change the answer to a request before it is sent. When it returns an HTTP status
// other than 0 and 200, that status is sent with the API's error body instead; -1 closes
// the connection without an answer.
type Hook func(request *protocol.HeartbeatRequest, answer *protocol.HeartbeatResponse) int

// Coordinator is the server. Its methods may be called from any goroutine.
type Coordinator struct {
	server *httptest.Server

	mu       sync.Mutex
	interval time.Duration
	lease    time.Duration
	hook     Hook
	down     bool
	epochs   int64
	target   map[int]string
	holds    map[int]string
	members  map[string]*seat
	requests []Request
	changes  int
}

// seat is what the server knows of a member.
type seat struct {
	incarnation string
	epoch       int64
	heard       time.Time
}

// Request is one heartbeat with the answer it got and when it came.
type Request struct {
	protocol.HeartbeatRequest

	Answer protocol.HeartbeatResponse
	// Status is the HTTP status; below 0 the connection was closed without an answer.
	Status int
	At     time.Time
}

// Start runs a coordinator until the test ends, with heartbeats each 50 ms and a client
// lease of 8 s.
func Start(t testing.TB) *Coordinator {
	t.Helper()
	c := &Coordinator{
		interval: 50 * time.Millisecond, lease: protocol.DefaultClientLease,
		target: map[int]string{}, holds: map[int]string{}, members: map[string]*seat{},
	}
	c.server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.server.Close)
	return c
}

// URL returns the base URL for client.Options.
func (c *Coordinator) URL() string { return c.server.URL }

// SetTiming changes the interval and the lease of answers.
func (c *Coordinator) SetTiming(interval, lease time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interval, c.lease = interval, lease
}

// SetHook replaces the hook; nil removes it.
func (c *Coordinator) SetHook(hook Hook) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hook = hook
}

// SetDown makes the server drop every request without an answer, or answer again.
func (c *Coordinator) SetDown(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = down
}

// Assign makes member the wanted owner of exactly these shards; other members that were
// wanted for them no longer are.
func (c *Coordinator) Assign(member string, shards ...int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for shard, owner := range c.target {
		if owner == member && !slices.Contains(shards, shard) {
			delete(c.target, shard)
		}
	}
	for _, shard := range shards {
		c.target[shard] = member
	}
	c.changes++
}

// Forget ends the holds and the record of a member, as an expiry does.
func (c *Coordinator) Forget(member string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release(member)
	delete(c.members, member)
}

// Holder returns who may be reading the shard; empty when nobody.
func (c *Coordinator) Holder(shard int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holds[shard]
}

// Changes counts grants, releases and joins.
func (c *Coordinator) Changes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// Requests returns the heartbeats of a member so far, oldest first; all with "".
func (c *Coordinator) Requests(member string) []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	var result []Request
	for _, request := range c.requests {
		if member == "" || request.MemberID == member {
			result = append(result, request)
		}
	}
	return result
}

func (c *Coordinator) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/heartbeat") {
		refuse(w, http.StatusNotFound)
		return
	}
	var request protocol.HeartbeatRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		refuse(w, http.StatusBadRequest)
		return
	}
	answer, status := c.answer(&request)
	switch {
	case status < 0:
		abort(w)
	case status != http.StatusOK:
		refuse(w, status)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func (c *Coordinator) answer(request *protocol.HeartbeatRequest) (*protocol.HeartbeatResponse, int) {
	c.mu.Lock()
	hook, down := c.hook, c.down
	var answer *protocol.HeartbeatResponse
	if down {
		answer = &protocol.HeartbeatResponse{}
	} else {
		answer = c.decide(request)
	}
	c.mu.Unlock()
	status := http.StatusOK
	switch {
	case down:
		status = -1
	case hook != nil:
		if said := hook(request, answer); said != 0 { // outside the lock: a hook may call the Coordinator
			status = said
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, Request{HeartbeatRequest: *request, Answer: *answer, Status: status, At: clock.Now()})
	return answer, status
}

// abort closes the connection without an answer.
func abort(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

func refuse(w http.ResponseWriter, status int) {
	code := protocol.CodeStoreUnavailable
	if status == http.StatusNotFound {
		code = protocol.CodeGroupNotFound
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(protocol.ErrorResponse{ErrorCode: code, Message: "as the test wants"})
}
