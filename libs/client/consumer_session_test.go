package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestHeartbeatsComeEachInterval(t *testing.T) {
	t.Parallel()
	inBubble(t, []int{0}, func(b *bubble) {
		b.until(5500 * time.Millisecond)
		var times []time.Duration
		for at, request := range b.all() {
			times = append(times, request.at)
			require.Equal(t, int64(at+1), request.Sequence)
		}
		require.Equal(t, []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second}, times)
	})
}

// The coordinator goes away after its answer to the heartbeat of second 2.
func TestLeaseEndsEightSecondsAfterTheLastAnsweredHeartbeatWasSent(t *testing.T) {
	t.Parallel()
	inBubble(t, []int{0}, func(b *bubble) {
		b.until(2500 * time.Millisecond)
		b.set(func(c *council) { c.away = true })
		b.until(10*time.Second - 1)
		require.True(t, b.held())
		require.Equal(t, []string{"0s assigned 0"}, b.read())
		b.until(10 * time.Second)
		require.False(t, b.held())
		require.Equal(t, []string{"0s assigned 0", "10s lost 0"}, b.read())
		require.Equal(t, int64(1), b.consumer.Status().Counters.Lapses)
		require.Zero(t, b.consumer.Status().Members[0].LeaseLeft)
		require.ErrorIs(t, b.consumer.Status().Members[0].Err, errAway)

		last := b.all()[len(b.all())-1]
		require.Equal(t, protocol.EpochJoin, last.MemberEpoch)
		require.Empty(t, last.OwnedShards)
		b.set(func(c *council) { c.away = false })
		b.until(12 * time.Second)
		require.True(t, b.held())
	})
}

// An answer that takes longer than a quarter of the lease is given up and renews nothing.
func TestSlowAnswersDoNotRenewTheLease(t *testing.T) {
	t.Parallel()
	inBubble(t, []int{0}, func(b *bubble) {
		b.until(500 * time.Millisecond)
		b.set(func(c *council) { c.latency = 2100 * time.Millisecond })
		b.until(8*time.Second - 1)
		require.True(t, b.held())
		b.until(8 * time.Second)
		require.False(t, b.held())
	})
}

func TestLeaseCountsFromTheSendTimeOfASlowAnswer(t *testing.T) {
	t.Parallel()
	inBubble(t, []int{0}, func(b *bubble) {
		b.until(500 * time.Millisecond)
		b.set(func(c *council) { c.latency = 1500 * time.Millisecond })
		b.until(2700 * time.Millisecond) // the heartbeat of second 1 was answered at 2.5 s
		b.set(func(c *council) { c.away = true })
		b.until(9*time.Second - 1)
		require.True(t, b.held())
		b.until(9 * time.Second)
		require.False(t, b.held())
	})
}

func TestSlowApplicationDelaysNoHeartbeat(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(b *bubble) {
		b.diary.started = func() { b.pass(30 * time.Second) }
		b.set(func(c *council) { c.assigned = []int{0, 1} })
		b.until(20500 * time.Millisecond)
		require.Len(t, b.all(), 21)
		b.until(40 * time.Second)
	})
}

// The drain takes 2.3 s: the member says REVOKING meanwhile and REVOKED at its end, at once.
func TestRevokeIsReportedAtOnceWhenItIsDone(t *testing.T) {
	t.Parallel()
	inBubble(t, []int{0, 1}, func(b *bubble) {
		b.diary.revoked = func(context.Context, *OwnedShard) error {
			b.pass(2300 * time.Millisecond)
			return nil
		}
		b.until(500 * time.Millisecond)
		b.set(func(c *council) { c.assigned = []int{1} })
		b.until(3200 * time.Millisecond)
		b.until(4 * time.Second)
		type report struct {
			at    time.Duration
			state protocol.RevokingState
		}
		var reports []report
		for _, request := range b.all() {
			if len(request.RevokingShards) > 0 {
				reports = append(reports, report{request.at, request.RevokingShards[0].State})
			}
		}
		require.Equal(t, []report{
			{2 * time.Second, protocol.Draining},
			{3 * time.Second, protocol.Draining},
			{3300 * time.Millisecond, protocol.Revoked},
		}, reports)
	})
}

func TestShardThatIsGrantedAgainDuringItsDrainStartsAfterIt(t *testing.T) {
	t.Parallel()
	inBubble(t, []int{0}, func(b *bubble) {
		b.diary.revoked = func(context.Context, *OwnedShard) error {
			b.pass(2500 * time.Millisecond)
			return nil
		}
		b.until(500 * time.Millisecond)
		b.set(func(c *council) { c.assigned = nil })
		b.until(1500 * time.Millisecond)
		first := b.shard.FenceToken
		b.set(func(c *council) { c.assigned = []int{0} })
		b.until(5 * time.Second)
		require.Equal(t, []string{
			"0s assigned 0", "1s revoked 0", "3.5s revoked 0 ends: <nil>", "3.5s assigned 0",
		}, b.read())
		require.Greater(t, b.shard.FenceToken, first)
		require.True(t, b.held())
	})
}

