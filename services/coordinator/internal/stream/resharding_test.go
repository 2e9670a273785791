package stream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// step is one transition of a story, and what the record shows then.
type step struct {
	do   func(stream.Stream) stream.Stream
	want string
}

// tell goes through a story that begins with a stream of that many shards.
func tell(t *testing.T, shards int, steps []step) stream.Stream {
	t.Helper()
	s := settled(shards)
	for i, step := range steps {
		before := s
		s = step.do(s)
		require.Equal(t, step.want, show(s), "step %d", i)
		require.Equal(t, before.MetadataVersion+1, s.MetadataVersion, "step %d", i)
	}
	return s
}

// settled is a stream that nothing is done to.
func settled(shards int) stream.Stream {
	return stream.Stream{
		Prefix: "orders", ShardCount: shards, MetadataVersion: 1, Lineage: "L",
		Groups: []stream.Group{{Name: "audit", State: stream.Active}, {Name: "billing", State: stream.Active}},
	}
}

// show tells of a record: phase, routed+removed shards, those that are closed and lost,
// the layout's version with its cause, and the steps of the removed shards.
func show(s stream.Stream) string {
	var b strings.Builder
	r := stream.Resharding{Phase: "-"}
	if s.Resharding != nil {
		r = *s.Resharding
	} else if len(s.Past) > 0 {
		r = s.Past[0]
	}
	fmt.Fprintf(&b, "%s %d+%d", r.Phase, s.ShardCount, s.Removed)
	if r.Turned {
		b.WriteString(" turned")
	}
	if closed := s.Closed(); len(closed) > 0 {
		fmt.Fprintf(&b, " closed%v", closed)
	}
	if len(s.Lost) > 0 {
		fmt.Fprintf(&b, " lost%v", s.Lost)
	}
	fmt.Fprintf(&b, " v%d %s", s.LayoutVersion, s.LayoutCause)
	for _, shard := range r.Shards {
		fmt.Fprintf(&b, " %d:%s", shard.Index, strings.ToLower(string(shard.Step)))
		if shard.Reason != "" {
			fmt.Fprintf(&b, "(%s)", shard.Reason)
		}
	}
	return b.String()
}

func ada(request string) stream.Order {
	return stream.Order{RequestedBy: "ada", Reason: "test", RequestID: request}
}

func scale(t *testing.T, to int) func(stream.Stream) stream.Stream {
	t.Helper()
	return func(s stream.Stream) stream.Stream {
		next, err := s.Scaled("R1", to, ada("q1"), "", 1000)
		require.NoError(t, err)
		return next
	}
}

func rollback(t *testing.T) func(stream.Stream) stream.Stream {
	t.Helper()
	return func(s stream.Stream) stream.Stream {
		next, err := s.RollingBack("R1", ada("q2"), 2000)
		require.NoError(t, err)
		return next
	}
}

func activated(s stream.Stream) stream.Stream    { return s.Activated(1100) }
func drainingFrom(s stream.Stream) stream.Stream { return s.DrainingFrom(31_100, 1200) }
func drained(s stream.Stream) stream.Stream      { return s.Drained(31_100) }
func turned(s stream.Stream) stream.Stream       { return s.Turned(2100) }
func finished(s stream.Stream) stream.Stream     { return s.Finished(9000) }

// judged says of each index why it is not empty, "" when it is.
func judged(reasons map[int]string) func(stream.Stream) stream.Stream {
	return func(s stream.Stream) stream.Stream { return s.Judged(found(reasons), 40_000) }
}

func sealed(reasons map[int]string) func(stream.Stream) stream.Stream {
	return func(s stream.Stream) stream.Stream { return s.Sealed(found(reasons), 50_000) }
}

func found(reasons map[int]string) []stream.Judged {
	var all []stream.Judged
	for index, reason := range reasons {
		j := stream.Judged{Index: index, Reason: reason}
		if reason == "" {
			j.Proof, j.Evidence = "LAG", fmt.Sprintf("shard %d is empty", index)
		}
		all = append(all, j)
	}
	return all
}

