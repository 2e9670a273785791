package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/openapitest"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/httpapi"
)

// documented is an API of which every exchange is held against the document.
type documented struct {
	*api

	document *openapitest.Document
}

// startDocumented serves the API with the document's limits.
func startDocumented(t *testing.T, document *openapitest.Document) documented {
	t.Helper()
	limits := func(config *httpapi.Config, _ *httpx.Limits) { config.MaxShards = protocol.DefaultMaxShards }
	d := documented{api: startAPI(t, limits), document: document}
	bare(d.layer)
	known(d.layer)
	return d
}

// known gives a layer's answers the words that a bare one lacks and the API passes on.
func known(l *layer) {
	l.created.ShardCount = 1
	l.health.Status = protocol.HealthUp
	for i := range l.events.Events {
		l.events.Events[i].Cause = protocol.EventOther
	}
}

// call sends a request and checks it with its answer.
func (d documented) call(t *testing.T, method, target, body string, headers ...string) said {
	t.Helper()
	got := d.api.call(t, method, target, body, headers...)
	sent := http.Header{}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		sent.Add(name, value)
	}
	d.document.Check(t, openapitest.Exchange{
		Method: method, Path: target, RequestHeader: sent, Request: []byte(body), Status: got.status, Header: got.header, Body: got.body,
	})
	return got
}

// served are the operations of the document that a coordinator serves, with a target and a
// body that it takes for each.
func served(document *openapitest.Document) []openapitest.Operation {
	var all []openapitest.Operation
	for _, operation := range document.Operations() {
		if operation.Example == nil {
			continue
		}
		operation.Example.Path = strings.Replace(operation.Example.Path, "{reshardingId}", "r1", 1)
		all = append(all, operation)
	}
	return all
}

func TestEveryAnswerIsAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	document := openapitest.Load(t)
	for _, fill := range []func(*layer){full, bare} {
		d := startDocumented(t, document)
		fill(d.layer)
		known(d.layer)
		for _, operation := range served(document) {
			got := d.call(t, operation.Method, operation.Example.Path, string(operation.Body))
			require.Equalf(t, operation.Example.Status, got.status, "%s: %s", operation.ID, got.body)
		}
	}
}

func TestPlansAreAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	d := startDocumented(t, openapitest.Load(t))
	full(d.layer)
	plans := 0
	for _, operation := range served(d.document) {
		if operation.Method == http.MethodGet || strings.Contains(operation.Example.Path, "?") {
			continue
		}
		got := d.call(t, operation.Method, operation.Example.Path+"?dryRun=true", string(operation.Body))
		if strings.Contains(string(got.body), `"shardsAdded"`) {
			require.Equal(t, http.StatusOK, got.status)
			plans++
		}
	}
	require.Equal(t, 7, plans, "create, delete, scale and rollback")
}

func TestEveryRefusalFromBelowIsAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	d := startDocumented(t, openapitest.Load(t))
	everywhere := []protocol.Code{
		protocol.CodeInvalidRequest, protocol.CodeStoreUnavailable, protocol.CodeRedisNotConfigured, protocol.CodeMetadataMissing,
		protocol.CodeMetadataCorrupt, protocol.CodeProvisioningFailed, protocol.CodeStateMutexUnavailable, protocol.CodeTerminating,
	}
	asked := 0
	for _, operation := range served(d.document) {
		if !strings.Contains(operation.Path, "/streams") && operation.Method == http.MethodGet {
			continue // health, compatibility and the process itself have no such refusal
		}
		for _, code := range append(everywhere, operation.Codes...) {
			d.reject = protocol.Errorf(code, "refused")
			got := d.call(t, operation.Method, operation.Example.Path, string(operation.Body))
			require.Equalf(t, protocol.FaultOf(code).Status, got.status, "%s of %s", code, operation.ID)
			asked++
		}
		d.reject = errors.New("secret")
		require.Equal(t, http.StatusInternalServerError, d.call(t, operation.Method, operation.Example.Path, string(operation.Body)).status)
	}
	require.Greater(t, asked, 200)
}

func TestRefusalsOfTheAPIAreAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	d := startDocumented(t, openapitest.Load(t))
	for _, operation := range served(d.document) {
		path := operation.Example.Path
		if operation.Method != http.MethodGet {
			require.Equal(t, 400, d.call(t, operation.Method, path, "{").status)
			require.Equal(t, 413, d.call(t, operation.Method, path, strings.Repeat(" ", 256<<10+1)).status)
			require.Equal(t, 415, d.call(t, operation.Method, path, "{}", "Content-Encoding: gzip").status)
		}
		require.Equal(t, 405, d.call(t, http.MethodPut, path, "").status, operation.ID)
		at, _, _ := strings.Cut(path, "?")
		require.Equal(t, 404, d.call(t, operation.Method, at+"/none/none", "").status, operation.ID)
		if strings.Contains(path, "orders") {
			odd := strings.Replace(path, "orders", "%2e%2e", 1)
			require.Equal(t, 400, d.call(t, operation.Method, odd, string(operation.Body)).status)
			odd = strings.Replace(path, "orders", "-orders", 1)
			require.Equal(t, 400, d.call(t, operation.Method, odd, string(operation.Body)).status)
		}
		if strings.Contains(path, "/r1") {
			odd := strings.Replace(path, "/r1", "/r_1", 1)
			require.Equal(t, 404, d.call(t, operation.Method, odd, string(operation.Body)).status)
		}
	}
	d.notReady = errors.New("away")
	require.Equal(t, 503, d.call(t, http.MethodGet, "/readyz", "").status)
}

func TestAnUnchangedRoutingIsAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	d := startDocumented(t, openapitest.Load(t))
	tag := d.call(t, http.MethodGet, routing, "").header.Get("ETag")
	require.Equal(t, 304, d.call(t, http.MethodGet, routing, "", "If-None-Match: "+tag).status)
}

func TestRefusalsOfStrangersAreAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	document := openapitest.Load(t)
	g := newGateway(t, "one")
	d := documented{api: guardedAPI(t, g, true), document: document}
	bare(d.layer)
	known(d.layer)
	for _, operation := range served(document) {
		path, body := operation.Example.Path, string(operation.Body)
		guarded := operation.Method != http.MethodGet || path == routing
		if !guarded {
			continue
		}
		require.Equal(t, 401, d.call(t, operation.Method, path, body).status, operation.ID)
		require.Equal(t, 403, d.call(t, operation.Method, path, body, g.upstream(0)).status, operation.ID)
		roles := auth.RolesOf(operation.Roles)
		require.Equal(t, operation.Example.Status, d.call(t, operation.Method, path, body, g.upstream(roles)).status, operation.ID)
		for _, role := range []auth.Roles{auth.Read, auth.Write, auth.Member} {
			if !auth.RolesOf(role.Names()).Any(roles) { // WRITE is READ too
				require.Equal(t, 403, d.call(t, operation.Method, path, body, g.upstream(role)).status, operation.ID)
			}
		}
	}
}

func TestATerminatingCoordinatorAnswersAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	d := startDocumented(t, openapitest.Load(t))
	d.before = func(context.Context) error { return errors.New("nothing goes below") }
	require.NoError(t, d.gate.Close(t.Context()))
	for _, operation := range served(d.document) {
		got := d.call(t, operation.Method, operation.Example.Path, string(operation.Body))
		require.Contains(t, []int{200, 503}, got.status, operation.ID)
	}
}
