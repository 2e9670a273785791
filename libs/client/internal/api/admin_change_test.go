package api

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// change is a call that asks for a change or its plan, with the request it must become.
type change struct {
	want, body string
	call       func(ctx context.Context, c *Client) error
}

func only[T any](_ *T, err error) error { return err }

// changes lists every call on the stream "shop:orders@eu" and its group "orders+1".
func changes() []change {
	const s, g, id = "shop:orders@eu", "orders+1", "01JD0000000000000000000000"
	const stream = "/coord/v1/streams/shop:orders@eu"
	const group = stream + "/groups/orders+1"
	const migration = group + "/migrations/" + id
	const why = `"requestedBy":"me","reason":"load"`
	scale := &protocol.ScaleRequest{TargetShardCount: new(0), RequestedBy: "me", Reason: "load"}
	rollback := &protocol.RollbackRequest{RequestedBy: "me", Reason: "load"}
	remove := &protocol.DeleteRequest{RequestedBy: "me", Reason: "load"}
	return []change{
		{"POST " + stream + "/scale", `{"targetShardCount":0,` + why + `}`, func(ctx context.Context, c *Client) error {
			return only(c.Scale(ctx, s, scale))
		}},
		{"GET " + migration, ``, func(ctx context.Context, c *Client) error {
			return only(c.Migration(ctx, s, g, id))
		}},
		{"POST " + migration + "/rollback", `{` + why + `}`, func(ctx context.Context, c *Client) error {
			return only(c.Rollback(ctx, s, g, id, rollback))
		}},
		{"POST " + migration + "/confirm-drain", `{"shardIndex":0,` + why + `}`, func(ctx context.Context, c *Client) error {
			return only(c.ConfirmDrain(ctx, s, g, id,
				&protocol.ConfirmDrainRequest{ShardIndex: new(0), RequestedBy: "me", Reason: "load"}))
		}},
		{"POST " + group + "/barrier", `{` + why + `,"close":true}`, func(ctx context.Context, c *Client) error {
			return only(c.Barrier(ctx, s, g, &protocol.BarrierRequest{RequestedBy: "me", Reason: "load", Close: true}))
		}},
		{"POST " + group + "/members/fe80::1-m0/fence", `{` + why + `}`, func(ctx context.Context, c *Client) error {
			return only(c.Fence(ctx, s, g, "fe80::1-m0", &protocol.FenceRequest{RequestedBy: "me", Reason: "load"}))
		}},
		{"POST /coord/v1/admin/repair-index", `{` + why + `}`, func(ctx context.Context, c *Client) error {
			return only(c.RepairIndex(ctx, &protocol.RepairIndexRequest{RequestedBy: "me", Reason: "load"}))
		}},
		{"POST " + stream + "?dryRun=true", `{"requestedBy":"me"}`, func(ctx context.Context, c *Client) error {
			return only(c.PlanCreateStream(ctx, s, &protocol.CreateStreamRequest{RequestedBy: "me"}))
		}},
		{"DELETE " + stream + "?dryRun=true", `{` + why + `}`, func(ctx context.Context, c *Client) error {
			return only(c.PlanDeleteStream(ctx, s, remove))
		}},
		{"POST " + stream + "/scale?dryRun=true", `{"targetShardCount":0,` + why + `}`, func(ctx context.Context, c *Client) error {
			return only(c.PlanScale(ctx, s, scale))
		}},
		{"POST " + group + "?dryRun=true", `{"requestedBy":"me"}`, func(ctx context.Context, c *Client) error {
			return only(c.PlanCreateGroup(ctx, s, g, &protocol.CreateGroupRequest{RequestedBy: "me"}))
		}},
		{"DELETE " + group + "?dryRun=true", `{` + why + `}`, func(ctx context.Context, c *Client) error {
			return only(c.PlanDeleteGroup(ctx, s, g, remove))
		}},
		{"POST " + migration + "/rollback?dryRun=true", `{` + why + `}`, func(ctx context.Context, c *Client) error {
			return only(c.PlanRollback(ctx, s, g, id, rollback))
		}},
	}
}

func TestEveryChangeHasItsMethodPathAndBody(t *testing.T) {
	t.Parallel()
	var asked, body string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		asked, body = r.Method+" "+r.RequestURI, string(sent)
		answer(w, http.StatusAccepted, `{}`)
	})
	for _, one := range changes() {
		require.NoError(t, one.call(t.Context(), client), one.want)
		require.Equal(t, one.want, asked)
		require.Equal(t, one.body, body, one.want)
	}
}

func TestRefusalsOfChangesKeepTheirCode(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusUnprocessableEntity, `{"errorCode":"ROLLBACK_NOT_ALLOWED","message":"it is done"}`)
	})
	for _, one := range changes() {
		require.Equal(t, protocol.CodeRollbackNotAllowed, CodeOf(one.call(t.Context(), client)), one.want)
	}
}

func TestNamesAndIDsOfChangesAreCheckedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	client := serve(t, func(http.ResponseWriter, *http.Request) { requests.Add(1) })
	ctx := t.Context()
	for _, name := range []string{"", "..", ".", "a/b", "a b", "a%2Fb", "a?x", "ü", "a\x00"} {
		for what, err := range map[string]error{
			"stream of a scale":   only(client.Scale(ctx, name, &protocol.ScaleRequest{})),
			"stream of a plan":    only(client.PlanScale(ctx, name, &protocol.ScaleRequest{})),
			"group of a barrier":  only(client.Barrier(ctx, "orders", name, &protocol.BarrierRequest{})),
			"group of a plan":     only(client.PlanDeleteGroup(ctx, "orders", name, &protocol.DeleteRequest{})),
			"member of a fence":   only(client.Fence(ctx, "orders", "g", name, &protocol.FenceRequest{})),
			"id of a resharding":  only(client.Migration(ctx, "orders", "g", name)),
			"id of a rollback":    only(client.Rollback(ctx, "orders", "g", name, &protocol.RollbackRequest{})),
			"id of a plan":        only(client.PlanRollback(ctx, "orders", "g", name, &protocol.RollbackRequest{})),
			"id of a drain":       only(client.ConfirmDrain(ctx, "orders", "g", name, &protocol.ConfirmDrainRequest{})),
			"group of a rollback": only(client.Rollback(ctx, "orders", name, "id", &protocol.RollbackRequest{})),
		} {
			require.ErrorIs(t, err, protocol.ErrInvalidName, "%s %q", what, name)
		}
	}
	require.ErrorIs(t, only(client.Migration(ctx, "orders", "g", strings.Repeat("0", 65))), protocol.ErrInvalidName)
	require.Zero(t, requests.Load())
}