// TestL2ScaleOut: producers see the new shards only when they are provisioned.
func TestL2ScaleOut(t *testing.T) {
	t.Parallel()
	s := tell(t, 4, []step{
		{scale(t, 6), "PREPARING 4+0 v0 "},
		{activated, "ACTIVE 6+0 v1 SCALE"},
		{finished, "DEPRECATED 6+0 v1 SCALE"},
	})
	require.Nil(t, s.Resharding)
	require.Equal(t, []stream.Resharding{{
		ID: "R1", From: 4, To: 6, Phase: stream.PhaseDeprecated, Mark: 1000, Order: ada("q1"), CreatedAt: 1000, UpdatedAt: 9000,
	}}, s.Past)
}

// TestL3ScaleIn: routing shrinks at once, the reading set when all removed shards are
// sealed; a shard that is not empty after all is read again.
func TestL3ScaleIn(t *testing.T) {
	t.Parallel()
	s := tell(t, 5, []step{
		{scale(t, 2), "PREPARING 5+0 v0 "},
		{activated, "ACTIVE 2+3 v1 SCALE 2:reading 3:reading 4:reading"},
		{drainingFrom, "ACTIVE 2+3 v1 SCALE 2:reading 3:reading 4:reading"},
		{drained, "DRAINING 2+3 v1 SCALE 2:reading 3:reading 4:reading"},
		{judged(map[int]string{2: "UNREAD"}), "DRAINING 2+3 v1 SCALE 2:reading(UNREAD) 3:reading 4:reading"},
		{
			judged(map[int]string{2: "PENDING", 3: "", 4: ""}),
			"DRAINING 2+3 closed[3 4] v2 SEAL 2:reading(PENDING) 3:closing 4:closing",
		},
		{sealed(map[int]string{4: ""}), "DRAINING 2+3 closed[3 4] v2 SEAL 2:reading(PENDING) 3:closing 4:sealed"},
		{sealed(map[int]string{3: "UNREAD"}), "DRAINING 2+3 closed[4] v3 SEAL 2:reading(PENDING) 3:reading(UNREAD) 4:sealed"},
		{judged(map[int]string{2: "", 3: ""}), "DRAINING 2+3 closed[2 3 4] v4 SEAL 2:closing 3:closing 4:sealed"},
		{sealed(map[int]string{2: "", 3: ""}), "DRAINING 2+0 v5 SEAL 2:sealed 3:sealed 4:sealed"},
		{finished, "DEPRECATED 2+0 v5 SEAL 2:sealed 3:sealed 4:sealed"},
	})
	require.Equal(t, int64(31_100), s.Past[0].DrainFrom)
	require.Equal(t, stream.Removed{
		Index: 3, Step: stream.StepSealed, Since: 50_000, Proof: "LAG", Evidence: "shard 3 is empty",
	}, s.Past[0].Shards[1])
}

func TestL6ScaleInToNoShards(t *testing.T) {
	t.Parallel()
	s := tell(t, 1, []step{
		{scale(t, 0), "PREPARING 1+0 v0 "},
		{activated, "ACTIVE 0+1 v1 SCALE 0:reading"},
		{drainingFrom, "ACTIVE 0+1 v1 SCALE 0:reading"},
		{drained, "DRAINING 0+1 v1 SCALE 0:reading"},
		{judged(map[int]string{0: ""}), "DRAINING 0+1 closed[0] v2 SEAL 0:closing"},
		{sealed(map[int]string{0: ""}), "DRAINING 0+0 v3 SEAL 0:sealed"},
		{finished, "DEPRECATED 0+0 v3 SEAL 0:sealed"},
	})
	require.Equal(t, []int{}, s.Readable())
}

