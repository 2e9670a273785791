package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestBearerTakesTheTokenOfOneHeaderOnly(t *testing.T) {
	t.Parallel()
	for _, given := range [][]string{{"Bearer abc"}, {"bearer  abc "}} {
		token, err := httpx.Bearer(http.Header{"Authorization": given})
		require.NoError(t, err)
		require.Equal(t, "abc", token)
	}
	for _, given := range [][]string{nil, {""}, {"Bearer"}, {"Bearer "}, {"Basic abc"}, {"abc"}, {"Bearer abc", "Bearer abc"}} {
		_, err := httpx.Bearer(http.Header{"Authorization": given})
		require.Error(t, err, given)
		require.NotContains(t, err.Error(), "abc")
	}
}

func TestUnauthorizedSaysHowToAuthenticate(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"", `Basic realm="x"`} {
		answer := httptest.NewRecorder()
		want := `Bearer realm="redis-stream-coordinator"`
		if said != "" {
			answer.Header().Set("WWW-Authenticate", said)
			want = said
		}
		httpx.NewAnswers(nil).Error(answer, httptest.NewRequest(http.MethodGet, "/", nil), protocol.Errorf(protocol.CodeUnauthorized, "no"))
		require.Equal(t, []string{want}, answer.Header().Values("WWW-Authenticate"))
	}
}
