package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/httpapi"
)

// request writes a request by hand; a line of head is without its end.
func request(line, body string, head ...string) string {
	return line + "\r\n" + strings.Join(append(head, "", ""), "\r\n") + body
}

func chunked(parts ...string) string {
	var out strings.Builder
	for _, part := range parts {
		fmt.Fprintf(&out, "%x\r\n%s\r\n", len(part), part)
	}
	return out.String() + "0\r\n\r\n"
}

const (
	postBeat = "POST " + beat + " HTTP/1.1"
	host     = "Host: coordinator"
	isJSON   = "Content-Type: application/json"
	chunks   = "Transfer-Encoding: chunked"
)

// Reliability section 4, HTTP: what the API refuses, in its own words.
func TestBodiesThatHTTPFramesBadlyAreRefused(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, err := zip.Write([]byte(goodBeat))
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	length := fmt.Sprintf("Content-Length: %d", len(goodBeat))
	zipLength := fmt.Sprintf("Content-Length: %d", zipped.Len())
	tests := map[string]struct {
		text string
		code protocol.Code
	}{
		"no Content-Length":       {request(postBeat, "", host, isJSON), protocol.CodeInvalidRequest},
		"empty and chunked":       {request(postBeat, chunked(), host, isJSON, chunks), protocol.CodeInvalidRequest},
		"chunk size no number":    {request(postBeat, "zz\r\n"+goodBeat, host, isJSON, chunks), protocol.CodeInvalidRequest},
		"chunk size negative":     {request(postBeat, "-5\r\n"+goodBeat, host, isJSON, chunks), protocol.CodeInvalidRequest},
		"chunk size over 2^64":    {request(postBeat, "fffffffffffffffff\r\n"+goodBeat, host, isJSON, chunks), protocol.CodeInvalidRequest},
		"chunk longer than said":  {request(postBeat, "1\r\n"+goodBeat+"\r\n0\r\n\r\n", host, isJSON, chunks), protocol.CodeInvalidRequest},
		"chunks over the limit":   {request(postBeat, chunked(goodBeat, strings.Repeat(" ", 256<<10)), host, isJSON, chunks), protocol.CodePayloadTooLarge},
		"length of 2^62":          {request(postBeat, "", host, isJSON, "Content-Length: 4611686018427387904"), protocol.CodePayloadTooLarge},
		"no Content-Type":         {request(postBeat, goodBeat, host, length), protocol.CodeUnsupportedMediaType},
		"Content-Type of a form":  {request(postBeat, goodBeat, host, length, "Content-Type: application/x-www-form-urlencoded"), protocol.CodeUnsupportedMediaType},
		"two Content-Types":       {request(postBeat, goodBeat, host, length, isJSON, "Content-Type: text/plain"), protocol.CodeUnsupportedMediaType},
		"Content-Type of 5 kB":    {request(postBeat, goodBeat, host, length, "Content-Type: "+strings.Repeat("x", 5000)), protocol.CodeUnsupportedMediaType},
		"charset UTF-16":          {request(postBeat, goodBeat, host, length, isJSON+"; charset=utf-16"), protocol.CodeUnsupportedMediaType},
		"gzip body":               {request(postBeat, zipped.String(), host, zipLength, isJSON, "Content-Encoding: gzip"), protocol.CodeUnsupportedMediaType},
		"gzip body without word":  {request(postBeat, zipped.String(), host, zipLength, isJSON), protocol.CodeInvalidRequest},
		"body in HEAD's clothes":  {request("HEAD "+beat+" HTTP/1.1", "", host), protocol.CodeMethodNotAllowed},
		"OPTIONS":                 {request("OPTIONS "+beat+" HTTP/1.1", "", host), protocol.CodeMethodNotAllowed},
		"TRACE":                   {request("TRACE "+beat+" HTTP/1.1", "", host), protocol.CodeMethodNotAllowed},
		"a method nobody knows":   {request("BREW "+beat+" HTTP/1.1", "", host), protocol.CodeMethodNotAllowed},
		"method in other case":    {request("post "+beat+" HTTP/1.1", "", host), protocol.CodeMethodNotAllowed},
		"OPTIONS for the server":  {request("OPTIONS * HTTP/1.1", "", host), protocol.CodeNotFound},
		"CONNECT":                 {request("CONNECT other.example:443 HTTP/1.1", "", "Host: other.example:443"), protocol.CodeInvalidRequest},
		"CONNECT to a path":       {request("CONNECT "+beat+" HTTP/1.1", "", host), protocol.CodeMethodNotAllowed},
		"method override refused": {request("GET "+beat+" HTTP/1.1", "", host, "X-HTTP-Method-Override: POST"), protocol.CodeMethodNotAllowed},
	}
	a := startAPI(t)
	t.Cleanup(func() { assert.Empty(t, a.seen(), "nothing may reach the layer below") })
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := a.raw(t, test.text)
			if strings.HasPrefix(test.text, "HEAD") {
				require.Equal(t, 405, got.status)
				require.Empty(t, got.body)
				return
			}
			requireRefusal(t, got, protocol.FaultOf(test.code).Status, test.code, test.text)
		})
	}
}

