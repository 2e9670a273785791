package telemetry

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

func answer(t *testing.T, handler http.Handler, method, path string) (int, string) {
	t.Helper()
	rec := httptest.NewRecorder()
	handler.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	return rec.Code, rec.Body.String()
}

func TestBothPathsShowBuildRuntimeAndOwnSeries(t *testing.T) {
	t.Parallel()
	registry := NewRegistry("coordinator")
	handler := Handler(registry)
	for _, path := range []string{"/metrics", "/actuator/prometheus"} {
		status, text := answer(t, handler, "GET", path)
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, text, `redis_stream_coord_build_info{commit=`)
		require.Contains(t, text, `service="coordinator"`)
		require.Contains(t, text, "go_goroutines ")
	}
	status, text := answer(t, handler, "GET", "/healthz")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "ok\n", text)
	status, _ = answer(t, handler, "GET", "/coord/v1/streams")
	require.Equal(t, http.StatusNotFound, status)
	status, _ = answer(t, handler, "POST", "/metrics")
	require.Equal(t, http.StatusMethodNotAllowed, status)
}

// One process with several services has one Go runtime, and one build of each service.
func TestMergedRegistriesShowSharedSeriesOnce(t *testing.T) {
	t.Parallel()
	status, text := answer(t, Handler(NewRegistry("coordinator"), NewRegistry("gateway")), "GET", "/metrics")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, 1, strings.Count(text, "\ngo_goroutines "))
	require.Equal(t, 1, strings.Count(text, "# TYPE redis_stream_coord_build_info "))
	require.Equal(t, 2, strings.Count(text, "\nredis_stream_coord_build_info{"))
}

func TestBrokenPartDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	broken := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return nil, errors.New("no") })
	status, text := answer(t, Handler(broken, NewRegistry("gateway")), "GET", "/metrics")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, text, "build_info")
}

func TestOneNameWithTwoTypesIsAnErrorAndTheFirstStays(t *testing.T) {
	t.Parallel()
	one, two := prometheus.NewRegistry(), prometheus.NewRegistry()
	one.MustRegister(prometheus.NewHistogram(prometheus.HistogramOpts{Name: "a_bytes", Help: "a"}))
	two.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "a_bytes", Help: "a"}))
	families, err := Merge(one, two).Gather()
	require.ErrorIs(t, err, errTypes)
	require.Len(t, families, 1)
	require.Equal(t, dto.MetricType_HISTOGRAM, families[0].GetType())
}

// No label value can end its line or its quotes.
func TestLabelValuesAreEscaped(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "a_total", Help: "a"}, []string{"stream"})
	registry.MustRegister(counter)
	counter.WithLabelValues("x\"} 1\nevil{y=\"\\").Inc()
	_, text := answer(t, Handler(registry), "GET", "/metrics")
	require.Contains(t, text, `a_total{stream="x\"} 1\nevil{y=\"\\"} 1`)
	require.NotContains(t, text, "\nevil")
}

func TestPortInUseNamesTheSettingAndNoAddressIsNoPort(t *testing.T) {
	t.Parallel()
	handler := Handler(NewRegistry("gateway"))
	server, err := Start(t.Context(), Place{Key: "gateway.metrics-listen", Address: "127.0.0.1:0"}, handler, nil)
	require.NoError(t, err)
	_, err = Start(t.Context(), Place{Key: "gateway.metrics-listen", Address: server.Address()}, handler, nil)
	require.ErrorContains(t, err, "gateway.metrics-listen: ")
	require.ErrorContains(t, err, "in use")

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+server.Address()+"/metrics", nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	require.Contains(t, string(text), "go_goroutines")
	require.NoError(t, server.Close(t.Context()))
	_, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Address())
	require.Error(t, err)

	off, err := Start(t.Context(), Place{}, handler, nil)
	require.NoError(t, err)
	require.Empty(t, off.Address())
	require.NoError(t, off.Close(t.Context()))

	require.NoError(t, Place{Address: ":9080"}.Validate())
	require.NoError(t, Place{}.Validate())
	require.ErrorContains(t, Place{Key: "metrics-listen", Address: "9080"}.Validate(), "metrics-listen is \"9080\"")
}
