package settings_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

func TestTracesGoToTheUsualPathWhereNoneIsNamed(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"http://collector:4318":             "http://collector:4318/v1/traces",
		"http://collector:4318/":            "http://collector:4318/v1/traces",
		"https://collector/otlp/v1/traces":  "https://collector/otlp/v1/traces",
		"http://[::1]:4318/tenant/a/traces": "http://[::1]:4318/tenant/a/traces",
	} {
		got, err := settings.Telemetry{TracesEndpoint: given}.Endpoint()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestWrongTelemetryIsNamedAndNotRepeated(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{
		"collector:4318", "grpc://canary:4317", "http://", "http://:4318", "http://canary:pass@c", "http://c?token=canary", "http://c?", "http://c#canary", "http://c:canary", "/v1/traces", "http://\x7f",
	} {
		err := settings.Telemetry{TracesEndpoint: endpoint}.Validate()
		require.ErrorContains(t, err, "telemetry.traces-endpoint", "%q", endpoint)
		require.NotContains(t, err.Error(), "canary")
	}
	for _, headers := range []string{"canary", "=canary", "a b=canary", "a=b,", "a=canary\r\nX: y", "ä=canary", "a=b,,c=d"} {
		err := settings.Telemetry{TracesHeaders: config.Secret(headers)}.Validate()
		require.ErrorContains(t, err, "telemetry.traces-headers", "%q", headers)
		require.NotContains(t, err.Error(), "canary")
	}
	for _, ratio := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		require.ErrorContains(t, settings.Telemetry{TracesRatio: ratio}.Validate(), "telemetry.traces-ratio")
	}
	require.NoError(t, settings.DefaultTelemetry().Validate())
	require.NoError(t, settings.Telemetry{}.Validate())
}

func TestHeadersOfTheReceiverAreReadByName(t *testing.T) {
	t.Parallel()
	got, err := settings.Telemetry{TracesHeaders: "authorization=Bearer a==, x-scope=tenant"}.Headers()
	require.NoError(t, err)
	require.Equal(t, map[string]string{"Authorization": "Bearer a==", "X-Scope": "tenant"}, got)
}
