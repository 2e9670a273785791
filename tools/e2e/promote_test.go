package e2e_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// Protocol M1–M5, reliability FT07 and C7: the replica has not received the last writes of
// its master when it takes the master's place. The address stays the same.
func TestMembersSurviveAReplicaPromotedAfterLostWrites(t *testing.T) {
	t.Parallel()
	const commits = 5
	master, replica := redisproc.Start(t), redisproc.Start(t)
	replica.Follow(t, master)
	between := startProxy(t, master.Addr())
	host, port, err := net.SplitHostPort(between.address())
	require.NoError(t, err)
	flags := append(sceneTiming(), "--redis-host", host, "--redis-port", port)
	c := startScene(t, newSuite(t, "redis://"+between.address()+"/0", flags))

	received, younger := c.view().MetadataVersion, replica.Client(t)
	c.eventually(func() bool {
		version, err := storedVersion(t, younger)
		return err == nil && version == received
	}, "the replica has received what is committed")
	replica.Promote(t) // nobody is told: the master goes on, and what it takes is lost
	c.unsettle(commits, func(version int64) bool { return version >= received })
	c.lag()
	c.lose(func() {
		between.turn(replica.Addr())
		master.Kill()
	})
	r := c.settle()
	c.published()
	c.tell("promoted replica", c.version-received, r, c.finishAfterLoss(replica))
}