// TestL8Rollback: from each phase, sealed shards are back before routing returns, and
// what was added is drained.
func TestL8Rollback(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]step{
		"of a scale-out in PREPARING has nothing to copy": {
			{scale(t, 6), "PREPARING 4+0 v0 "},
			{rollback(t), "ROLLING_BACK 4+0 v0 "},
			{turned, "ROLLING_BACK 4+0 turned v0 "},
			{finished, "ROLLED_BACK 4+0 turned v0 "},
		},
		"of a scale-in in PREPARING has nothing to copy": {
			{scale(t, 1), "PREPARING 4+0 v0 "},
			{rollback(t), "ROLLING_BACK 4+0 v0 "},
			{turned, "ROLLING_BACK 4+0 turned v0 "},
			{finished, "ROLLED_BACK 4+0 turned v0 "},
		},
		"of a scale-out in ACTIVE drains what was added": {
			{scale(t, 6), "PREPARING 4+0 v0 "},
			{activated, "ACTIVE 6+0 v1 SCALE"},
			{rollback(t), "ROLLING_BACK 6+0 v1 SCALE"},
			{turned, "ROLLING_BACK 4+2 turned v2 ROLLBACK 4:reading 5:reading"},
			{drainingFrom, "ROLLING_BACK 4+2 turned v2 ROLLBACK 4:reading 5:reading"},
			{judged(map[int]string{4: "", 5: ""}), "ROLLING_BACK 4+2 turned closed[4 5] v3 SEAL 4:closing 5:closing"},
			{sealed(map[int]string{4: "", 5: ""}), "ROLLING_BACK 4+0 turned v4 SEAL 4:sealed 5:sealed"},
			{finished, "ROLLED_BACK 4+0 turned v4 SEAL 4:sealed 5:sealed"},
		},
		"of a scale-in in ACTIVE": {
			{scale(t, 2), "PREPARING 4+0 v0 "},
			{activated, "ACTIVE 2+2 v1 SCALE 2:reading 3:reading"},
			{rollback(t), "ROLLING_BACK 2+2 v1 SCALE 2:reading 3:reading"},
			{turned, "ROLLING_BACK 4+0 turned v2 ROLLBACK"},
			{finished, "ROLLED_BACK 4+0 turned v2 ROLLBACK"},
		},
		"of a scale-in in DRAINING with one shard sealed": {
			{scale(t, 2), "PREPARING 4+0 v0 "},
			{activated, "ACTIVE 2+2 v1 SCALE 2:reading 3:reading"},
			{drainingFrom, "ACTIVE 2+2 v1 SCALE 2:reading 3:reading"},
			{drained, "DRAINING 2+2 v1 SCALE 2:reading 3:reading"},
			{judged(map[int]string{3: ""}), "DRAINING 2+2 closed[3] v2 SEAL 2:reading 3:closing"},
			{sealed(map[int]string{3: ""}), "DRAINING 2+2 closed[3] v2 SEAL 2:reading 3:sealed"},
			{rollback(t), "ROLLING_BACK 2+2 closed[3] v2 SEAL 2:reading 3:sealed"},
			{turned, "ROLLING_BACK 4+0 turned v3 ROLLBACK"},
			{finished, "ROLLED_BACK 4+0 turned v3 ROLLBACK"},
		},
		"of a scale-in in DRAINING with all shards sealed": {
			{scale(t, 3), "PREPARING 4+0 v0 "},
			{activated, "ACTIVE 3+1 v1 SCALE 3:reading"},
			{drainingFrom, "ACTIVE 3+1 v1 SCALE 3:reading"},
			{drained, "DRAINING 3+1 v1 SCALE 3:reading"},
			{judged(map[int]string{3: ""}), "DRAINING 3+1 closed[3] v2 SEAL 3:closing"},
			{sealed(map[int]string{3: ""}), "DRAINING 3+0 v3 SEAL 3:sealed"},
			{rollback(t), "ROLLING_BACK 3+0 v3 SEAL 3:sealed"},
			{turned, "ROLLING_BACK 4+0 turned v4 ROLLBACK"},
			{finished, "ROLLED_BACK 4+0 turned v4 ROLLBACK"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, 4, steps)
			require.Equal(t, ada("q2"), s.Past[0].Order, "who rolled it back")
			require.Equal(t, int64(2000), s.Past[0].Mark)
			require.Greater(t, s.Past[0].Mark, int64(1000), "L2: above the marks of the way forward")
		})
	}
}

