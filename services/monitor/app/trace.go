package app

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
)

// trace sets a.tracing, and has it watch Redis.
func (a *App) trace() error {
	made, err := tracing.New(a.cfg.Telemetry, tracing.Service{
		Name: "monitor", ID: settings.Instance(protocol.ServiceMonitor), Version: settings.Build().Version,
	}, a.log)
	if err != nil {
		return err
	}
	a.tracing = made
	a.tracing.Redis(a.redis)
	return nil
}
