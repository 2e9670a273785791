package views_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/views"
)

func TestReshardingIsShownWithWhoAskedForIt(t *testing.T) {
	t.Parallel()
	by, why := "ada", "fewer orders at night"
	at := func(ms int) protocol.Timestamp {
		return protocol.Timestamp{Time: time.Date(2026, 1, 1, 0, 0, 0, ms*1e6, time.UTC)}
	}
	require.Equal(t, protocol.Migration{
		ReshardingID: "R1", FromShardCount: 5, ToShardCount: 2, State: protocol.MigrationDraining, CreatedAt: at(1), UpdatedAt: at(2),
		RequestedBy: &by, Reason: &why, RollbackAllowed: true,
	}, views.Migration(stream.Resharding{
		ID: "R1", From: 5, To: 2, Phase: stream.PhaseDraining, Order: stream.Order{RequestedBy: by, Reason: why, RequestID: "q"},
		Mark: 9, Problem: "connection refused", CreatedAt: 1_767_225_600_001, UpdatedAt: 1_767_225_600_002,
	}))
}

func TestReshardingOfNobodyKnowsNoOne(t *testing.T) {
	t.Parallel()
	shown := views.Migration(stream.Resharding{ID: "R1"})
	require.Nil(t, shown.RequestedBy, "null, not an empty name")
	require.Nil(t, shown.Reason)
	require.Nil(t, shown.Progress)
}

// TestL8RollbackIsOfferedWhileItWouldBeTaken, and every phase has its name on the wire.
func TestL8RollbackIsOfferedWhileItWouldBeTaken(t *testing.T) {
	t.Parallel()
	for phase, want := range map[stream.Phase]struct {
		state   protocol.MigrationState
		allowed bool
	}{
		stream.PhasePreparing:   {protocol.MigrationPreparing, true},
		stream.PhaseActive:      {protocol.MigrationActive, true},
		stream.PhaseDraining:    {protocol.MigrationDraining, true},
		stream.PhaseRollingBack: {protocol.MigrationRollingBack, false},
		stream.PhaseDeprecated:  {protocol.MigrationDeprecated, false},
		stream.PhaseRolledBack:  {protocol.MigrationRolledBack, false},
	} {
		shown := views.Migration(stream.Resharding{Phase: phase})
		require.Equal(t, want.state, shown.State)
		require.Equal(t, want.allowed, shown.RollbackAllowed, string(phase))
		_, err := stream.Stream{MetadataVersion: 1, Resharding: &stream.Resharding{ID: "R", Phase: phase}}.RollingBack("R", stream.Order{}, 1)
		require.Equal(t, want.allowed, err == nil, string(phase))
	}
}
