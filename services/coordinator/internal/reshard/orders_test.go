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
// published by a fresh routing answer is handled once by every group.
func TestL1NoOrderOfOrdersLosesARecord(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			b := newBench(t, redisproc.Start(t).Client(t))
			b.cfg.RoutingLease, b.cfg.LeaseTTL = 300*time.Millisecond, time.Second // a lease whose answer was lost runs out
			b.cfg.Scan, b.cfg.Sweep = 50*time.Millisecond, 200*time.Millisecond
			b.begin(3, "a", "b")
			steady, unlucky := b.lead, b.start()
			both := []*coordinator{steady, unlucky}
			join := func(in string) { b.join(in, fmt.Sprintf("%s-%d", in, len(b.crew))).at = steady }
			join("a")
			join("b")
			b.settled()
			(&luck{rng: rand.New(rand.NewPCG(seed, 2))}).trouble(unlucky)
			p := b.produce()
			for range 25 {
				switch rng.IntN(5) {
				case 0, 1:
					_, err := both[rng.IntN(2)].scale(t, b.prefix, rng.IntN(6))
					allowed(t, err)
				case 2:
					if r := b.stream().Resharding; r != nil {
						_, err := both[rng.IntN(2)].service.Rollback(t.Context(), b.prefix, "b", r.ID, protocol.RollbackRequest{RequestedBy: "ops"})
						allowed(t, err)
					}
				case 3:
					join([]string{"a", "b"}[rng.IntN(2)])
				default:
					if m := b.crew[rng.IntN(len(b.crew))]; m.epoch > 0 && !m.mute {
						m.leave()
					}
				}
				for range rng.IntN(40) {
					b.work()
				}
			}
			join("a")
			join("b")
			b.await("no resharding", func() bool { return b.stream().Resharding == nil })
			faults, sent := p.end()
			require.Empty(t, faults)
			for _, in := range []string{"a", "b"} {
				b.await("everything handled", func() bool { n, _ := b.handledBy(in); return n == sent })
				_, twice := b.handledBy(in)
				require.Zero(t, twice)
				require.Empty(t, b.group(in).Known, "nothing was taken for lost writes")
			}
			b.settled()
		})
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
	}, fault.Code, fault.Message)
}
