package api

import (
	"context"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// System returns what runs in the suite and with which settings.
func (c *Client) System(ctx context.Context) (*protocol.SystemResponse, error) {
	return roundTrip[protocol.SystemResponse](ctx, c, http.MethodGet, c.base+"/system", nil)
}
