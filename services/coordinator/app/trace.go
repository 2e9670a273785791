package app

import (
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
)

// trace sets a.tracing, and has it watch Redis.
func (a *App) trace() error {
	made, err := tracing.New(a.cfg.Telemetry, tracing.Service{Name: "coordinator", ID: a.id, Version: Build().Version}, a.log)
	if err != nil {
		return err
	}
	a.tracing = made
	if a.redis != nil {
		a.tracing.Redis(a.redis)
	}
	return nil
}