// Reliability section 4, HTTP: what net/http refuses before the API sees it.
func TestRequestsThatHTTPForbidsAreRefused(t *testing.T) {
	t.Parallel()
	body := "{}"
	tests := map[string]struct {
		text   string
		status int
	}{
		"two lengths":          {request(postBeat, goodBeat, host, isJSON, "Content-Length: 5", "Content-Length: 6"), 400},
		"two lengths in one":   {request(postBeat, goodBeat, host, isJSON, "Content-Length: 5, 6"), 400},
		"length negative":      {request(postBeat, body, host, isJSON, "Content-Length: -1"), 400},
		"length signed":        {request(postBeat, body, host, isJSON, "Content-Length: +2"), 400},
		"length as text":       {request(postBeat, body, host, isJSON, "Content-Length: two"), 400},
		"length of 2^64":       {request(postBeat, body, host, isJSON, "Content-Length: 18446744073709551616"), 400},
		"no Host":              {request("GET /healthz HTTP/1.1", ""), 400},
		"two Hosts":            {request("GET /healthz HTTP/1.1", "", host, "Host: other"), 400},
		"Host with a blank":    {request("GET /healthz HTTP/1.1", "", "Host: a b"), 400},
		"NUL in a header":      {request("GET /healthz HTTP/1.1", "", host, "X: a\x00b"), 400},
		"blank before a colon": {request("GET /healthz HTTP/1.1", "", host, "X : a"), 400},
		"no request line":      {"\x16\x03\x01\x02\x00\r\n\r\n", 400},
		"blank in the path":    {request("GET /healthz extra HTTP/1.1", "", host), 400},
		"header of 1 MB":       {request("GET /healthz HTTP/1.1", "", host, "X: "+strings.Repeat("x", 1<<20)), 431},
		"10,000 headers":       {request("GET /healthz HTTP/1.1", "", append([]string{host}, strings.Split(strings.Repeat("X-Many: 1,", 10_000), ",")[:10_000]...)...), 431},
		"request line of 1 MB": {request("GET /healthz?"+strings.Repeat("x", 1<<20)+" HTTP/1.1", "", host), 431},
	}
	a := startAPI(t)
	t.Cleanup(func() { assert.Empty(t, a.seen(), "nothing may reach the layer below") })
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := a.raw(t, test.text)
			require.Equalf(t, test.status, got.status, "%.200s", got.body)
			require.NotContains(t, string(got.body), "goroutine")
			require.Less(t, len(got.body), 300)
		})
	}
}

