package pages

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// API is what pages ask the gateway; package backend has it. The context says in whose name
// (backend.With). Refusals are *protocol.Error.
type API interface {
	overviewAPI
	followAPI
	scaleAPI
	migrationAPI
	groupAPI
	messageAPI
	auditAPI
	systemAPI
}

type overviewAPI interface {
	GroupRows(ctx context.Context) ([]protocol.GrafanaGroupRow, error)
	SampledGroupRows(ctx context.Context, samples int) ([]protocol.GrafanaGroupRow, error)
}

type followAPI interface {
	Follow(ctx context.Context, query client.FollowQuery, report func(client.Update) error) error
}
