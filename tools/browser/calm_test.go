package browser_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// demoRoom is the page of the demo's group, which has demoMembers.
const (
	demoRoom    = "/streams/orders/groups/orders-consumer"
	demoMembers = 3
)

// Monitoring, Console: no layout jump on updates, on the page with the most on it. From its first
// paint on nothing of it moves, neither when it becomes live nor with any round.
func TestTheGroupPageChangesUnderTheReaderWithoutMoving(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo-cycle", "10m")
	s.flows(t)
	s.settles(t)
	w := s.signedIn(t, userOps)
	w.visit(demoRoom)
	w.text(`window.news = new Set(), window.before = document.querySelector("#shardmap").innerText`)
	for _, piece := range []string{"head", "shardmap"} {
		w.text(`new MutationObserver(() => window.news.add(document.querySelector("#` + piece + `").innerText))
			.observe(document.querySelector("#` + piece + `"), { childList: true, subtree: true })`)
	}
	w.until(`document.querySelector("#live").textContent === "live"`)
	w.until(`window.news.size >= 8 && document.querySelector("#shardmap").innerText !== window.before`)
	require.Equal(t, "[]", w.text("JSON.stringify(window.moved.map((one) => one.what))"), "nothing moves")
	w.blameless()
}

// settles waits until all members of the demo are there and have their shards.
func (s *suite) settles(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		group, err := s.admin.Group(t.Context(), "orders", "orders-consumer")
		if err != nil || group.State != protocol.GroupStable {
			return false
		}
		members, err := s.admin.Members(t.Context(), "orders", "orders-consumer")
		return err == nil && len(members) == demoMembers
	}, patience, often, "the demo's members share the shards")
}
