package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// Protocol J1 and M6, field case F34: members of a group whose record is gone stop, nothing
// is made anew from their heartbeats, and creating the group again repairs it under a
// barrier.
func TestMembersStopWhenTheRecordOfTheirGroupIsDeleted(t *testing.T) {
	t.Parallel()
	const records = 7_000
	server := redisproc.Start(t)
	s := newSuite(t, server.URL(), onServer(t, server))
	c := &scene{suite: s, record: startRecorder(t, s.url())}
	s.front = c.record.url
	s.createStream()
	for _, name := range []string{"c1", "c2", "c3"} {
		c.names = append(c.names, name)
		c.consumers = append(c.consumers, s.consume(name, "--work", sceneWork))
	}
	s.stable(len(c.names))
	for range 5 { // what tokens say must hold over the repair too
		c.visit(true)
	}
	s.stable(len(c.names))
	s.publish(records).wait()
	s.eventually(func() bool { return s.handled(c.names...) > records/10 }, "records are handled")
	rdb, lineages := server.Client(t), map[string]bool{c.view().Lineage: true}
	for n := range 2 { // fence tokens grow over every life of the group
		c.lose(func() { require.NoError(t, rdb.Del(t.Context(), metadataKey).Err()) })
		last := c.stopped(rdb)
		left := records - s.handled(c.names...)
		require.Positive(t, left, "there is something left to do")
		c.requireNamed()
		stable := c.repair()
		t.Logf("deletion %d: last handling began %v after it, %d records were left; stable %s after the repair",
			n+1, last, left, stable.Round(time.Millisecond))
		lineage := c.view().Lineage
		require.False(t, lineages[lineage], "another life has another lineage")
		lineages[lineage] = true
		at := s.handled(c.names...)
		s.eventually(func() bool { return s.handled(c.names...) > at+records/10 }, "records are handled again")
	}
	r := s.finish(records, c.names, c.consumers)
	t.Logf("%d handled, %d duplicates, %d lost", r.Handled, r.Duplicates.Total, r.Lost)
}

// stopped waits until all members have been told, for longer than their lease, that they
// are unknown, and returns how long after the loss each began its last handling.
func (c *scene) stopped(rdb *redis.Client) map[string]time.Duration {
	c.t.Helper()
	c.eventually(func() bool {
		told := map[string]int{}
		for _, one := range c.record.since(c.gone) {
			require.Equal(c.t, protocol.StatusUnknownMemberID, one.answer.Status)
			require.Empty(c.t, one.answer.Assignment.AssignedShards)
			told[one.request.MemberID]++
		}
		return told["c1"] > 2 && told["c2"] > 2 && told["c3"] > 2 && time.Since(c.gone) > sceneClientLease+entryDelay
	}, "all members are told again and again, for longer than their lease")
	require.Zero(c.t, rdb.Exists(c.t.Context(), metadataKey).Val(), "nothing is made anew from heartbeats")
	last := map[string]time.Duration{}
	for _, name := range c.names {
		starts := of("start", c.ledger(name))
		last[name] = starts[len(starts)-1].at().Sub(c.lost).Round(time.Millisecond)
		c.requireStopped(name, c.gone.Add(sceneClientLease), time.Now())
	}
	return last
}

// repair creates the group again, and returns in which time it is stable. Until the barrier
// is over nobody reads.
func (c *scene) repair() time.Duration {
	c.t.Helper()
	repaired := time.Now()
	made, err := c.admin.CreateGroup(c.t.Context(), stream, group, protocol.CreateGroupRequest{RequestedBy: "e2e"})
	require.NoError(c.t, err)
	require.NotNil(c.t, made.BarrierUntil, "members of the lost record may still read")
	c.stable(len(c.names))
	stable := time.Since(repaired)
	require.LessOrEqual(c.t, stable, convergence, "V1")
	health, err := c.admin.Health(c.t.Context())
	require.NoError(c.t, err)
	require.Equal(c.t, protocol.HealthUp, health.Status)
	for _, name := range c.names {
		for _, one := range of("start", c.ledger(name)) {
			if one.at().After(repaired) {
				require.Greater(c.t, one.at().Sub(repaired), sceneLease-grain, "%s reads while the barrier is up", name)
			}
		}
	}
	return stable
}

// requireNamed looks whether health and the group's own page say what is wrong and what
// helps.
func (c *scene) requireNamed() {
	c.t.Helper()
	_, err := c.admin.Group(c.t.Context(), stream, group)
	fault, ok := errors.AsType[*protocol.Error](err)
	require.True(c.t, ok, "%v", err)
	require.Equal(c.t, protocol.CodeMetadataMissing, fault.Code)
	require.ErrorContains(c.t, err, fmt.Sprintf("HTTP %d", http.StatusServiceUnavailable))
	require.ErrorContains(c.t, err, "creating the group again repairs it")
	c.eventually(func() bool {
		health, err := c.admin.Health(c.t.Context())
		require.NoError(c.t, err)
		text := strings.Join(health.Problems, " ")
		return health.Status == protocol.HealthDegraded && strings.Contains(text, group) && strings.Contains(text, stream)
	}, "health names the group")
}
