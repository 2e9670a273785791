package views

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// Migration returns a resharding as the API lists it, without progress.
func Migration(r stream.Resharding) protocol.Migration {
	return protocol.Migration{
		ReshardingID: r.ID, FromShardCount: r.From, ToShardCount: r.To, State: protocol.MigrationState(r.Phase),
		CreatedAt: protocol.AtMillis(r.CreatedAt), UpdatedAt: protocol.AtMillis(r.UpdatedAt),
		RequestedBy: Some(r.Order.RequestedBy), Reason: Some(r.Order.Reason), RollbackAllowed: r.MayRollBack(),
	}
}

// Some returns nil for a text that is not known.
func Some(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
