package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const twoEvents = "retry: 2000\n\n: heartbeat\n\nevent: groups\nid: 7\ndata: {\"round\":7}\n\nevent: shards\nid: 7\ndata: {}\n\nevent: cut"

func TestEventsAreReadOneByOneUntilTheStreamEnds(t *testing.T) {
	t.Parallel()
	var asked string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.RequestURI + " " + r.Header.Get("Accept")
		_, _ = io.WriteString(w, twoEvents)
	})
	var got []string
	require.NoError(t, client.Follow(t.Context(), "o:x", "g", func(event Event) error {
		got = append(got, event.Kind+" "+string(event.Data))
		return nil
	}))
	require.Equal(t, "/coord/v1/monitoring/stream?consumerGroup=g&streamPrefix=o%3Ax text/event-stream", asked)
	require.Equal(t, []string{`groups {"round":7}`, "shards {}"}, got)

	stop := errors.New("stop")
	calls := 0
	require.ErrorIs(t, client.Follow(t.Context(), "", "", func(Event) error { calls++; return stop }), stop)
	require.Equal(t, 1, calls)
	require.Equal(t, "/coord/v1/monitoring/stream text/event-stream", asked)
}

func TestAStreamThatIsRefusedOrBreaksOffIsAnError(t *testing.T) {
	t.Parallel()
	answers := map[string]http.HandlerFunc{
		"OVERLOADED": func(w http.ResponseWriter, _ *http.Request) {
			answer(w, http.StatusServiceUnavailable, `{"errorCode":"OVERLOADED","message":"full"}`)
		},
		"": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "event: groups\ndata: {}\n\n")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	}
	for code, handler := range answers {
		client := serve(t, handler)
		err := client.Follow(t.Context(), "", "", func(Event) error { return nil })
		require.Error(t, err)
		require.Equal(t, code, string(CodeOf(err)))
		require.Equal(t, code == "", errors.Is(err, ErrUnavailable))
	}
}

// An event without an end does not fill the memory.
func TestTheLengthOfAnEventIsBounded(t *testing.T) {
	t.Parallel()
	endless := io.MultiReader(strings.NewReader("event: groups\ndata: "), strings.NewReader(strings.Repeat("x", maxEvent)))
	err := readEvents(endless, func() {}, func(Event) error { return fmt.Errorf("not to be taken") })
	require.ErrorIs(t, err, ErrUnavailable)
}