// Reliability section 4, HTTP: odd, but with one meaning only; answered by that meaning.
func TestOddButClearRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	length := fmt.Sprintf("Content-Length: %d", len(goodBeat))
	tests := map[string]string{
		"chunks of a byte":          request(postBeat, chunked(strings.Split(goodBeat, "")...), host, isJSON, chunks),
		"chunks win over a length":  request(postBeat, chunked(goodBeat), host, isJSON, "Content-Length: 3", chunks),
		"the same length twice":     request(postBeat, goodBeat, host, isJSON, length, length),
		"HTTP/1.0":                  request("POST "+beat+" HTTP/1.0", goodBeat, isJSON, length),
		"h2c upgrade":               request(postBeat, goodBeat, host, isJSON, length, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"),
		"absolute-form target":      request("POST http://other.example"+beat+" HTTP/1.1", goodBeat, host, isJSON, length),
		"Host of somebody else":     request(postBeat, goodBeat, "Host: other.example", isJSON, length),
		"method override ignored":   request(postBeat, goodBeat, host, isJSON, length, "X-HTTP-Method-Override: DELETE", "X-Method: DELETE"),
		"encoded colon":             request(strings.Replace(postBeat, "m-1", "m%2D1", 1), goodBeat, host, isJSON, length),
		"Content-Type with charset": request(postBeat, goodBeat, host, length, `Content-Type: application/json; charset="UTF-8"`),
		"identity encoding":         request(postBeat, goodBeat, host, isJSON, length, "Content-Encoding: identity"),
		"Expect 100-continue":       request(postBeat, goodBeat, host, isJSON, length, "Expect: 100-continue"),
		"query that means nothing":  request("POST "+beat+"?memberId=m-9&x=%zz HTTP/1.1", goodBeat, host, isJSON, length),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startAPI(t)
			got := a.raw(t, text)
			require.Equalf(t, 200, got.status, "%s", got.body)
			require.Equal(t, []string{"Heartbeat orders billing m-1"}, a.seen())
		})
	}
}

// A folded header line is one line or a refusal; it is never a second header.
func TestAFoldedHeaderIsNeverASecondOne(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	got := a.raw(t, request("GET /healthz HTTP/1.1", "", host, "X-Request-Id: abc", " X-Forwarded-For: 1.2.3.4"))
	require.Contains(t, []int{200, 400}, got.status)
	require.NotEqual(t, "abc", got.header.Get("X-Request-Id"))
}

func TestABodyThatTricklesInIsCutOff(t *testing.T) {
	t.Parallel()
	a := startAPI(t, func(_ *httpapi.Config, limits *httpx.Limits) { limits.Read = 100 * time.Millisecond })
	begun := time.Now()
	got := a.raw(t, request(postBeat, goodBeat[:1], host, isJSON, fmt.Sprintf("Content-Length: %d", len(goodBeat))))
	requireRefusal(t, got, 400, protocol.CodeInvalidRequest, "")
	require.Contains(t, string(got.body), "in time")
	require.Less(t, time.Since(begun), patience)
	require.Empty(t, a.seen())
}

func TestMethodsThatAnEndpointTakesAreNamed(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	for target, allowed := range map[string]string{
		base + "/streams":                                    "GET",
		base + "/streams/orders":                             "GET, POST, DELETE",
		base + "/streams/a%3Ab/groups/billing":               "GET, POST, DELETE",
		base + "/streams/orders/groups/g/producer-routing":   "GET",
		base + "/monitoring/groups":                          "GET",
		base + "/monitoring/streams/orders/groups/g/members": "GET",
		orders + "/scale":                                    "POST",
		billing + "/scale":                                   "POST",
		resharding:                                           "GET",
		resharding + "/rollback":                             "POST",
		resharding + "/confirm-drain":                        "POST",
		billing + "/barrier":                                 "POST",
		billing + "/members/m-1/fence":                       "POST",
		base + "/admin/repair-index":                         "POST",
		beat:                                                 "POST",
		"/healthz":                                           "GET",
	} {
		got := a.call(t, "PUT", target, "{}")
		requireRefusal(t, got, 405, protocol.CodeMethodNotAllowed, "")
		require.Equal(t, allowed, got.header.Get("Allow"), target)
	}
	for _, target := range []string{"/", "/nothing", "/coord", base, base + "/nothing", base + "/streams/orders/groups", "/monitoring/groups", billing + "/migrations", base + "/admin"} {
		requireRefusal(t, a.call(t, "GET", target, ""), 404, protocol.CodeNotFound, "")
	}
	require.Empty(t, a.seen())
}
