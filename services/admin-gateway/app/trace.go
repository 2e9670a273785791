package app

import (
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/pipeline"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// trace sets a.tracing, and has it watch Redis. The gateway is the edge: strangers reach it.
func (a *App) trace() error {
	made, err := tracing.New(a.cfg.Telemetry, tracing.Service{
		Name: "gateway", ID: a.id, Version: settings.Build().Version, Edge: true,
	}, a.log)
	if err != nil {
		return err
	}
	a.tracing = made
	if a.redis != nil {
		a.tracing.Redis(a.redis)
	}
	return nil
}

// traced is the stage of the pipeline. What probes ask again and again is not recorded.
func (a *App) traced() pipeline.Wrap {
	return a.tracing.Handler(tracing.Requests{
		About: func(r *http.Request) tracing.About {
			to := asked(r)
			return tracing.About{Route: to.Pattern, Stream: to.Stream, Group: to.Group}
		},
		Skip: func(r *http.Request) bool {
			to := asked(r)
			return to.Service == route.Gateway && (to.Operation == "LIVE" || to.Operation == "READY")
		},
	})
}
