package member_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/member"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// walk drives a member through answers of every kind, late, lost, repeated and reordered,
// and keeps beside it the plainest possible account of what it may do.
type walk struct {
	*seat
	sent      map[int64]time.Duration
	pending   []int64 // requests whose answer may still arrive
	latest    int64
	leaseEnd  time.Duration
	permitted []int // what the last accepted answers leave to be read
	epoch     int64
}

func TestPropertiesOfAMember(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &walk{seat: newSeat(t), sent: map[int64]time.Duration{}}
		t.Repeat(map[string]func(*rapid.T){
			"time":   func(t *rapid.T) { w.now += rapid.SampledFrom([]time.Duration{1, 1e8, 1e9, 5e9}).Draw(t, "step") },
			"tick":   func(*rapid.T) { w.apply(w.state.Tick(w.now)) },
			"send":   w.heartbeat,
			"answer": w.deliver,
			"drain":  func(t *rapid.T) { w.drain(rapid.IntRange(0, 3).Draw(t, "shard")) },
			"fail": func(*rapid.T) {
				w.apply(w.state.Failed(w.now, w.latest))
			},
			"": w.check,
		})
	})
}

func (w *walk) heartbeat(t *rapid.T) {
	w.lapse()
	before := w.state.Sequence()
	request := w.send()
	require.Equal(t, before+1, request.Sequence, "E5: the sequence rises by one")
	require.Equal(t, w.mayRead(), owned(request), "owned is what may be read now")
	require.Equal(t, w.epoch, request.MemberEpoch)
	for _, report := range request.RevokingShards {
		require.Equal(t, report.State == protocol.Revoked, report.InFlight == 0 && report.State != protocol.Revoking)
	}
	w.latest = request.Sequence
	w.sent[request.Sequence] = w.now
	w.pending = append(w.pending, request.Sequence)
}

func (w *walk) deliver(t *rapid.T) {
	if len(w.pending) == 0 {
		return
	}
	w.lapse()
	sequence := rapid.SampledFrom(w.pending).Draw(t, "sequence")
	status := rapid.SampledFrom([]protocol.HeartbeatStatus{
		protocol.StatusOK, protocol.StatusOK, protocol.StatusOK, protocol.StatusSyncMetadata,
		protocol.StatusRevokePending, protocol.StatusRetry, protocol.StatusFencedMemberEpoch,
		protocol.StatusUnknownMemberID, protocol.StatusInvalidRequest,
	}).Draw(t, "status")
	assigned := rapid.SliceOfDistinct(rapid.IntRange(0, 3), rapid.ID[int]).Draw(t, "assigned")
	answer := w.answer(status, rapid.Int64Range(1, 99).Draw(t, "epoch"), assigned...)
	answer.LeaseMs = rapid.SampledFrom([]int64{0, 3000, fullLeaseMs, 60_000}).Draw(t, "leaseMs")

	ticked := w.state.Clone()
	ticked.Tick(w.now)
	counts := sequence == w.latest && ticked.Waiting()
	actions := w.apply(w.state.Answer(w.now, sequence, answer))
	for _, action := range actions {
		require.True(t, counts || action.Kind == member.Drop, "H5: only the answer to the latest request counts")
		require.True(t, action.Kind != member.Start || status == protocol.StatusOK, "I8: only OK starts")
	}
	if counts {
		w.account(status, answer, assigned, w.sent[sequence])
	}
}

// account is the specification of an answer that counts.
func (w *walk) account(status protocol.HeartbeatStatus, answer *protocol.HeartbeatResponse, assigned []int, sent time.Duration) {
	slices.Sort(assigned)
	switch status {
	case protocol.StatusOK:
		w.permitted = assigned
	case protocol.StatusSyncMetadata, protocol.StatusRevokePending:
		w.permitted = slices.DeleteFunc(slices.Clone(w.permitted), func(shard int) bool {
			return !slices.Contains(assigned, shard)
		})
	case protocol.StatusFencedMemberEpoch, protocol.StatusUnknownMemberID:
		w.permitted, w.leaseEnd, w.epoch = nil, 0, 0
		return
	case protocol.StatusRetry, protocol.StatusInvalidRequest, protocol.StatusUnsupportedProtocol:
		return
	}
	w.epoch = answer.MemberEpoch
	w.leaseEnd = sent + min(clientLease, time.Duration(answer.LeaseMs)*time.Millisecond)
	w.lapse()
}

func (w *walk) lapse() {
	if w.now >= w.leaseEnd {
		w.permitted, w.epoch = nil, 0
	}
}

func (w *walk) check(t *rapid.T) {
	w.lapse()
	require.ElementsMatch(t, w.permitted, w.mayRead(), "I1, H5: may read what was granted, within the lease")
	for _, shard := range w.mayRead() {
		require.Contains(t, w.reading, shard, "what may be read was started")
	}
	copied := w.state.Clone()
	require.Equal(t, w.state.AppendKey(nil, w.now), copied.AppendKey(nil, w.now))
	copied.Leave()
	require.ElementsMatch(t, w.permitted, w.mayRead(), "a copy shares nothing")
}

func TestKeyDoesNotDependOnWhenAStateWasReached(t *testing.T) {
	t.Parallel()
	early, late := joined(t, 1), newSeat(t)
	late.state = member.New(member.Config{ID: "m0", Incarnation: "I1", Workers: 2}, time.Hour)
	late.now = time.Hour
	late.send()
	late.take(late.answer(protocol.StatusOK, 5, 1))
	require.Equal(t, early.state.AppendKey(nil, early.now), late.state.AppendKey(nil, late.now))
	late.now += time.Second
	require.NotEqual(t, early.state.AppendKey(nil, early.now), late.state.AppendKey(nil, late.now))
}
