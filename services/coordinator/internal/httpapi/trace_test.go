package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// monitoring, Observe: what is asked again and again, whether anybody uses the suite or not,
// makes no traces.
func TestWhatIsPolledMakesNoTrace(t *testing.T) {
	t.Parallel()
	for path, skipped := range map[string]bool{
		"/healthz": true, "/readyz": true, "/base/internal/groups": true, "/version": false, "/base/streams": false,
		"/internal/groups": false, "/base/streams/readyz": false,
	} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		require.Equal(t, skipped, traced("/base").Skip(r), path)
	}
	require.True(t, traced("/").Skip(httptest.NewRequest(http.MethodGet, "/internal/groups", nil)))
}
