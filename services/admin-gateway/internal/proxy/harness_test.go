package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/freeport"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/limits"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

const (
	base  = protocol.BasePath
	group = base + "/streams/orders/groups/billing"
	beat  = group + "/members/m-1/heartbeat"
	scale = base + "/streams/orders/scale"

	newBeat = `{"protocolVersion":1,"requestId":"q-1","memberId":"m-1","memberEpoch":7,"metadataVersion":3,` +
		`"runtimeConsumerCapacity":{"runtimeMaxConcurrency":1,"availableConcurrency":1},"ownedShards":[{"shardIndex":1}],"revokingShards":[],"shardProgress":[],` +
		`"incarnation":"01JDXQ5T7Z4M3K2N1P0R9S8T7V","sequence":9}`
	patience = time.Minute
)

func oldBeat() string {
	return strings.Replace(newBeat, `"incarnation":"01JDXQ5T7Z4M3K2N1P0R9S8T7V",`, "", 1)
}

// got is a request as an upstream has seen it.
type got struct {
	method, target, host, body string
	header                     http.Header
	length                     int64
}

// upstream is a service behind the gateway that notes what reaches it.
type upstream struct {
	*httptest.Server

	mu   sync.Mutex
	seen []got
}

// startUpstream answers with answer, or with {} where that is nil.
func startUpstream(t *testing.T, answer http.HandlerFunc) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		u.mu.Lock()
		u.seen = append(u.seen, got{r.Method, r.RequestURI, r.Host, string(body), r.Header.Clone(), r.ContentLength})
		u.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) requests() []got {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]got(nil), u.seen...)
}

// count returns how many requests have come.
func (u *upstream) count() int { return len(u.requests()) }

func (u *upstream) address() string { return strings.TrimPrefix(u.URL, "http://") }

// refuseWith answers as the suite's services refuse.
func refuseWith(code protocol.Code) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		httpx.NewAnswers(nil).Error(w, r, protocol.Errorf(code, "said by the service"))
	}
}

// gateway is a proxy with what stands before it in the pipeline, on a port.
type gateway struct {
	proxy   *proxy.Proxy
	keys    *auth.Keyring
	address string
	client  *http.Client

	mu   sync.Mutex
	last exchange.Exchange
}

type setup struct {
	proxy.Config

	principal auth.Principal
	formToken string
	client    netip.Addr
	now       func() time.Time
	limits    httpx.Limits
	cap       int                             // of connections, of one address and all; 0 is none
	wrap      func(http.Handler) http.Handler // between legacy and proxy
}

func coordinators(urls ...string) map[route.Service][]string {
	return upstreams(route.Coordinator, urls...)
}

func upstreams(of route.Service, urls ...string) map[route.Service][]string {
	all := make(map[route.Service][]string)
	all[of] = urls
	return all
}

func startGateway(t *testing.T, s setup) *gateway {
	t.Helper()
	key, err := auth.KeyFromSecret("a secret of tests that is long enough")
	require.NoError(t, err)
	g := &gateway{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	g.keys, err = auth.NewKeyring(key)
	require.NoError(t, err)
	if s.now == nil {
		s.now = clock.Now
	}
	answers := httpx.NewAnswers(nil)
	g.proxy, err = proxy.New(s.Config, proxy.Deps{Ring: g.keys, Now: s.now, Answers: answers})
	require.NoError(t, err)
	inner := http.Handler(g.proxy)
	if s.wrap != nil {
		inner = s.wrap(inner)
	}
	handler := httpx.Identify(answers.Recover(g.entry(answers, s, limits.NewBody(answers).Stage(g.proxy.Legacy(inner)))))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g.address = listener.Addr().String()
	if s.cap > 0 {
		listener = limits.Listener(listener, s.cap, s.cap)
	}
	server := httpx.NewServer(handler, nil, s.limits)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		g.client.CloseIdleConnections()
		ended, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		assert.NoError(t, server.Shutdown(ended))
		assert.NoError(t, <-served)
		g.proxy.Close()
	})
	return g
}

// entry makes the exchange, as the pipeline does.
func (g *gateway) entry(answers httpx.Answers, s setup, next http.Handler) http.Handler {
	table := route.New(route.Config{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, err := table.Match(r.Method, r.URL.EscapedPath(), r.URL.RawQuery)
		if err != nil {
			answers.Error(w, r, err)
			return
		}
		e := &exchange.Exchange{Route: found, Principal: s.principal, FormToken: s.formToken, Client: exchange.Client{Address: s.client}}
		defer func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.last = *e
		}()
		next.ServeHTTP(w, r.WithContext(exchange.With(r.Context(), e)))
	})
}

// exchange returns that of the request which ended last.
func (g *gateway) exchange() exchange.Exchange {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}

// said is an answer as a caller gets it.
type said struct {
	status int
	header http.Header
	body   string
}

func (g *gateway) call(t *testing.T, method, target, body string, head ...string) said {
	t.Helper()
	answer, err := g.ask(t.Context(), method, target, body, head...)
	require.NoError(t, err)
	return answer
}

func (g *gateway) ask(ctx context.Context, method, target, body string, head ...string) (said, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+g.address+target, strings.NewReader(body))
	if err != nil {
		return said{}, err
	}
	for _, line := range head {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	if body != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := g.client.Do(r)
	if err != nil {
		return said{}, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return said{answer.StatusCode, answer.Header, string(text)}, err
}

// dial returns a connection that is open until the end of the test at most.
func (g *gateway) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", g.address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// raw sends text as it is, and after it a last request by which the end is known. It returns
// the answers to all before the last one.
func (g *gateway) raw(t *testing.T, text string) []said {
	t.Helper()
	conn := g.dial(t)
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	_, err := io.WriteString(conn, text+"GET /last HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nX-Request-Id: the-last\r\n\r\n")
	require.NoError(t, err)
	var all []said
	for from := bufio.NewReader(conn); ; {
		answer, err := http.ReadResponse(from, nil)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || isReset(err) {
			return all
		}
		require.NoError(t, err)
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.Header.Get("X-Request-Id") != "the-last" {
			all = append(all, said{answer.StatusCode, answer.Header, string(body)})
		}
	}
}

func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op)
}

func requireRefusal(t *testing.T, code protocol.Code, answer said) protocol.ErrorResponse {
	t.Helper()
	var refusal protocol.ErrorResponse
	require.NoError(t, json.Unmarshal([]byte(answer.body), &refusal), answer.body)
	require.Equal(t, code, refusal.ErrorCode, answer.body)
	require.Equal(t, protocol.FaultOf(code).Status, answer.status)
	require.Equal(t, answer.header.Get("X-Request-Id"), refusal.RequestID)
	return refusal
}

func (g *gateway) claims(t *testing.T, request got, audience string) auth.Claims {
	t.Helper()
	token, ok := strings.CutPrefix(request.header.Get("Authorization"), "Bearer ")
	require.True(t, ok)
	claims, err := auth.NewVerifier(g.keys, clock.Now, audience).Verify(t.Context(), token)
	require.NoError(t, err)
	return claims
}

// free returns an address where nobody listens, as long as the test runs.
func free(t *testing.T) string {
	t.Helper()
	return "http://" + net.JoinHostPort("127.0.0.1", freeport.Take(t))
}

func request(line, body string, head ...string) string {
	return line + "\r\n" + strings.Join(append(head, "", ""), "\r\n") + body
}

func lengthOf(body string) string { return fmt.Sprintf("Content-Length: %d", len(body)) }
