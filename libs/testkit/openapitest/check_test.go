package openapitest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/openapitest"
)

const (
	streams = "/coord/v1/streams"
	plan    = `{"action":"DELETE","streamPrefix":"orders","fromShardCount":1,"toShardCount":0,"shardsAdded":[],"shardsRemoved":[0],` +
		`"groups":[],"refusal":null,"warnings":[]}`
	created = `{"streamPrefix":"orders","shardCount":4,"metadataVersion":1,"consumerGroups":["billing"]}`
	missing = `{"status":"NOT_FOUND","errorCode":"STREAM_NOT_FOUND","message":"no","requestId":"r1","retriable":false}`
	away    = `{"status":"SERVICE_UNAVAILABLE","errorCode":"STORE_UNAVAILABLE","message":"no","requestId":"r1","retriable":true}`
)

// answered is an exchange as it should be, which each case spoils in its own way.
func answered(method, path, request string, status int, body string) openapitest.Exchange {
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("X-Request-Id", "r1")
	return openapitest.Exchange{Method: method, Path: path, Request: []byte(request), Status: status, Header: header, Body: []byte(body)}
}

func TestWhatIsAsDocumentedPasses(t *testing.T) {
	t.Parallel()
	document := openapitest.Load(t)
	routing := answered("GET", streams+"/orders/groups/g/producer-routing", "", http.StatusNotModified, "")
	routing.Header.Set("ETag", `"x"`)
	later := answered("GET", streams, "", http.StatusServiceUnavailable, away)
	later.Header.Set("Retry-After", "1")
	for _, e := range []openapitest.Exchange{
		answered("GET", streams, "", http.StatusOK, `{"streams":[]}`),
		answered("POST", streams+"/orders", `{"requestedBy":"ops"}`, http.StatusCreated, created),
		answered("POST", streams+"/a%3Ab?dryRun=true", `{"requestedBy":"ops","later":1}`, http.StatusOK, plan),
		answered("DELETE", streams+"/orders?dryRun=true", `{"requestedBy":"ops","reason":"r"}`, http.StatusOK, plan),
		answered("GET", streams+"/orders", "", http.StatusNotFound, missing),
		answered("GET", streams+"/"+strings.Repeat("x", 300), "", http.StatusNotFound, missing),
		answered("GET", "/nothing", "", http.StatusNotFound, strings.Replace(missing, "STREAM_", "", 1)),
		answered("GET", "/healthz", "", http.StatusOK, `{"status":"UP"}`),
		routing, later,
	} {
		require.NoErrorf(t, document.Validate(t.Context(), e), "%s %s", e.Method, e.Path)
	}
}

