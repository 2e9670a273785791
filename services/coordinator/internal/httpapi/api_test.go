package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/httpapi"
)

// patience is how long any answer may take (reliability, section 4).
const patience = time.Minute

const (
	maxShards = 100
	base      = "/coord/v1"
	beat      = base + "/streams/orders/groups/billing/members/m-1/heartbeat"
	goodBeat  = `{"protocolVersion":1,"requestId":"r-1","memberId":"m-1","memberEpoch":0,"metadataVersion":0,` +
		`"runtimeConsumerCapacity":{"runtimeMaxConcurrency":1,"availableConcurrency":1}}`
	goodCreate = `{"requestedBy":"ops"}`
	goodCause  = `{"requestedBy":"ops","reason":"done"}`
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// api is a running server with a layer below that notes its calls.
type api struct {
	*layer

	gate    *httpx.Gate
	address string
}

// startAPI serves the API on a free port with the limits of production.
func startAPI(t *testing.T, change ...func(*httpapi.Config, *httpx.Limits)) *api {
	t.Helper()
	config, limits := httpapi.Config{MaxShards: maxShards}, httpx.Limits{}
	for _, apply := range change {
		apply(&config, &limits)
	}
	return serveAPI(t, config, limits, func(*httpapi.Deps) {})
}

// startAPIWith serves the API with other parts below.
func startAPIWith(t *testing.T, replace func(*httpapi.Deps)) *api {
	t.Helper()
	return serveAPI(t, httpapi.Config{MaxShards: maxShards}, httpx.Limits{}, replace)
}

func serveAPI(t *testing.T, config httpapi.Config, limits httpx.Limits, replace func(*httpapi.Deps)) *api {
	t.Helper()
	below, gate := newLayer(), httpx.NewGate()
	deps := below.deps()
	deps.Gate = gate
	replace(&deps)
	handler := httpapi.New(config, deps)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := httpx.NewServer(handler, nil, limits)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		assert.NoError(t, server.Shutdown(ctx))
		assert.NoError(t, <-served)
	})
	return &api{layer: below, gate: gate, address: listener.Addr().String()}
}

// said is an answer as it came.
type said struct {
	status int
	header http.Header
	body   []byte
}

// raw sends text as it is over a connection of its own and returns the answer.
func (a *api) raw(t *testing.T, text string) said {
	t.Helper()
	got, err := a.exchange(t.Context(), text)
	require.NoErrorf(t, err, "no answer within %s to %.100q", patience, text)
	return got
}

// call sends a request with a JSON body; an empty body sends none.
func (a *api) call(t *testing.T, method, target, body string, headers ...string) said {
	t.Helper()
	return a.raw(t, written(method, target, body, headers...))
}

func (a *api) exchange(ctx context.Context, text string) (said, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", a.address)
	if err != nil {
		return said{}, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return said{}, err
	}
	sent := make(chan struct{})
	go func() { // a refused request may be answered before all of it was taken
		defer close(sent)
		_, _ = io.WriteString(conn, text)
	}()
	method, _, _ := strings.Cut(text, " ")
	got, err := readAnswer(bufio.NewReader(conn), method)
	_ = conn.Close()
	<-sent
	return got, err
}

func readAnswer(reader *bufio.Reader, method string) (said, error) {
	answer, err := http.ReadResponse(reader, &http.Request{Method: method})
	if err != nil {
		return said{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusContinue { // the answer comes after it
		return readAnswer(reader, method)
	}
	body, err := io.ReadAll(answer.Body)
	return said{answer.StatusCode, answer.Header, body}, err
}

func written(method, target, body string, headers ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: coordinator\r\nConnection: close\r\n", method, target)
	if method != http.MethodGet {
		fmt.Fprintf(&text, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	for _, header := range headers {
		text.WriteString(header + "\r\n")
	}
	text.WriteString("\r\n" + body)
	return text.String()
}

// requireRefusal checks that an answer is a refusal in the contract's shape, tells
// nothing of the inside and repeats at most 64 bytes of input in a row.
func requireRefusal(t *testing.T, got said, status int, code protocol.Code, input string) {
	t.Helper()
	require.Equalf(t, status, got.status, "body: %.300s", got.body)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	fields := map[string]any{}
	require.NoError(t, json.Unmarshal(got.body, &fields), "%s", got.body)
	require.Equal(t, string(code), fields["errorCode"])
	require.Equal(t, httpx.StatusName(status), fields["status"])
	require.NotEmpty(t, fields["message"])
	require.NotEmpty(t, fields["requestId"])
	require.Equal(t, got.header.Get("X-Request-Id"), fields["requestId"])
	require.Equal(t, protocol.FaultOf(code).Retriable, fields["retriable"])
	require.NotContains(t, string(got.body), "goroutine")
	require.NotContains(t, string(got.body), ".go:")
	require.Less(t, len(got.body), 900, "a refusal is short")
	message, _ := fields["message"].(string)
	message = strings.ReplaceAll(message, `"`, "\x00") // the quotes around it are no echo
	for from := 0; from+protocol.MaxEcho < len(input); from++ {
		if part := input[from : from+protocol.MaxEcho+1]; strings.Contains(message, part) {
			require.Failf(t, "echoes too much", "%q", part)
		}
	}
}

// taker is an endpoint that reads a body, and a body that it takes.
type taker struct{ method, target, body string }

func takers() map[string]taker {
	all := mutations()
	all["heartbeat"] = taker{http.MethodPost, beat, goodBeat}
	return all
}

// mutations are the takers of requestedBy and reason.
func mutations() map[string]taker {
	return map[string]taker{
		"create stream": {http.MethodPost, orders, goodCreate},
		"create group":  {http.MethodPost, billing, goodCreate},
		"delete stream": {http.MethodDelete, orders, goodCause},
		"delete group":  {http.MethodDelete, billing, goodCause},
		"scale stream":  {http.MethodPost, orders + "/scale", with(goodCause, `"targetShardCount":3`)},
		"scale group":   {http.MethodPost, billing + "/scale", with(goodCause, `"targetShardCount":3`)},
		"rollback":      {http.MethodPost, resharding + "/rollback", goodCause},
		"confirm drain": {http.MethodPost, resharding + "/confirm-drain", with(goodCause, `"shardIndex":3`)},
		"barrier":       {http.MethodPost, billing + "/barrier", goodCause},
		"fence":         {http.MethodPost, billing + "/members/m-1/fence", goodCause},
		"repair index":  {http.MethodPost, base + "/admin/repair-index", goodCause},
	}
}

// with puts a member more into a JSON object, at its end.
func with(object, member string) string { return strings.TrimSuffix(object, "}") + "," + member + "}" }

// instead replaces the value of a top-level or nested member whose text is old.
func instead(t *testing.T, object, old, value string) string {
	t.Helper()
	require.Contains(t, object, old)
	return strings.Replace(object, old, value, 1)
}
