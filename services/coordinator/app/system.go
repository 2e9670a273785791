package app

import (
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

// process is what the gateway is told of this coordinator, which starts now.
func (a *App) process() protocol.SystemProcess {
	return settings.Process(protocol.ServiceCoordinator, a.id, clock.Now(), a.cfg)
}