func TestEveryDeviationIsFound(t *testing.T) {
	t.Parallel()
	document := openapitest.Load(t)
	create := func(request string, status int, body string) openapitest.Exchange {
		return answered("POST", streams+"/orders", request, status, body)
	}
	refused := func(body string) openapitest.Exchange {
		return answered("GET", streams+"/orders", "", http.StatusNotFound, body)
	}
	const good = `{"requestedBy":"ops"}`
	for want, e := range map[string]openapitest.Exchange{
		`"secret" is unsupported`:      create(good, http.StatusCreated, with(created, `"secret":1`)),
		`"metadataVersion" is missing`: create(good, http.StatusCreated, `{"streamPrefix":"orders","shardCount":4,"consumerGroups":[]}`),
		"value must be an integer":     create(good, http.StatusCreated, strings.Replace(created, "4", `"4"`, 1)),
		"not nullable":                 create(good, http.StatusCreated, strings.Replace(created, `["billing"]`, "null", 1)),
		"status is not supported":      create(good, http.StatusAccepted, created),
		"not one JSON text":            create(good, http.StatusCreated, created+"x"),
		"StreamOrPlan":                 answered("DELETE", streams+"/orders", good, http.StatusOK, with(plan, `"x":1`)),
		"request that the document":    create(`{}`, http.StatusCreated, created),
		`parameter "streamPrefix"`:     answered("POST", streams+"/-orders", good, http.StatusCreated, created),
		`parameter "dryRun"`:           answered("POST", streams+"/orders?dryRun=yes", good, http.StatusCreated, created),
		"not allowed for this request": answered("GET", streams, "{}", http.StatusOK, `{"streams":[]}`),
		"MIGRATION_NOT_FOUND is not":   refused(strings.Replace(missing, "STREAM_NOT", "MIGRATION_NOT", 1)),
		"comes with status 409":        refused(strings.Replace(missing, "STREAM_NOT_FOUND", "GROUP_ALREADY_EXISTS", 1)),
		"retriable of":                 refused(strings.Replace(missing, "false", "true", 1)),
		"the name of the status":       refused(strings.Replace(missing, `"NOT_FOUND"`, `"Not Found"`, 1)),
		"not that of the header":       refused(strings.Replace(missing, "r1", "r2", 1)),
		`"stack" is unsupported`:       refused(with(missing, `"stack":"x"`)),
		`"Retry-After" missing`:        answered("GET", streams, "", http.StatusServiceUnavailable, away),
		"the header ETag is missing":   answered("GET", streams+"/o/groups/g/producer-routing", "", http.StatusNotModified, ""),
		"a 304 has no body":            answered("GET", streams+"/o/groups/g/producer-routing", "", http.StatusNotModified, "{}"),
		"the status is not listed":     answered("GET", streams, "", http.StatusNotModified, ""),
		"has no such operation":        answered("GET", "/nothing", "", http.StatusOK, `{}`),
		"check the refusal":            answered("GET", "/nothing", "", http.StatusNotFound, `{}`),
	} {
		require.ErrorContains(t, document.Validate(t.Context(), e), want, want)
	}
	bare := answered("GET", streams, "", http.StatusOK, `{"streams":[]}`)
	bare.Header.Del("X-Request-Id")
	require.ErrorContains(t, document.Validate(t.Context(), bare), `"X-Request-Id" missing`)
	plain := answered("GET", streams, "", http.StatusOK, `{"streams":[]}`)
	plain.Header.Set("Content-Type", "text/plain")
	require.ErrorContains(t, document.Validate(t.Context(), plain), "Content-Type")
}

// TestFieldsDeepInsideAreLookedAt: strictness reaches through lists, maps, nullable parts
// and shared schemas.
func TestFieldsDeepInsideAreLookedAt(t *testing.T) {
	t.Parallel()
	document := openapitest.Load(t)
	spec := document.Spec()
	group, err := json.Marshal(spec.Components.Examples["Group"].Value.Value)
	require.NoError(t, err)
	migration, err := json.Marshal(spec.Components.Examples["Migration"].Value.Value)
	require.NoError(t, err)
	whole := strings.Replace(string(group), `"activeMigration":null`, `"activeMigration":`+string(migration), 1)
	path := streams + "/orders/groups/billing"
	require.NoError(t, document.Validate(t.Context(), answered("GET", path, "", http.StatusOK, whole)))
	for _, at := range []string{`"memberId":`, `"copied":`, `"phase":`, `"drainingFrom":`, `"toShardCount":`} {
		spoilt := strings.Replace(whole, at, `"odd":1,`+at, 1)
		require.NotEqual(t, whole, spoilt)
		require.ErrorContains(t, document.Validate(t.Context(), answered("GET", path, "", http.StatusOK, spoilt)), `"odd" is unsupported`, at)
	}
	early := strings.Replace(whole, "2026-03-02T09:10:00.000Z", "2026-03-02T09:10:00Z", 1)
	require.Error(t, document.Validate(t.Context(), answered("GET", path, "", http.StatusOK, early)), "times have milliseconds")
}

// TestADocumentServesParallelTests: it says that it is safe for concurrent use.
func TestADocumentServesParallelTests(t *testing.T) {
	t.Parallel()
	document := openapitest.Load(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				good := answered("POST", streams+"/orders", `{"requestedBy":"ops"}`, http.StatusCreated, created)
				assert.NoError(t, document.Validate(t.Context(), good))
				bad := answered("GET", streams+"/orders", "", http.StatusNotFound, with(missing, `"x":1`))
				assert.Error(t, document.Validate(t.Context(), bad))
			}
		})
	}
	group.Wait()
}

func with(object, member string) string { return strings.TrimSuffix(object, "}") + "," + member + "}" }
