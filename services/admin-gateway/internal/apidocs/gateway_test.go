package apidocs_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/openapitest"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
)

const (
	base     = "/coord/v1"
	password = "correct horse battery staple"
	change   = `{"requestedBy":"ops"}`
)

// gateway is a whole one, without a coordinator behind it, of which every exchange is held
// against the document.
type gateway struct {
	t        *testing.T
	handler  http.Handler
	document *openapitest.Document
}

func startGateway(t *testing.T) *gateway {
	t.Helper()
	redis := redisproc.Start(t)
	cfg := app.DefaultConfig()
	cfg.API.Dev = true
	cfg.API.AuthenticateMemberAPI = true
	cfg.API.RateLimit = app.RateLimit{Enabled: true, Window: 365 * 24 * time.Hour, MaxRequests: 4, Store: app.StoreRedis}
	cfg.API.Users = []app.User{
		{Username: "ops", Password: password, Roles: []string{"WRITE"}},
		{Username: "member", Password: password, Roles: []string{"MEMBER"}},
	}
	cfg.Audit.Sink = app.SinkRedis
	cfg.Redis.URL = config.Secret(redis.URL())
	cfg.Gateway.Coordinators = []string{"http://127.0.0.1:1"}
	whole, err := app.New(t.Context(), cfg, app.Deps{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, whole.Close(context.WithoutCancel(t.Context()))) })
	return &gateway{t: t, handler: whole.Handler(), document: openapitest.Load(t)}
}

// ask sends a request, checks the exchange and its status, and returns the answer.
func (g *gateway) ask(status int, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	g.t.Helper()
	request := httptest.NewRequestWithContext(g.t.Context(), method, target, strings.NewReader(body))
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	g.handler.ServeHTTP(answer, request)
	g.document.Check(g.t, openapitest.Exchange{
		Method: method, Path: target, RequestHeader: request.Header, Request: []byte(body),
		Status: answer.Code, Header: answer.Header(), Body: answer.Body.Bytes(),
	})
	require.Equalf(g.t, status, answer.Code, "%s %s: %s", method, target, answer.Body)
	return answer
}

// login returns the Authorization header of a user's token.
func (g *gateway) login(user string) string {
	g.t.Helper()
	answer := g.ask(200, "POST", base+"/auth/login", `{"username":"`+user+`","password":"`+password+`"}`)
	var login protocol.LoginResponse
	require.NoError(g.t, json.Unmarshal(answer.Body.Bytes(), &login))
	return "Bearer " + login.AccessToken
}

func basic(user string) string {
	request := &http.Request{Header: http.Header{}}
	request.SetBasicAuth(user, password)
	return request.Header.Get("Authorization")
}

func TestWhatTheGatewayAnswersItselfIsAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	g := startGateway(t)
	const login = base + "/auth/login"
	g.ask(401, "POST", login, `{"username":"ops","password":"wrong"}`)
	g.ask(400, "POST", login, `{"username":"ops"}`)
	g.ask(400, "POST", login, `{"username":"","password":"x"}`)
	g.ask(400, "POST", login, "")
	g.ask(415, "POST", login, `{}`, "Content-Type", "text/plain")
	g.ask(413, "POST", login, strings.Repeat(" ", 17<<10))

	ops := g.login("ops")
	g.ask(200, "GET", base+"/monitoring/session", "")
	g.ask(200, "GET", base+"/monitoring/session", "", "Authorization", ops)
	g.ask(200, "GET", base+"/monitoring/session", "", "Authorization", basic("ops"))
	g.ask(401, "GET", base+"/monitoring/session", "", "Authorization", "Bearer x")
	g.ask(200, "GET", base+"/system", "", "Authorization", ops)
	g.ask(401, "POST", base+"/auth/logout", "")
	g.ask(400, "POST", base+"/auth/logout", "", "Authorization", basic("ops"))
	g.ask(200, "POST", base+"/auth/logout", "", "Authorization", ops)
	g.ask(401, "POST", base+"/auth/logout", "", "Authorization", ops)

	for _, target := range []string{"/healthz", "/readyz", "/version", "/.well-known/jwks.json"} {
		g.ask(200, "GET", target, "")
		g.ask(400, "GET", target, "{}")
		g.ask(405, "POST", target, "{}")
	}
	tag := g.ask(200, "GET", "/openapi.json", "").Header().Get("ETag")
	g.ask(304, "GET", "/openapi.json", "", "If-None-Match", tag)
	g.ask(404, "GET", base+"/nothing", "")
	g.ask(400, "GET", base+"/streams/..%2f", "")
}

func TestRefusalsOfTheGatewaysStagesAreAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	g := startGateway(t)
	ops, member := g.login("ops"), g.login("member")
	for _, operation := range g.document.Operations() {
		if len(operation.Roles) == 0 || operation.ID == "logoutCoordinatorApi" {
			continue
		}
		path := strings.NewReplacer(
			"{streamPrefix}", operation.ID, "{consumerGroup}", "billing", "{memberId}", "billing-1", "{reshardingId}", "r1", "{shardIndex}", "0",
		).Replace(operation.Path)
		body := string(operation.Body)
		g.ask(401, operation.Method, path, body)
		g.ask(401, operation.Method, path, body, "Authorization", "Bearer x")
		stranger, known := member, ops
		if operation.Roles[0] == "MEMBER" {
			stranger, known = ops, member
		}
		if len(operation.Roles) == 1 {
			g.ask(403, operation.Method, path, body, "Authorization", stranger)
		}
		if operation.ID != "listAuditRecords" && operation.ID != "getSystem" {
			g.ask(503, operation.Method, path, body, "Authorization", known)
		}
		if body != "" {
			g.ask(415, operation.Method, path, body, "Authorization", known, "Content-Encoding", "gzip")
			g.ask(413, operation.Method, path, strings.Repeat(" ", 256<<10+1), "Authorization", known)
		}
	}
	const beat = base + "/streams/orders/groups/billing/members/billing-1/heartbeat"
	legacy := `{"protocolVersion":1,"requestId":"r","memberId":"billing-1","memberEpoch":3,"metadataVersion":2,` +
		`"runtimeConsumerCapacity":{"runtimeMaxConcurrency":1,"availableConcurrency":1}}`
	require.Contains(t, g.ask(200, "POST", beat, legacy, "Authorization", member).Body.String(), `"RETRY"`)

	const limited = base + "/streams/limited"
	g.ask(400, "POST", limited, change, "Authorization", ops, "Idempotency-Key", "\u00e4")
	for range 3 {
		g.ask(503, "POST", limited, change, "Authorization", ops)
	}
	refused := g.ask(429, "POST", limited, change, "Authorization", ops)
	require.NotEmpty(t, refused.Header().Get("RateLimit-Limit"))
}
