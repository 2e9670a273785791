package app

import (
	"net/http"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

// system tells what runs and with which settings: this gateway, and what is behind it
// (monitoring, Console: System). Settings concern all streams, so the route is for users who
// are bound to none (gateway, Roles).
func (a *App) system(answers httpx.Answers) http.Handler {
	self := settings.Process(protocol.ServiceGateway, a.id, clock.Now(), a.cfg)
	path := strings.TrimSuffix(a.cfg.API.BasePath, "/") + "/internal/system"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts := []protocol.SystemPart{{Service: protocol.ServiceGateway, Process: &self}}
		answers.JSON(w, r, http.StatusOK, protocol.SystemResponse{Parts: append(parts, a.proxy.Survey(r.Context(), path)...)})
	})
}
