package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// enough is a time of which a share is enough for any answer.
const enough = 20 * time.Second

// fake is a coordinator that gives one answer, always with the tag "1".
type fake struct {
	server *httptest.Server

	mu    sync.Mutex
	tags  []string // that it was asked with
	hung  bool
	code  protocol.Code // of a refusal; empty answers
	ended chan struct{}
}

func startFake(t *testing.T, stream string) *fake {
	t.Helper()
	f := &fake{ended: make(chan struct{})}
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.tags = append(f.tags, r.Header.Get("If-None-Match"))
		hung, code := f.hung, f.code
		f.mu.Unlock()
		w.Header().Set("ETag", `"1"`)
		var body any = protocol.GroupSnapshotsResponse{Groups: []protocol.GroupSnapshot{{Group: protocol.GroupResponse{StreamPrefix: stream}}}}
		switch {
		case hung:
			select {
			case <-r.Context().Done():
			case <-f.ended:
			}
			return
		case code != "":
			body = protocol.ErrorResponse{ErrorCode: code}
			w.WriteHeader(protocol.FaultOf(code).Status)
		case r.Header.Get("If-None-Match") == `"1"`:
			w.WriteHeader(http.StatusNotModified)
			return
		case strings.HasSuffix(r.URL.Path, "/groups/billing"):
			body = protocol.GroupResponse{StreamPrefix: stream}
		}
		_ = json.NewEncoder(w).Encode(body)
	}))
	t.Cleanup(func() {
		close(f.ended)
		f.server.Close()
	})
	return f
}

func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fake) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.tags...)
}

func among(t *testing.T, fakes ...*fake) *coordinators {
	t.Helper()
	urls := make([]string, len(fakes))
	for i, f := range fakes {
		urls[i] = f.server.URL
	}
	c, err := newCoordinators(strings.Join(urls, ", "), client.Options{}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.close() })
	return c
}

func snapshots(t *testing.T, c *coordinators, tag string) (string, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	found, tag, err := c.GroupSnapshots(ctx, tag)
	require.NoError(t, err)
	if found == nil {
		return "", tag
	}
	return found.Groups[0].Group.StreamPrefix, tag
}

// TestWhereOneCoordinatorDoesNotAnswerTheNextOneIsAskedInTheSameRound: one is gone, one hangs;
// the one that answers is asked from then on.
func TestWhereOneCoordinatorDoesNotAnswerTheNextOneIsAskedInTheSameRound(t *testing.T) {
	t.Parallel()
	gone, hung, well := startFake(t, "gone"), startFake(t, "hung"), startFake(t, "well")
	gone.server.Close()
	hung.set(func() { hung.hung = true })
	c := among(t, gone, hung, well)
	from, _ := snapshots(t, c, "")
	require.Equal(t, "well", from)
	from, _ = snapshots(t, c, "")
	require.Equal(t, "well", from)
	require.Len(t, hung.asked(), 1)
	require.Len(t, well.asked(), 2)

	hung.set(func() { hung.hung = false })
	well.set(func() { well.code = protocol.CodeTerminating })
	from, _ = snapshots(t, c, "")
	require.Equal(t, "hung", from, "after the last the first is next")
}

// TestATagIsThatOfOneCoordinator: the same text says something else to another one.
func TestATagIsThatOfOneCoordinator(t *testing.T) {
	t.Parallel()
	one, two := startFake(t, "one"), startFake(t, "two")
	c := among(t, one, two)
	from, tag := snapshots(t, c, "")
	require.Equal(t, "one", from)
	from, tag = snapshots(t, c, tag)
	require.Empty(t, from, "nothing has changed")
	one.set(func() { one.code = protocol.CodeStoreUnavailable })
	from, tag = snapshots(t, c, tag)
	require.Equal(t, "two", from)
	from, tag = snapshots(t, c, tag)
	require.Empty(t, from)
	require.Equal(t, []string{"", `"1"`}, two.asked())
	two.set(func() { two.code = protocol.CodeStoreUnavailable })
	one.set(func() { one.code = "" })
	from, _ = snapshots(t, c, tag)
	require.Equal(t, "one", from, "it has said so before, to a tag that is forgotten")
	require.Equal(t, []string{"", `"1"`, `"1"`, ""}, one.asked())
}

// TestARefusalIsAnAnswer: that a group is not there, and not that the store is away.
func TestARefusalIsAnAnswer(t *testing.T) {
	t.Parallel()
	one, two := startFake(t, "one"), startFake(t, "two")
	c := among(t, one, two)
	one.set(func() { one.code = protocol.CodeGroupNotFound })
	_, err := c.Group(t.Context(), "orders", "billing")
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, protocol.CodeGroupNotFound, refusal.Code)
	require.Empty(t, two.asked())
	one.set(func() { one.code = protocol.CodeStoreUnavailable })
	found, err := c.Group(t.Context(), "orders", "billing")
	require.NoError(t, err)
	require.Equal(t, "two", found.StreamPrefix)
	two.set(func() { two.code = protocol.CodeTerminating })
	_, err = c.Group(t.Context(), "orders", "billing")
	require.ErrorAs(t, err, &refusal)
	require.ErrorContains(t, err, "none of 2 coordinators")
}

// TestTheTimeOfARoundIsNotExceeded where every coordinator hangs.
func TestTheTimeOfARoundIsNotExceeded(t *testing.T) {
	t.Parallel()
	one, two := startFake(t, "one"), startFake(t, "two")
	one.set(func() { one.hung = true })
	two.set(func() { two.hung = true })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, _, err := among(t, one, two).GroupSnapshots(ctx, "")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