func TestFailedHandOverIsRepeatedUntilItsTimeIsOver(t *testing.T) {
	t.Parallel()
	inBubble(t, []int{0}, func(b *bubble) {
		var ended time.Duration
		b.diary.revoked = func(ctx context.Context, _ *OwnedShard) error {
			if ctx.Err() != nil {
				ended = time.Since(bubbleStart())
			}
			return errAway
		}
		b.until(500 * time.Millisecond)
		b.set(func(c *council) { c.assigned = nil })
		b.until(40 * time.Second)
		require.LessOrEqual(t, ended, 21*time.Second, "after DrainTimeout it is not called again")
		calls := (len(b.read()) - 1) / 2
		require.Contains(t, []int{20, 21}, calls, "once a second, for DrainTimeout")
		last := b.all()[len(b.all())-1]
		require.Equal(t, protocol.Draining, last.RevokingShards[0].State, "and it is still reported")
		b.set(func(c *council) { c.status = protocol.StatusFencedMemberEpoch })
		b.until(42 * time.Second)
		require.Contains(t, b.read(), "41s lost 0")
	})
}

func TestFencedMemberLosesItsShardsAndGetsThemAnew(t *testing.T) {
	t.Parallel()
	inBubble(t, []int{0}, func(b *bubble) {
		b.until(500 * time.Millisecond)
		b.set(func(c *council) { c.status = protocol.StatusFencedMemberEpoch })
		b.until(1500 * time.Millisecond)
		b.set(func(c *council) { c.status = "" })
		b.until(3 * time.Second)
		require.Equal(t, []string{"0s assigned 0", "1s lost 0", "2s assigned 0"}, b.read())
	})
}

func TestRunLeavesAndReturns(t *testing.T) {
	t.Parallel()
	inBubble(t, []int{0}, func(b *bubble) {
		b.diary.revoked = func(context.Context, *OwnedShard) error {
			b.pass(3 * time.Second)
			return nil
		}
		b.until(500 * time.Millisecond)
		b.stop()
		b.until(3400 * time.Millisecond)
		require.Positive(t, b.all()[len(b.all())-1].MemberEpoch, "heartbeats go on during the drain")
		b.until(3500 * time.Millisecond)
		require.NoError(t, <-b.done)
		last := b.all()[len(b.all())-1]
		require.Equal(t, 3500*time.Millisecond, last.at)
		require.Equal(t, protocol.EpochLeave, last.MemberEpoch)
		require.Empty(t, last.RevokingShards)
	})
}

// Field case F33 in exact time: the application never finishes, and the coordinator hangs since
// before the drain or since its end.
func TestFieldF33RunReturnsAtTheLatestTwoSecondsAfterDrainTimeout(t *testing.T) {
	t.Parallel()
	const stop, drain = 500 * time.Millisecond, 20 * time.Second
	tests := map[string]struct {
		hangs  time.Duration
		report int // shards in the departure
	}{
		"the lease ends first": {stop, 0},
		"the lease holds":      {stop + drain - time.Second, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, []int{0, 1}, func(b *bubble) {
				release := make(chan struct{})
				defer close(release)
				b.diary.revoked = func(_ context.Context, shard *OwnedShard) error {
					if shard.Index == 0 {
						<-release
					}
					return nil
				}
				b.until(stop)
				b.stop()
				b.until(test.hangs)
				b.set(func(c *council) { c.latency = time.Hour })
				b.until(stop + drain + 2*time.Second)
				select {
				case err := <-b.done:
					require.ErrorIs(t, err, ErrNotDrained)
				default:
					t.Error("Run has not returned")
				}
				require.False(t, b.shard.MayAck(), "what still runs may not acknowledge")
				last := b.all()[len(b.all())-1]
				require.Equal(t, protocol.EpochLeave, last.MemberEpoch)
				require.Empty(t, last.OwnedShards)
				require.Len(t, last.RevokingShards, test.report)
				for _, shard := range last.RevokingShards {
					require.Equal(t, 0, shard.Shard.ShardIndex)
					require.Equal(t, protocol.Draining, shard.State)
				}
			})
		})
	}
}

func TestConsumerRunsOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(b *bubble) {
		require.ErrorIs(t, b.consumer.Run(t.Context()), ErrConsumerUsed)
		synctest.Wait()
	})
}
