package limits_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/limits"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// through sends a request through the stage, and tells whether it was let by.
func through(t *testing.T, to route.Route, r *http.Request) (*exchange.Exchange, *httptest.ResponseRecorder, bool) {
	t.Helper()
	e := &exchange.Exchange{Route: to}
	let := false
	answer := httptest.NewRecorder()
	limits.NewBody(httpx.NewAnswers(nil)).Stage(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { let = true })).
		ServeHTTP(answer, r.WithContext(exchange.With(r.Context(), e)))
	return e, answer, let
}

func post(body io.Reader, chunked bool) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", body)
	r.Header.Set("Content-Type", "application/json")
	if chunked {
		r.ContentLength, r.TransferEncoding = -1, []string{"chunked"}
	}
	return r
}

// Wire contract, Rules: heartbeat 256 kB, login 16 kB, admin 64 kB.
func TestABodyHasTheSizeThatItsRouteAllows(t *testing.T) {
	t.Parallel()
	table := route.New(route.Config{})
	group := protocol.BasePath + "/streams/orders/groups/billing"
	for target, most := range map[string]int{
		group + "/members/m/heartbeat": 256 << 10, protocol.BasePath + "/auth/login": 16 << 10, group + "/scale": 64 << 10,
	} {
		to, err := table.Match(http.MethodPost, target, "")
		require.NoError(t, err)
		for _, chunked := range []bool{false, true} {
			body := strings.Repeat("x", most)
			e, _, let := through(t, to, post(strings.NewReader(body), chunked))
			require.True(t, let)
			require.Equal(t, body, string(e.Body))

			e, answer, let := through(t, to, post(strings.NewReader(body+"x"), chunked))
			require.False(t, let)
			require.Equal(t, 413, answer.Code)
			require.Equal(t, protocol.CodePayloadTooLarge, e.Code)
			require.Empty(t, e.Body)
			require.Equal(t, "close", answer.Header().Get("Connection"))
		}
	}
}

// Gateway, Audit: the hash of a mutation's body, those that are refused later too.
func TestTheHashOfAMutationIsKnown(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("no JSON"))
	e, _, _ := through(t, route.Route{MaxBody: 10, Mutation: true}, post(strings.NewReader("no JSON"), false))
	require.Equal(t, hex.EncodeToString(sum[:]), e.BodyHash)
	e, _, _ = through(t, route.Route{MaxBody: 10}, post(strings.NewReader("no JSON"), false))
	require.Empty(t, e.BodyHash)
	e, _, _ = through(t, route.Route{MaxBody: 3, Mutation: true}, post(strings.NewReader("no JSON"), false))
	require.Empty(t, e.BodyHash, "it was not read")
}

func TestARouteWithoutABodyTakesNone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		r   *http.Request
		let bool
	}{
		"none":           {httptest.NewRequest(http.MethodGet, "/", http.NoBody), true},
		"length":         {post(strings.NewReader("x"), false), false},
		"chunks":         {post(strings.NewReader("x"), true), false},
		"chunks of none": {post(strings.NewReader(""), true), true},
	} {
		e, answer, let := through(t, route.Route{}, test.r)
		require.Equal(t, test.let, let, name)
		if !let {
			require.Equal(t, 400, answer.Code)
			require.Equal(t, protocol.CodeInvalidRequest, e.Code)
		}
	}
}

// Reliability section 5, Resources: 1 kB -> 1 GB bomb. Nothing is ever decompressed.
func TestADecompressionBombIsRefusedUnread(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	zip := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 8 {
		_, err := zip.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, zip.Close())
	for _, encoding := range []string{"gzip", "deflate", "br", "gzip, gzip", "GZIP"} {
		r := post(bytes.NewReader(bomb.Bytes()), false)
		r.Header.Set("Content-Encoding", encoding)
		e, answer, let := through(t, route.Route{MaxBody: 256 << 10}, r)
		require.False(t, let)
		require.Equal(t, 415, answer.Code)
		require.Empty(t, e.Body)
		var refusal protocol.ErrorResponse
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &refusal))
		require.Equal(t, protocol.CodeUnsupportedMediaType, refusal.ErrorCode)
	}
}

func TestABodyOfAnotherTypeOrNoneIsRefused(t *testing.T) {
	t.Parallel()
	for kind, status := range map[string]int{"text/plain": 415, "": 415, "application/x-www-form-urlencoded": 415, "application/json; charset=utf-16": 415} {
		r := post(strings.NewReader("{}"), false)
		r.Header.Set("Content-Type", kind)
		_, answer, let := through(t, route.Route{MaxBody: 10}, r)
		require.False(t, let)
		require.Equal(t, status, answer.Code)
	}
	_, answer, let := through(t, route.Route{MaxBody: 10}, post(http.NoBody, false))
	require.False(t, let)
	require.Equal(t, 400, answer.Code)
}
