package reshard_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
)

// leave says goodbye for good (J5).
func (m *member) leave() {
	m.t.Helper()
	req := m.request()
	req.MemberEpoch, req.OwnedShards = protocol.EpochLeave, nil
	_, err := m.at.loop.Heartbeat(m.t.Context(), m.prefix, m.in, req)
	require.NoError(m.t, err)
	m.mute = true
}

// luck decides about faults; it is asked from many goroutines.
type luck struct {
	mu  sync.Mutex
	rng *rand.Rand
}

// strikes tells whether one of so many calls is to fail.
func (l *luck) strikes(of int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rng.IntN(of) == 0
}

// trouble makes calls of a coordinator fail now and then, before or after their effect.
func (l *luck) trouble(c *coordinator) {
	lost := errors.New("bad luck")
	shards := func(string) error {
		if l.strikes(12) {
			return lost
		}
		return nil
	}
	kept := func(_ context.Context, _ storetest.Call) error {
		if l.strikes(25) {
			return &store.UnavailableError{State: "TIMEOUT", Written: true, Cause: lost}
		}
		return nil
	}
	c.shards.fail(shards, shards)
	c.kept.Before(kept)
	c.kept.After(kept)
}

// L1, L3–L5, L8: whatever operators order in whatever order, with members that come and go
// and two coordinators of which one meets faults all the time, every record that a producer
// published by a fresh routing answer is handled once by every group. So it is when the
// store puts the records of groups or of the stream back (M1); in the latter case, where a
// forgotten scale-in has sealed shards, producers get errors until they are made again.
func TestL1NoOrderOfOrdersLosesARecord(t *testing.T) {
	t.Parallel()
	tests := map[string]func(b *bench) []string{
		"store that keeps":       func(*bench) []string { return nil },
		"groups put back":        func(b *bench) []string { return []string{b.groupKey("a"), b.groupKey("b")} },
		"stream record put back": func(b *bench) []string { return []string{b.recordKey()} },
	}
	for name, forgets := range tests {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%s %d", name, seed), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, redisproc.Start(t).Client(t))
				b.core.Lease, b.core.ClientLease, b.core.HeartbeatInterval = 2*time.Second, 1600*time.Millisecond, 500*time.Millisecond
				b.core.RebalanceTimeout = 4 * time.Second
				b.cfg.RoutingLease, b.cfg.LeaseTTL = 300*time.Millisecond, time.Second // a lease whose answer was lost runs out
				b.cfg.Scan, b.cfg.Sweep = 50*time.Millisecond, 200*time.Millisecond
				b.begin(3, "a", "b")
				life := &life{bench: b, rng: rand.New(rand.NewPCG(seed, 1)), both: []*coordinator{b.lead, b.start()}}
				life.join("a")
				life.join("b")
				b.settled()
				(&luck{rng: rand.New(rand.NewPCG(seed, 2))}).trouble(life.both[1])
				p := b.produce()
				for range 25 {
					life.next(forgets(b))
				}
				life.join("a")
				life.join("b")
				b.await("no resharding", func() bool { return b.stream().Resharding == nil })
				faults, sent := p.end()
				require.True(t, len(faults) == 0 || name == "stream record put back", "%v", faults)
				for _, in := range []string{"a", "b"} {
					b.await("everything handled", func() bool { n, _ := b.handledBy(in); return n == sent })
					_, twice := b.handledBy(in)
					require.Zero(t, twice)
				}
				b.settled()
			})
		}
	}
}

// life is what happens to a stream by chance.
type life struct {
	*bench
	rng  *rand.Rand
	both []*coordinator
	puts []func()
}

// join adds a member that asks the coordinator without faults.
func (l *life) join(in string) {
	l.bench.join(in, fmt.Sprintf("%s-%d", in, len(l.crew))).at = l.both[0]
}

// next lets something happen, and time go by. The keys are those that the store may put
// back to what they held a few steps ago.
func (l *life) next(keys []string) {
	l.t.Helper()
	for _, key := range keys {
		l.puts = append(l.puts, l.save(key))
	}
	c := l.both[l.rng.IntN(2)]
	switch l.rng.IntN(6) {
	case 0, 1:
		_, err := c.scale(l.t, l.prefix, l.rng.IntN(6))
		allowed(l.t, err)
	case 2:
		if r := l.stream().Resharding; r != nil {
			_, err := c.service.Rollback(l.t.Context(), l.prefix, "b", r.ID, protocol.RollbackRequest{RequestedBy: "ops"})
			allowed(l.t, err)
		}
	case 3:
		l.join([]string{"a", "b"}[l.rng.IntN(2)])
	case 4:
		if m := l.crew[l.rng.IntN(len(l.crew))]; m.epoch > 0 && !m.mute {
			m.leave()
		}
	default:
		if len(l.puts) > 0 {
			l.puts[max(0, len(l.puts)-1-l.rng.IntN(10))]()
		}
	}
	for range l.rng.IntN(60) {
		l.work()
	}
}

// allowed refuses errors that an order may not get.
func allowed(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var fault *protocol.Error
	require.ErrorAs(t, err, &fault)
	require.Contains(t, []protocol.Code{
		protocol.CodeActiveMigrationExists, protocol.CodeRollbackNotAllowed, protocol.CodeMigrationNotFound,
		protocol.CodeStateVersionConflict, protocol.CodeStoreUnavailable, protocol.CodeStateMutexUnavailable,
		protocol.CodeMetadataSyncInProgress,
	}, fault.Code, fault.Message)
}
