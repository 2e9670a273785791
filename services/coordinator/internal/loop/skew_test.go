package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// TestT1OnlyTheStoresClockDecides has a coordinator whose own clock is far from the
// store's: members live as long as their leases by the store's clock, and no longer.
func TestT1OnlyTheStoresClockDecides(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"the store is ahead": time.Hour, "the store is behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(m *machine) {
				t := m.t
				m.skew.Store(ahead.Milliseconds())
				m.create(orders, 2)
				l := m.coordinator(true)
				a, b := &member{id: "a", incarnation: "i"}, &member{id: "b", incarnation: "i"}
				a.beat(t, l)
				for range 30 { // three leases
					m.pass(time.Second)
					require.Equal(t, protocol.StatusOK, b.beat(t, l).Status)
					require.Equal(t, protocol.StatusOK, a.beat(t, l).Status)
				}
				require.Len(t, a.owned, 1)
				m.pass(9 * time.Second)
				b.beat(t, l)
				require.Equal(t, group.Active, stateOf(t, l, "a"))
				m.pass(4 * time.Second)
				b.beat(t, l)
				require.Equal(t, group.Expired, stateOf(t, l, "a"), "a silent member expires with its lease")
			})
		})
	}
}
