package group_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// E1: the fence tokens of a group that is created again are above those of its former
// life, however many rounds that went through.
func TestE1FenceTokensGrowOverLivesOfAGroup(t *testing.T) {
	t.Parallel()
	cfg := group.DefaultConfig()
	now, last := group.Millis(1_700_000_000_000), int64(0)
	for life := range 5 {
		g := group.New(cfg, group.Birth{
			StreamPrefix: "orders", ConsumerGroup: "g", Layout: group.Whole(1), Lineage: "L", Now: now, EpochFloor: group.EpochFloorAt(now),
		})
		live := map[string]group.Liveness{}
		for round := range 10 {
			out := group.Step(cfg, g, group.Input{
				Now: now, Fresh: true, Live: live, ServedAt: now, ClockJumped: round > 0, Nonce: string(rune('a' + round)),
				Heartbeats: []*protocol.HeartbeatRequest{{ProtocolVersion: 1, RequestID: "r", MemberID: "m", Incarnation: "i", Sequence: int64(round + 1)}},
			})
			require.NotNil(t, out.Next)
			g = out.Next
			m, _ := g.Find("m")
			require.Greater(t, m.Epoch, last, "life %d, round %d", life, round)
			last = m.Epoch
			live["m"] = group.Liveness{Deadline: now.Add(cfg.Lease), Incarnation: "i", Sequence: int64(round + 1)}
			now = now.Add(cfg.Lease)
		}
	}
}
