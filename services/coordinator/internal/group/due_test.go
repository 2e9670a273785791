package group_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// TestDueIsNeverLate walks at random and looks, after every event, one millisecond before
// what Due says: nothing may happen by time alone until then. At Due something may.
func TestDueIsNeverLate(t *testing.T) {
	t.Parallel()
	for _, m := range []mix{
		troubled("crashes", "twins", "bad reports", "failovers", "slow handlers"),
		reshaped("crashes", "orders", "unbar", "failovers", "lost shards"),
	} {
		rapid.Check(t, func(t *rapid.T) {
			s := newSim(m, drawn{t})
			for range s.mix.steps {
				s.happen()
				checkDue(t, s)
			}
		})
	}
}

func checkDue(t *rapid.T, s *sim) {
	st := s.store
	if st.lostUnnoticed() || len(s.broken) > 0 {
		return
	}
	tick := func(now group.Millis) group.Output {
		return group.Step(s.cfg, st.g, group.Input{
			Now: now, Fresh: true, Live: st.live, ServedAt: now, Identity: st.identity, Nonce: "due",
		})
	}
	now := s.clock()
	due := group.Due(s.cfg, st.g, st.live)
	if tick(now).Next != nil {
		require.True(t, due != 0 && due <= now || st.g.Round != nil, "something is due at %d, Due says %d\n%s", now, due, stateText(s))
		return
	}
	if due == 0 {
		require.Nil(t, tick(now.Add(1000*s.cfg.Lease)).Next, "Due says never\n%s", stateText(s))
	} else if due > now {
		require.Nil(t, tick(due-1).Next, "Due says %d, something happens before\n%s", due, stateText(s))
	}
}

func TestDueOfAnEmptyGroupIsNever(t *testing.T) {
	t.Parallel()
	g := group.New(group.DefaultConfig(), group.Birth{Layout: group.Whole(3), Now: start})
	require.Zero(t, group.Due(group.DefaultConfig(), g, nil))
	g = group.New(group.DefaultConfig(), group.Birth{Layout: group.Whole(3), Now: start, Barrier: true})
	require.Equal(t, start+10_000, group.Due(group.DefaultConfig(), g, nil))
}

// J0: what a new group starts from.
func TestJ0NewGroup(t *testing.T) {
	t.Parallel()
	g := group.New(group.DefaultConfig(), group.Birth{
		StreamPrefix: "orders", ConsumerGroup: "g", Layout: group.Whole(4), Lineage: "L1", Identity: "store-1", Now: start,
	})
	require.Equal(t, &group.Group{
		StreamPrefix: "orders", ConsumerGroup: "g", Lineage: "L1", Identity: "store-1",
		GroupEpoch: 1, AssignmentEpoch: 1, MetadataVersion: 1, ShardCount: 4,
		Target: make([]string, 4), Holds: make([]group.Hold, 4), Members: []group.Member{}, CreatedAt: start,
	}, g)
}
