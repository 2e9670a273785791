// Package api speaks the coordinator's HTTP API: it builds the paths, sends the JSON
// bodies with a token and a request id, bounds what it reads, and turns refusals into
// errors that carry the API's code. A request goes on in the trace of its context. It repeats
// nothing by itself.
package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/tracectx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Limits of the transport made here.
const (
	connectTimeout = 3 * time.Second
	requestTimeout = 30 * time.Second
	// idleTimeout is below the 60 s after which the server closes idle connections, so
	// that a request is not sent into one that is just being closed.
	idleTimeout      = 45 * time.Second
	idlePerHost      = 16
	maxResponseBytes = 32 << 20
	// drainBytes is how much of an unread rest is read so that the connection is kept.
	drainBytes = 64 << 10
)

// requestID is the header that names a request.
const requestID = "X-Request-Id"

// Options binds a Client; only BaseURL is required.
type Options struct {
	// BaseURL is an absolute http or https URL without credentials, query and fragment.
	BaseURL string
	// BasePath is the prefix of the API's paths; empty means protocol.BasePath.
	BasePath string
	// HTTP stays the caller's; nil makes one that Close shuts.
	HTTP *http.Client
	// Token may be nil: then no Authorization header is sent.
	Token Credential
}

// Client calls one coordinator or gateway. It is safe for use by several goroutines.
type Client struct {
	root  string // without a slash at the end
	base  string // root and base path
	http  *http.Client
	owned bool
	token Credential
	// tracer makes a span of each call; nil makes none.
	tracer trace.Tracer
	// once is the Idempotency-Key of changes; empty sends none.
	once string
}

// New checks opts and returns a Client; it does not connect.
func New(opts Options) (*Client, error) {
	root, err := checkBaseURL(opts.BaseURL)
	if err != nil {
		return nil, err
	}
	basePath := opts.BasePath
	if basePath == "" {
		basePath = protocol.BasePath
	}
	basePath = "/" + strings.Trim(basePath, "/")
	if basePath == "/" {
		basePath = ""
	}
	client := &Client{root: root, base: root + basePath, http: opts.HTTP, token: opts.Token}
	if client.http == nil {
		client.http, client.owned = newHTTPClient(), true
	}
	return client, nil
}

// Close shuts the idle connections of a transport made by New.
func (c *Client) Close() {
	if c.owned {
		c.http.CloseIdleConnections()
	}
}

func checkBaseURL(raw string) (string, error) {
	parsed, err := url.Parse(raw)
	switch {
	case err != nil:
		// The parse error repeats the URL, which may hold credentials.
		return "", errors.New("coordinator URL is malformed")
	case parsed.Scheme != "http" && parsed.Scheme != "https", parsed.Host == "":
		return "", errors.New("coordinator URL is not an absolute http or https URL")
	case parsed.User != nil:
		return "", errors.New("coordinator URL holds credentials; use a token")
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return "", errors.New("coordinator URL has a query or fragment")
	}
	return strings.TrimRight(parsed.String(), "/"), nil
}

func newHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: connectTimeout}
	return &http.Client{
		Timeout: requestTimeout,
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           dialer.DialContext,
			TLSHandshakeTimeout:   connectTimeout,
			ExpectContinueTimeout: time.Second,
			ForceAttemptHTTP2:     true,
			MaxIdleConnsPerHost:   idlePerHost,
			IdleConnTimeout:       idleTimeout,
		},
		// A POST that follows a redirect turns into a GET; the API never redirects.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// call is one request of the API.
type call struct {
	method string
	url    string
	body   any    // nil sends none
	id     string // X-Request-Id; empty makes one
	etag   string // If-None-Match; empty sends none
	// anonymous sends no token.
	anonymous bool
	// most is how many bytes of an answer are read; 0 is maxResponseBytes.
	most int64
}

// reply is what is of use in an answer besides its body.
type reply struct {
	status int
	etag   string
	id     string // X-Request-Id of the request
}

// do sends one request and decodes the answer into out. The error is a *RefusedError for
// an error status, and wraps ErrUnavailable when no coordinator answered. After a 401 the
// request is sent once more where the credential has another token: nothing was done then.
func (c *Client) do(ctx context.Context, call call, out any) (reply, error) {
	if c.tracer != nil {
		return c.traced(ctx, call, out)
	}
	return c.exchange(ctx, call, out)
}

func (c *Client) exchange(ctx context.Context, call call, out any) (reply, error) {
	token, err := c.tokenOf(ctx, call)
	if err != nil {
		return reply{}, err
	}
	got, err := c.send(ctx, call, token, out)
	if token == "" || !errors.Is(err, ErrUnauthorized) || !c.token.Refused(token) {
		return got, err
	}
	if token, err = c.tokenOf(ctx, call); err != nil {
		return reply{}, err
	}
	return c.send(ctx, call, token, out)
}

// tokenOf returns the token of a call; empty sends none.
func (c *Client) tokenOf(ctx context.Context, call call) (string, error) {
	if c.token == nil || call.anonymous {
		return "", nil
	}
	token, err := c.token.Token(ctx)
	if err != nil {
		return "", fmt.Errorf("get token: %w", err)
	}
	return token, nil
}

func (c *Client) send(ctx context.Context, call call, token string, out any) (reply, error) {
	request, err := newRequest(ctx, call, token)
	if err != nil {
		return reply{}, err
	}
	if c.once != "" && call.method != http.MethodGet {
		request.Header.Set(idempotencyKey, c.once)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return reply{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer func() {
		_, _ = io.CopyN(io.Discard, response.Body, drainBytes)
		_ = response.Body.Close()
	}()
	got := reply{
		status: response.StatusCode, etag: response.Header.Get("ETag"), id: request.Header.Get(requestID),
	}
	switch {
	case response.StatusCode == http.StatusNotModified && call.etag != "":
		return got, nil
	case response.StatusCode < 200 || response.StatusCode > 299:
		return got, refusal(response)
	}
	return got, decode(response.Body, cmp.Or(call.most, maxResponseBytes), out)
}

func newRequest(ctx context.Context, call call, token string) (*http.Request, error) {
	var body io.Reader
	if call.body != nil {
		encoded, err := json.Marshal(call.body)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, call.method, call.url, body)
	if err != nil {
		return nil, fmt.Errorf("build request: %w", err)
	}
	request.Header.Set("Accept", "application/json")
	if call.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if call.etag != "" {
		request.Header.Set("If-None-Match", call.etag)
	}
	if call.id == "" {
		call.id = ulid.Make().String()
	}
	request.Header.Set(requestID, call.id)
	tracectx.SetHeader(ctx, request.Header)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return request, nil
}

func decode(body io.Reader, most int64, out any) error {
	encoded, err := io.ReadAll(io.LimitReader(body, most+1))
	switch {
	case err != nil:
		return fmt.Errorf("%w: read answer: %w", ErrUnavailable, err)
	case int64(len(encoded)) > most:
		return fmt.Errorf("%w: answer is longer than %d bytes", ErrUnavailable, most)
	}
	if err := json.Unmarshal(encoded, out); err != nil {
		return fmt.Errorf("%w: answer is not the JSON asked for: %w", ErrUnavailable, err)
	}
	return nil
}