// TestL8RollbackOfAScaleOutWaitsForRoutingAnew: what was noted on the way forward says
// nothing of the routing answers that name the added shards.
func TestL8RollbackOfAScaleOutWaitsForRoutingAnew(t *testing.T) {
	t.Parallel()
	s := rollback(t)(drainingFrom(activated(scale(t, 6)(settled(4)))))
	require.Zero(t, s.Resharding.DrainFrom)
	s = s.Turned(2100).Drained(2200)
	require.Equal(t, stream.PhaseRollingBack, s.Resharding.Phase, "a rollback stays one")
}

func TestPastReshardingsAreBoundedAndOnlyTheLastKeepsItsShards(t *testing.T) {
	t.Parallel()
	s := settled(1)
	for i := range stream.MaxPast + 3 {
		next, err := s.Scaled(fmt.Sprint(i), i%2, ada("q"), "", int64(i))
		require.NoError(t, err)
		next = next.Activated(1)
		if next.Removed > 0 {
			next = sealed(map[int]string{0: ""})(judged(map[int]string{0: ""})(next.Drained(1)))
		}
		s = next.Finished(1)
	}
	require.Len(t, s.Past, stream.MaxPast)
	require.Equal(t, "22", s.Past[0].ID)
	require.Equal(t, "3", s.Past[stream.MaxPast-1].ID)
	for i, r := range s.Past {
		require.Equal(t, i == 0, len(r.Shards) > 0, r.ID)
	}
	r, err := s.FindResharding("3")
	require.NoError(t, err)
	require.True(t, r.Finished())
	_, err = s.FindResharding("2")
	require.ErrorIs(t, err, stream.ErrNoResharding)
}

// TestL5LookAtAShardThatHasMovedOnChangesNothing: two coordinators may look at once, and
// the record may have changed since.
func TestL5LookAtAShardThatHasMovedOnChangesNothing(t *testing.T) {
	t.Parallel()
	s := draining(t) // 2 is read and LAG_UNKNOWN, 3 closed, 4 sealed
	for name, do := range map[string]func(stream.Stream) stream.Stream{
		"proven, of one that is routed":         judged(map[int]string{1: ""}),
		"proven, of one that never was":         judged(map[int]string{9: ""}),
		"proven again":                          judged(map[int]string{3: "", 4: ""}),
		"not empty, of one that is closed":      judged(map[int]string{3: "UNREAD", 4: "UNREAD"}),
		"as it was":                             judged(map[int]string{2: "LAG_UNKNOWN"}),
		"nothing was looked at":                 judged(nil),
		"sealed, of one that is routed":         sealed(map[int]string{1: ""}),
		"sealed, of one that is read":           sealed(map[int]string{2: ""}),
		"sealed again":                          sealed(map[int]string{4: ""}),
		"not sealed, of one that is sealed":     sealed(map[int]string{4: "UNREAD"}),
		"nothing was sealed":                    sealed(nil),
		"not sealed, of one that is read again": sealed(map[int]string{2: "UNREAD"}),
	} {
		require.Equal(t, s, do(s), name)
	}
}

// TestL5RepeatedSealKeepsTheEvidenceOfTheFirstOne: the string in the shard's place has none.
func TestL5RepeatedSealKeepsTheEvidenceOfTheFirstOne(t *testing.T) {
	t.Parallel()
	s := draining(t).Sealed([]stream.Judged{{Index: 3}}, 50_000)
	shard, _ := s.Resharding.Shard(3)
	require.Equal(t, stream.Removed{Index: 3, Step: stream.StepSealed, Since: 50_000, Proof: "LAG", Evidence: "shard 3 is empty"}, shard)
	s = draining(t).Sealed([]stream.Judged{{Index: 3, Proof: "TAIL", Evidence: "tail empty"}}, 50_000)
	shard, _ = s.Resharding.Shard(3)
	require.Equal(t, "TAIL", shard.Proof, "what it was sealed by")
	require.Equal(t, "tail empty", shard.Evidence)
}
