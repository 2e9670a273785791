package client

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Scale changes the shard count of a stream, for all its groups at once (L1). It is
// answered when the change is on record; the coordinators then carry it out, and
// WatchMigration follows them. The resharding of a stream that has the count already has
// the id protocol.NoopReshardingID and is over. It is refused with
// ACTIVE_MIGRATION_EXISTS while another resharding of the stream is under way.
func (a *Admin) Scale(
	ctx context.Context, stream string, req protocol.ScaleRequest,
) (*protocol.StreamScaleResponse, error) {
	return a.api.Scale(ctx, stream, &req)
}

// Migration returns one resharding of the group's stream with its progress (L10). It is
// refused with MIGRATION_NOT_FOUND when the stream has none with that id.
func (a *Admin) Migration(ctx context.Context, stream, group, id string) (*protocol.Migration, error) {
	return a.api.Migration(ctx, stream, group, id)
}

// Rollback undoes a resharding of the stream for all its groups (L8). It is answered when
// that is on record. It is refused with ROLLBACK_NOT_ALLOWED once the resharding is done.
func (a *Admin) Rollback(
	ctx context.Context, stream, group, id string, req protocol.RollbackRequest,
) (*protocol.Migration, error) {
	return a.api.Rollback(ctx, stream, group, id, &req)
}

// ConfirmDrain takes the caller's word that the removed shard req.ShardIndex is empty
// where Redis cannot prove it: its lag is unknown or contradicts the stream's tail (L9).
// It is refused with DRAIN_NOT_CONFIRMABLE while entries are unread or pending, and for a
// shard that is not being removed.
func (a *Admin) ConfirmDrain(
	ctx context.Context, stream, group, id string, req protocol.ConfirmDrainRequest,
) (*protocol.Migration, error) {
	return a.api.ConfirmDrain(ctx, stream, group, id, &req)
}
