package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// coordinator serves handler and returns a client of it.
func coordinator(t *testing.T, handler http.HandlerFunc, opts client.Options) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	opts.CoordinatorURL = server.URL
	c, err := client.New(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func TestClientNeedsOnlyTheCoordinatorsURL(t *testing.T) {
	t.Parallel()
	_, err := client.New(client.Options{CoordinatorURL: "http://localhost:8080/base/"})
	require.NoError(t, err)
	_, err = client.New(client.Options{})
	require.Error(t, err)
}

func TestTokenSourceIsAskedForEachRequestAndReplacesTheToken(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	var header atomic.Value
	handler := func(w http.ResponseWriter, r *http.Request) {
		header.Store(r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"streams":[{"streamPrefix":"orders"}]}`)
	}
	c := coordinator(t, handler, client.Options{Token: "fixed", TokenSource: func(context.Context) (string, error) {
		return string('0' + byte(asked.Add(1))), nil
	}})
	for range 2 {
		streams, err := c.Admin().Streams(t.Context())
		require.NoError(t, err)
		require.Equal(t, "orders", streams[0].StreamPrefix)
	}
	require.Equal(t, "Bearer 2", header.Load())

	_, err := coordinator(t, handler, client.Options{Token: "fixed"}).Admin().Streams(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Bearer fixed", header.Load())
}

func TestRefusalKeepsItsCodeAndPause(t *testing.T) {
	t.Parallel()
	c := coordinator(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"errorCode":"STORE_UNAVAILABLE","message":"m","requestId":"r"}`)
	}, client.Options{})
	_, err := c.Admin().DeleteGroup(t.Context(), "orders", "g", protocol.DeleteRequest{})
	var refused *protocol.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, protocol.CodeStoreUnavailable, refused.Code)
	require.Equal(t, "r", refused.RequestID)
	require.True(t, refused.Retriable())
	pause, ok := client.RetryAfter(err)
	require.True(t, ok)
	require.Equal(t, 2*time.Second, pause)
	require.NotErrorIs(t, err, client.ErrUnavailable)
	_, ok = client.RetryAfter(client.ErrUnavailable)
	require.False(t, ok)
}

func TestEventsArePagedByTheirCursor(t *testing.T) {
	t.Parallel()
	c := coordinator(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("after") == "1-0" {
			_, _ = io.WriteString(w, `{"events":[{"id":"2-0","cause":"ADMIN","action":"DELETE","actor":"ops"}],"next":null}`)
			return
		}
		_, _ = io.WriteString(w, `{"events":[{"id":"1-0","at":"2026-01-02T03:04:05.006Z","cause":"JOIN","memberId":"m1","requestId":"r1",
			"action":null,"changes":[{"cause":"JOIN","memberId":"m1","requestId":"r1"},{"cause":"GRANT","memberId":"m1","shards":1}],
			"shards":[{"shard":0,"target":{"before":null,"after":"m1"},"hold":{"before":null,"after":{"memberId":"m1"}}}]}],"next":"1-0"}`)
	}, client.Options{})
	first, err := c.Admin().Events(t.Context(), "orders", "g", "", 1)
	require.NoError(t, err)
	require.Equal(t, protocol.EventJoin, first.Events[0].Cause)
	require.Equal(t, "r1", *first.Events[0].RequestID)
	require.Nil(t, first.Events[0].Shards[0].Hold.Before)
	require.Equal(t, "m1", first.Events[0].Shards[0].Hold.After.MemberID)
	last, err := c.Admin().Events(t.Context(), "orders", "g", *first.Next, 1)
	require.NoError(t, err)
	require.Equal(t, protocol.ActionDelete, *last.Events[0].Action)
	require.Nil(t, last.Next)
}

// counted is a transport that counts how often its idle connections are closed.
type counted struct {
	http.RoundTripper
	closed atomic.Int32
}

func (c *counted) CloseIdleConnections() { c.closed.Add(1) }

func TestCloseLeavesTheApplicationsHTTPClientAlone(t *testing.T) {
	t.Parallel()
	transport := &counted{RoundTripper: http.DefaultTransport}
	c, err := client.New(client.Options{
		CoordinatorURL: "http://localhost:8080", HTTPClient: &http.Client{Transport: transport},
	})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.Zero(t, transport.closed.Load())
}
