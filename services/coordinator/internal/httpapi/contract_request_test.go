package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/openapitest"
)

// TestTheDocumentAllowsWhatTheAPITakes, neither more nor less: each field of each example
// request is left out and replaced by values of every kind, at the bounds too.
func TestTheDocumentAllowsWhatTheAPITakes(t *testing.T) {
	t.Parallel()
	d := startDocumented(t, openapitest.Load(t))
	asked := 0
	for _, operation := range served(d.document) {
		if operation.Body == nil {
			continue
		}
		for _, body := range spoilt(t, operation.Body) {
			e := openapitest.Exchange{Method: operation.Method, Path: operation.Example.Path, Request: []byte(body)}
			allowed := d.document.ValidateRequest(t.Context(), e)
			got := d.call(t, operation.Method, operation.Example.Path, body)
			if betweenFields(fieldOf(t, got, "message")) {
				continue
			}
			taken := got.status < http.StatusBadRequest
			assert.Equalf(t, allowed == nil, taken, "%s of %s\ndocument: %v\nAPI: %s", body, operation.ID, allowed, got.body)
			asked++
		}
	}
	require.Greater(t, asked, 700)
}

// betweenFields tells the refusals for how fields of a request go together, which the
// document says in words.
func betweenFields(message string) bool {
	return strings.Contains(message, "is not the one of the path") || strings.Contains(message, "sequence must be at least 1")
}

// values are what fields are replaced by.
func values() []string {
	long := func(length int) string { return `"` + strings.Repeat("x", length) + `"` }
	return []string{
		"null", "true", `""`, `" "`, `"\t"`, `"x"`, `"a:b"`, `"-x"`, `"1-1"`, `"earliest"`, `"REVOKED"`, long(64), long(65), long(128), long(129),
		long(200), long(201), long(250), long(251), long(256), long(257), long(1024), long(1025),
		"-3", "-2", "-1", "0", "1", "1.5", "10000", "10001", "2147483647", "2147483648", "9223372036854775807",
		"[]", "[null]", "[1]", `["x"]`, `["x","x"]`, `["x:y"]`, "{}", `[{}]`, `[{"shardIndex":0}]`, `[{"shardIndex":-1}]`,
		`[{"shardIndex":0},{"shardIndex":0}]`, `[{"shardIndex":0,"x":1}]`, `[{"shard":{"shardIndex":0},"state":"REVOKED"}]`,
		`[{"shard":{"shardIndex":0},"state":"GONE"}]`, `[{"shard":{"shardIndex":0},"state":"DRAINING","inFlight":-1}]`,
		`[{"shard":{"shardIndex":0},"streamKey":"orders:0"}]`, `[{"shard":{"shardIndex":0},"streamKey":"k","error":"ODD"}]`,
		`[{"shard":{"shardIndex":0},"streamKey":"k","lastAckedId":"x"}]`, `[{"shard":{"shardIndex":0},"streamKey":"k","updatedAt":"noon"}]`,
		`[{"shard":{"shardIndex":0},"streamKey":"k","lastAckedId":"1-1","pendingCount":0,"updatedAt":"2026-01-01T00:00:00+01:00"}]`,
		`{"runtimeMaxConcurrency":1,"availableConcurrency":0}`, `{"runtimeMaxConcurrency":0,"availableConcurrency":0}`,
		`{"runtimeMaxConcurrency":1,"availableConcurrency":-1}`, `{"runtimeMaxConcurrency":1}`,
	}
}

// spoilt returns the body without each of its fields, and with each of values in the place
// of each.
func spoilt(t *testing.T, body []byte) []string {
	t.Helper()
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(body, &fields))
	var all []string
	for name, right := range fields {
		delete(fields, name)
		all = append(all, encodedFields(t, fields))
		for _, value := range values() {
			fields[name] = json.RawMessage(value)
			all = append(all, encodedFields(t, fields))
		}
		fields[name] = right
	}
	return all
}

func encodedFields(t *testing.T, fields map[string]json.RawMessage) string {
	t.Helper()
	data, err := json.Marshal(fields)
	require.NoError(t, err)
	return string(data)
}

// TestTheDocumentAllowsTheNamesThatTheAPITakes: the rules of names are patterns there and
// code here.
func TestTheDocumentAllowsTheNamesThatTheAPITakes(t *testing.T) {
	t.Parallel()
	d := startDocumented(t, openapitest.Load(t))
	names := []string{
		"a", "0", "orders", "a:b", "a:", ":a", "a::b", "-a", "_a", "a-", "a_", "a.b", "a@b", "a+b", "a b", "a/b", "a%b", "a{b}", "ä", "a\n", "..", "A9",
		strings.Repeat("x", 200), strings.Repeat("x", 201), strings.Repeat("x", 250), strings.Repeat("x", 251),
	}
	for _, name := range names {
		for _, pattern := range []string{
			base + "/streams/%s", base + "/streams/orders/groups/%s", base + "/streams/orders/groups/billing/members/%s/fence",
		} {
			method, body := http.MethodGet, ""
			if strings.HasSuffix(pattern, "/fence") {
				method, body = http.MethodPost, goodCause
			}
			target := fmt.Sprintf(pattern, url.PathEscape(name))
			allowed := d.document.ValidateRequest(t.Context(), openapitest.Exchange{Method: method, Path: target, Request: []byte(body)})
			got := d.call(t, method, target, body)
			assert.Equalf(t, allowed == nil, got.status < http.StatusBadRequest, "%q in %s: %v, %s", name, pattern, allowed, got.body)
		}
	}
	for _, query := range []string{
		"?dryRun=true", "?dryRun=false", "?dryRun=", "?dryRun=yes", "?other=1",
	} {
		target := orders + query
		allowed := d.document.ValidateRequest(t.Context(), openapitest.Exchange{Method: http.MethodPost, Path: target, Request: []byte(goodCreate)})
		got := d.call(t, http.MethodPost, target, goodCreate)
		assert.Equalf(t, allowed == nil, got.status < http.StatusBadRequest, "%s: %v, %s", query, allowed, got.body)
	}
	for _, query := range []string{
		"?limit=0", "?limit=1", "?limit=1000", "?limit=1001", "?limit=x", "?limit=", "?limit=1.5", "?after=1-1", "?after=1", "?after=", "?after=x-1",
		"?after=" + strings.Repeat("9", 21) + "-1",
	} {
		target := billing + "/events" + query
		allowed := d.document.ValidateRequest(t.Context(), openapitest.Exchange{Method: http.MethodGet, Path: target})
		got := d.call(t, http.MethodGet, target, "")
		assert.Equalf(t, allowed == nil, got.status < http.StatusBadRequest, "%s: %v, %s", query, allowed, got.body)
	}
}
