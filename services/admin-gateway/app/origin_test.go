package app_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
)

// reliability 5, Console: no wildcard, no reflected origin, null refused. Pages of others read
// nothing, whatever they ask with.
func TestNoOtherOriginIsToldThatItMayReadAnything(t *testing.T) {
	t.Parallel()
	gateway, err := app.New(t.Context(), development(t), app.Deps{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, gateway.Close(context.WithoutCancel(t.Context()))) })
	for _, origin := range []string{"null", "*", "https://evil.example", "http://127.0.0.1:8080.evil.example", "http://127.0.0.1:8080"} {
		for _, method := range []string{http.MethodOptions, http.MethodGet, http.MethodPost} {
			for _, path := range []string{"/coord/v1/auth/session", "/coord/v1/auth/login", "/coord/v1/streams", "/readyz", "/nowhere"} {
				request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader("{}"))
				request.Header.Set("Origin", origin)
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Access-Control-Request-Method", http.MethodPost)
				request.Header.Set("Access-Control-Request-Headers", "authorization")
				request.Header.Set("Access-Control-Request-Private-Network", "true")
				answer := httptest.NewRecorder()
				gateway.Handler().ServeHTTP(answer, request)
				for name := range answer.Header() {
					require.False(t, strings.HasPrefix(name, "Access-Control-"), "%s %s from %s is answered with %s", method, path, origin, name)
				}
			}
		}
	}
}
