package client

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// System returns what runs in the suite and with which settings, secrets masked: the gateway that
// answers, and every coordinator, the monitor and the console that it knows. It asks each for at
// most 2 s, and says of one that does not answer why. It is refused with FORBIDDEN for a user who
// is bound to some streams, and with NOT_FOUND by a coordinator, which knows of no others.
func (a *Admin) System(ctx context.Context) (*protocol.SystemResponse, error) {
	return a.api.System(ctx)
}
