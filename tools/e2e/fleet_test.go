package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/member"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// errNobody comes when no coordinator has decided about a heartbeat.
var errNobody = errors.New("no coordinator answered")

// fleet is many members that heartbeat as the SDK does, without reading records: what they may
// read is kept in one table, which shows at once where two may read one shard.
type fleet struct {
	t         *testing.T
	addresses []string // of the coordinators, as behind a balancer
	http      *http.Client
	began     time.Time
	lease     time.Duration // the client lease
	running   sync.WaitGroup

	turn, beats, refused, moves atomic.Int64
	// ending and behind count the retriable refusals: of a coordinator that ends, and of one
	// that cannot decide now.
	ending, behind atomic.Int64

	mu      sync.Mutex
	readers map[berth]reader
	faults  []string
}

// berth is a shard of a group.
type berth struct {
	stream string
	shard  int
}

// reader is a member that may read a shard until its lease ends.
type reader struct {
	id    string
	until time.Duration
}

// sailor is a member of a fleet.
type sailor struct {
	fleet  *fleet
	stream string
	id     string
	state  *member.State
	leave  context.Context // ends when it is to leave
}

func newFleet(t *testing.T, lease time.Duration, addresses ...string) *fleet {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 256, MaxConnsPerHost: 256}
	f := &fleet{
		t: t, addresses: addresses, http: &http.Client{Transport: transport, Timeout: 10 * time.Second}, began: time.Now(), lease: lease,
		readers: map[berth]reader{},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return f
}

func (f *fleet) now() time.Duration { return time.Since(f.began) }

func (f *fleet) fault(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.faults) < 20 {
		f.faults = append(f.faults, fmt.Sprintf(format, args...))
	}
}

// wrong returns what should never have happened.
func (f *fleet) wrong() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.faults)
}

// join lets a member join the group of a stream until leave ends, then it says goodbye.
func (f *fleet) join(ctx, leave context.Context, stream, id string) {
	s := &sailor{fleet: f, stream: stream, id: id, leave: leave}
	s.state = member.New(member.Config{
		ID: id, Incarnation: ulid.Make().String(), ClientLease: f.lease,
	}, f.now())
	f.running.Go(func() { s.sail(ctx) })
}

// sail heartbeats until ctx ends or the member has left.
func (s *sailor) sail(ctx context.Context) {
	for ctx.Err() == nil && !s.state.Done() {
		if clock.Sleep(ctx, s.state.Due()-s.fleet.now()) != nil {
			return
		}
		load := member.Load{RequestID: ulid.Make().String(), Free: 1}
		ask := s.state.Heartbeat
		if s.leave.Err() != nil {
			ask = func(now time.Duration, load member.Load) (*protocol.HeartbeatRequest, []member.Action) {
				return s.state.Depart(now, false, load)
			}
		}
		request, actions := ask(s.fleet.now(), load)
		s.carryOut(actions)
		answer, err := s.fleet.heartbeat(ctx, s.stream, request)
		now := s.fleet.now()
		if err != nil {
			s.carryOut(s.state.Failed(now, request.Sequence))
			continue
		}
		s.fleet.judge(s, answer)
		s.carryOut(s.state.Answer(now, request.Sequence, answer))
		s.fleet.renew(s)
		s.fleet.beats.Add(1)
	}
}

// carryOut starts and ends reads; nothing is ever in flight.
func (s *sailor) carryOut(actions []member.Action) {
	for _, action := range actions {
		switch action.Kind {
		case member.Start:
			s.fleet.take(s, action.Shard)
		case member.Revoke:
			s.fleet.drop(s, action.Shard)
			s.state.ReadStopped(action.Shard, action.Grant)
			s.state.Drained(s.fleet.now(), action.Shard, action.Grant)
		case member.Drop:
			s.fleet.drop(s, action.Shard)
		}
	}
}

// take notes that the member reads a shard, which nobody else may read then.
func (f *fleet) take(s *sailor, shard int) {
	until, _ := s.state.LeaseUntil()
	at := berth{s.stream, shard}
	f.mu.Lock()
	held, taken := f.readers[at]
	f.readers[at] = reader{id: s.id, until: until}
	f.mu.Unlock()
	f.moves.Add(1)
	if now := f.now(); taken && held.id != s.id && held.until > now {
		f.fault("shard %d of %s is read by %s, and %s may read it for another %v", shard, s.stream, s.id, held.id, held.until-now)
	}
}

func (f *fleet) drop(s *sailor, shard int) {
	at := berth{s.stream, shard}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers[at].id == s.id {
		delete(f.readers, at)
	}
}

// renew notes how long the member may go on with what it reads.
func (f *fleet) renew(s *sailor) {
	until, leased := s.state.LeaseUntil()
	if !leased {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, shard := range s.state.Shards() {
		at := berth{s.stream, shard.Index}
		if f.readers[at].id == s.id {
			f.readers[at] = reader{id: s.id, until: until}
		}
	}
}

// judge looks for answers that throw the member out, or that nobody should get.
func (f *fleet) judge(s *sailor, answer *protocol.HeartbeatResponse) {
	switch answer.Status {
	case protocol.StatusOK, protocol.StatusRetry, protocol.StatusSyncMetadata, protocol.StatusRevokePending:
	case protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch, protocol.StatusUnsupportedProtocol, protocol.StatusInvalidRequest:
		if s.leave.Err() == nil {
			f.fault("%s of %s got %s (%s) at epoch %d", s.id, s.stream, answer.Status, answer.Reason, s.state.Epoch())
		}
	}
}

// heartbeat asks the coordinators in turn until one decides, as a gateway does: another one is
// asked where the request did not arrive or the coordinator ends.
func (f *fleet) heartbeat(ctx context.Context, stream string, request *protocol.HeartbeatRequest) (*protocol.HeartbeatResponse, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encode heartbeat: %w", err)
	}
	path := "/coord/v1/streams/" + stream + "/groups/" + group + "/members/" + request.MemberID + "/heartbeat"
	first := f.turn.Add(1)
	for i := range int64(len(f.addresses)) {
		at := f.addresses[(first+i)%int64(len(f.addresses))]
		status, data, err := f.post(ctx, "http://"+at+path, body)
		if err != nil {
			f.refused.Add(1)
			continue
		}
		if status == http.StatusOK {
			var answer protocol.HeartbeatResponse
			if err := json.Unmarshal(data, &answer); err != nil {
				return nil, fmt.Errorf("decode answer: %w", err)
			}
			return &answer, nil
		}
		if !f.excused(status, data) {
			return nil, errNobody
		}
	}
	return nil, errNobody
}

// excused tells whether another coordinator should be asked. What is no retriable refusal is a
// fault.
func (f *fleet) excused(status int, data []byte) bool {
	var refusal protocol.ErrorResponse
	if err := json.Unmarshal(data, &refusal); err != nil || status != http.StatusServiceUnavailable || !refusal.Retriable {
		f.fault("a heartbeat was answered %d %s", status, data)
		return false
	}
	if refusal.ErrorCode == protocol.CodeTerminating {
		f.ending.Add(1)
		return true
	}
	f.behind.Add(1)
	return false
}

func (f *fleet) post(ctx context.Context, url string, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := f.http.Do(request)
	if err != nil {
		return 0, nil, fmt.Errorf("send heartbeat: %w", err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, nil, fmt.Errorf("read answer: %w", err)
	}
	return answer.StatusCode, data, nil
}
