package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// Protocol J1 and M6, field case F34: members of a group whose record is gone stop, nothing
// is made anew from their heartbeats, and creating the group again repairs it under a
// barrier.
func TestMembersStopWhenTheRecordOfTheirGroupIsDeleted(t *testing.T) {
	t.Parallel()
	const (
		records     = 9_000
		clientLease = 2400 * time.Millisecond
		tolerance   = 50 * time.Millisecond
	)
	server := redisproc.Start(t)
	s := newSuite(t, server.URL(), onServer(t, server))
	c := &scene{suite: s, record: startRecorder(t, s.url())}
	s.front = c.record.url
	s.createStream()
	for _, name := range []string{"c1", "c2", "c3"} {
		c.names = append(c.names, name)
		c.consumers = append(c.consumers, s.consume(name, "--work", "1ms"))
	}
	s.stable(len(c.names))
	for range 5 { // what tokens say must hold over the repair too
		c.visit(true)
	}
	s.stable(len(c.names))
	s.publish(records).wait()
	s.eventually(func() bool { return s.handled(c.names...) > records/10 }, "records are handled")
	before := c.view()

	rdb := server.Client(t)
	c.lose(func() { require.NoError(t, rdb.Del(t.Context(), metadataKey).Err()) })
	c.eventually(func() bool {
		told := map[string]int{}
		for _, one := range c.record.since(c.gone) {
			require.Equal(t, protocol.StatusUnknownMemberID, one.answer.Status)
			require.Empty(t, one.answer.Assignment.AssignedShards)
			told[one.request.MemberID]++
		}
		return told["c1"] > 2 && told["c2"] > 2 && told["c3"] > 2 && time.Since(c.lost) > clientLease+tolerance
	}, "all members are told again and again, for longer than their lease")
	require.Zero(t, rdb.Exists(t.Context(), metadataKey).Val(), "nothing is made anew from heartbeats")
	last := map[string]time.Duration{}
	for _, name := range c.names {
		starts := of("start", s.ledger(name))
		last[name] = starts[len(starts)-1].at().Sub(c.lost).Round(time.Millisecond)
		require.LessOrEqual(t, last[name], clientLease+tolerance)
	}
	left := records - s.handled(c.names...)
	require.Positive(t, left, "there was something left to do")
	c.requireNamed()

	repaired := time.Now()
	made, err := s.admin.CreateGroup(t.Context(), stream, group, protocol.CreateGroupRequest{RequestedBy: "e2e"})
	require.NoError(t, err)
	require.NotNil(t, made.BarrierUntil, "members of the lost record may still read")
	require.NotEqual(t, before.Lineage, made.Lineage)
	s.stable(len(c.names))
	stable := time.Since(repaired)
	require.LessOrEqual(t, stable, convergence, "V1")
	health, err := s.admin.Health(t.Context())
	require.NoError(t, err)
	require.Equal(t, protocol.HealthUp, health.Status)
	for _, name := range c.names {
		for _, one := range of("start", s.ledger(name)) {
			if one.at().After(repaired) {
				require.Greater(t, one.at().Sub(repaired), sceneLease-grain, "%s reads while the barrier is up", name)
			}
		}
	}
	r := s.finish(records, c.names, c.consumers)
	t.Logf("last handling began %v after the deletion, %d records were left; stable %s after the repair; %d handled, %d duplicates, %d lost",
		last, left, stable.Round(time.Millisecond), r.Handled, r.Duplicates.Total, r.Lost)
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
