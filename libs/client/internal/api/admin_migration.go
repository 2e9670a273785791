package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Parts of paths that a mutation shares with its plan.
const (
	scaleSuffix    = "/scale"
	rollbackSuffix = "/rollback"
)

// maxReshardingID is the longest id of a resharding that is sent, in bytes.
const maxReshardingID = 64

// Scale changes the shard count of a stream.
func (c *Client) Scale(
	ctx context.Context, stream string, req *protocol.ScaleRequest,
) (*protocol.StreamScaleResponse, error) {
	return onStream[protocol.StreamScaleResponse](ctx, c, http.MethodPost, streamRef{stream, scaleSuffix}, req)
}

// Migration returns one resharding with its progress.
func (c *Client) Migration(ctx context.Context, stream, group, id string) (*protocol.Migration, error) {
	return onMigration[protocol.Migration](ctx, c, http.MethodGet, migrationRef{stream, group, id, ""}, nil)
}

// Rollback undoes a resharding.
func (c *Client) Rollback(
	ctx context.Context, stream, group, id string, req *protocol.RollbackRequest,
) (*protocol.Migration, error) {
	return onMigration[protocol.Migration](ctx, c, http.MethodPost,
		migrationRef{stream, group, id, rollbackSuffix}, req)
}

// ConfirmDrain takes an operator's word that a removed shard is empty.
func (c *Client) ConfirmDrain(
	ctx context.Context, stream, group, id string, req *protocol.ConfirmDrainRequest,
) (*protocol.Migration, error) {
	return onMigration[protocol.Migration](ctx, c, http.MethodPost,
		migrationRef{stream, group, id, "/confirm-drain"}, req)
}

// migrationRef names a resource of one resharding.
type migrationRef struct{ stream, group, id, suffix string }

func onMigration[T any](ctx context.Context, c *Client, method string, ref migrationRef, body any) (*T, error) {
	if err := checkReshardingID(ref.id); err != nil {
		return nil, err
	}
	suffix := "/migrations/" + ref.id + ref.suffix
	return onGroup[T](ctx, c, method, groupRef{c.base, ref.stream, ref.group, suffix}, body)
}

// checkReshardingID refuses an id that no coordinator makes: 1 … 64 letters, digits, '-'.
func checkReshardingID(id string) error {
	if id == "" || len(id) > maxReshardingID {
		return fmt.Errorf("%w: reshardingId has %d bytes, 1 … %d are allowed",
			protocol.ErrInvalidName, len(id), maxReshardingID)
	}
	for i := range len(id) {
		switch c := id[i]; {
		case '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', c == '-':
		default:
			return fmt.Errorf("%w: reshardingId %q has a character that is not allowed at byte %d",
				protocol.ErrInvalidName, id, i)
		}
	}
	return nil
}
