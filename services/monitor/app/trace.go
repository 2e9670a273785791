package app

import (
	"os"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
)

// trace sets a.tracing, and has it watch Redis.
func (a *App) trace() error {
	made, err := tracing.New(a.cfg.Telemetry, tracing.Service{
		Name: "monitor", ID: monitorID(), Version: settings.Build().Version,
	}, a.log)
	if err != nil {
		return err
	}
	a.tracing = made
	a.tracing.Redis(a.redis)
	return nil
}

// monitorID is unique for every start, also of two monitors on one host.
func monitorID() string {
	host, err := os.Hostname()
	if err != nil {
		host = "monitor"
	}
	return host + "-" + strings.ToLower(ulid.Make().String())
}
