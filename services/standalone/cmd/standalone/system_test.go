package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Monitoring, Console: System. The parts of one process answer each by itself, with the settings
// that the process has given them.
func TestThePartsOfOneProcessTellOfThemselves(t *testing.T) {
	t.Parallel()
	o := observe(t, "RSC_OBSERVE_INTERVAL=7s")
	var said protocol.SystemResponse
	require.Eventually(t, func() bool { // a part may be too busy to answer in time
		said = protocol.SystemResponse{}
		status, body := o.ask(http.MethodGet, "/coord/v1/system", "")
		if status != http.StatusOK || json.Unmarshal(body, &said) != nil {
			return false
		}
		for _, part := range said.Parts {
			if part.Process == nil {
				return false
			}
		}
		return true
	}, patience, 5*interval, "%+v", &said)
	var services []string
	for _, part := range said.Parts {
		services = append(services, part.Service)
		for _, setting := range part.Process.Configuration {
			require.NotContains(t, setting.Value, "redis://", "%s of the %s", setting.Key, part.Service)
		}
	}
	require.Equal(t, []string{protocol.ServiceGateway, protocol.ServiceCoordinator, protocol.ServiceMonitor, protocol.ServiceConsole}, services)
	require.Contains(t, said.Parts[2].Process.Configuration, protocol.SystemSetting{Key: "observe.interval", Value: "7s"})
	require.Contains(t, said.Parts[0].Process.Configuration, protocol.SystemSetting{Key: "gateway.web", Value: *said.Parts[3].Address})
}
