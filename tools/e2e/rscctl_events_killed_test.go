package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// toldWithin is how long after its death a member is told to be gone: its lease, and two seconds.
	toldWithin = protocol.DefaultMemberLease + 2*time.Second
	// toldTries is how often a member is killed at most, until one is told of in time: a machine
	// that stands still for a moment says nothing about rscctl.
	toldTries = 3
	// quickAnswer is how long a coordinator may take for an answer; what goes beyond is the
	// machine's.
	quickAnswer = 250 * time.Millisecond
)

// Monitoring, rscctl; protocol H3b: whoever follows the events reads that a member was killed, why
// its shards moved and to whom, within its lease and two seconds.
func TestRscctlTellsInTimeWhoGotTheShardsOfAKilledMember(t *testing.T) {
	t.Parallel()
	s := startSuite(t)
	s.createStream()
	s.consume("stays")
	s.stable(1)
	follow := []string{"events", stream, group, "--follow", "--coordinator", s.url()}
	people := start(t, "for people", "rscctl", follow...)
	programs := start(t, "for programs", "rscctl", append(follow, "-o", "json")...)
	for try := 1; ; try++ {
		member := fmt.Sprintf("dies-%d", try)
		consumer := s.consume(member)
		s.stable(2)
		moved := map[int]bool{}
		for shard, owner := range s.owners() {
			if owner == member {
				moved[shard] = true
			}
		}
		require.Len(t, moved, shards/2)
		slow := s.slowness()
		killed := time.Now()
		consumer.kill()
		s.eventually(func() bool { return people.saidOf(member) != "" && programs.saidOf(member) != "" }, "both are told")
		told, held := time.Since(killed), slow()

		require.Contains(t, people.saidOf(member), fmt.Sprintf("  EXPIRE  %s  ", member))
		require.Contains(t, people.saidOf(member), fmt.Sprintf("+GRANT %d shards stays", shards/2))
		require.Contains(t, people.saidOf(member), fmt.Sprintf(": %s -> stays", member))
		var event protocol.GroupEvent
		require.NoError(t, json.Unmarshal([]byte(programs.saidOf(member)), &event))
		for _, change := range event.Shards {
			require.True(t, moved[change.Shard], "shard %d was not the dead member's", change.Shard)
			require.NotNil(t, change.Hold.Before, programs.saidOf(member))
			require.NotNil(t, change.Hold.After, programs.saidOf(member))
			require.Equal(t, member, change.Hold.Before.MemberID)
			require.Equal(t, "stays", change.Hold.After.MemberID)
			delete(moved, change.Shard)
		}
		require.Empty(t, moved, "every shard is told of")
		decided := event.At.Sub(killed)
		t.Logf("%s: lease %v, decided %v after the kill, told after %v; the coordinator answered %v late in all", member,
			protocol.DefaultMemberLease, decided.Round(time.Millisecond), told.Round(time.Millisecond), held.Round(time.Millisecond))
		if max(told, decided) <= toldWithin+held {
			break
		}
		require.Less(t, try, toldTries, "none was told of in time")
	}
	require.False(t, people.ended() || programs.ended(), "they go on")
}

// saidOf returns the line in which a process told that a member was given up, empty for none.
func (p *process) saidOf(member string) string {
	for line := range strings.Lines(string(p.out.bytes())) {
		if strings.HasSuffix(line, "\n") && strings.Contains(line, string(protocol.EventExpire)) && strings.Contains(line, member) {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return ""
}

// slowness asks the coordinator for the group all the time, and returns what tells by how much its
// answers were late in all. It is a measure of the machine: a quick one is never late.
func (s *suite) slowness() func() time.Duration {
	ctx, stop := context.WithCancel(s.t.Context())
	s.t.Cleanup(stop)
	late := make(chan time.Duration, 1)
	go func() {
		var sum time.Duration
		for ctx.Err() == nil {
			asked := time.Now()
			_, _ = s.admin.Group(ctx, stream, group)
			sum += max(0, time.Since(asked)-quickAnswer)
			select {
			case <-ctx.Done():
			case <-time.After(often):
			}
		}
		late <- sum
	}()
	return func() time.Duration {
		stop()
		return <-late
	}
}
