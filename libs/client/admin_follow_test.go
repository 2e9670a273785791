package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// follows returns the administration at a monitor that answers with one piece of a stream
// after the other.
func follows(t *testing.T, pieces ...string) *client.Admin {
	t.Helper()
	var turn atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		piece := pieces[min(int(turn.Add(1)), len(pieces))-1]
		if piece == "refused" {
			w.WriteHeader(http.StatusForbidden)
			piece = `{"errorCode":"FORBIDDEN","message":"no"}`
		}
		fmt.Fprint(w, piece)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{CoordinatorURL: server.URL})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c.Admin()
}

func TestFollowComesBackAndSaysThatItBeginsAfresh(t *testing.T) {
	t.Parallel()
	admin := follows(t,
		"event: groups\ndata: {\"round\":1,\"groups\":[{\"consumerGroup\":\"g\"}]}\n\nevent: news\ndata: 1\n\nevent: shards\ndata: {\"removed\":[4]}\n\n",
		"event: groups\ndata: {\"round\":2}\n\nevent: group\ndata: {\"groupEpoch\":9}\n\n")
	var got []client.Update
	enough := errors.New("enough")
	err := admin.Follow(t.Context(), client.FollowQuery{Stream: "o", Group: "g"}, func(update client.Update) error {
		got = append(got, update)
		if update.Group != nil {
			return enough
		}
		return nil
	})
	require.ErrorIs(t, err, enough)
	require.Len(t, got, 4)
	require.Equal(t, []bool{true, false, true, false}, []bool{got[0].Fresh, got[1].Fresh, got[2].Fresh, got[3].Fresh})
	require.Equal(t, "g", got[0].Groups.Groups[0].ConsumerGroup)
	require.Equal(t, []int{4}, got[1].Shards.Removed)
	require.EqualValues(t, 2, got[2].Groups.Round)
	require.EqualValues(t, 9, got[3].Group.GroupEpoch)
}

func TestFollowEndsWithWhatTryingAgainDoesNotHelp(t *testing.T) {
	t.Parallel()
	none := func(client.Update) error { return nil }
	err := follows(t, "refused").Follow(t.Context(), client.FollowQuery{}, none)
	require.ErrorIs(t, err, client.ErrForbidden)

	require.Error(t, follows(t, "event: groups\ndata: {\"round\":\"one\"}\n\n").Follow(t.Context(), client.FollowQuery{}, none))

	ctx, cancel := context.WithCancel(t.Context())
	err = follows(t, "event: groups\ndata: {}\n\n").Follow(ctx, client.FollowQuery{}, func(client.Update) error {
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
}
