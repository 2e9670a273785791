package api

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestEveryCallHasItsMethodAndPath(t *testing.T) {
	t.Parallel()
	const s, g = "shop:orders@eu", "orders+1"
	const group = "/v9/streams/shop:orders@eu/groups/orders+1"
	const monitored = "/v9/monitoring/streams/shop:orders@eu/groups/orders+1"
	var asked string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.RequestURI
		answer(w, http.StatusOK, `{}`)
	}, func(o *Options) { o.BasePath = "v9/"; o.BaseURL += "/" })
	ctx := t.Context()
	for want, call := range map[string]func() error{
		"POST /v9/streams/shop:orders@eu": func() error {
			_, err := client.CreateStream(ctx, s, &protocol.CreateStreamRequest{})
			return err
		},
		"GET /v9/streams/shop:orders@eu": func() error { _, err := client.Stream(ctx, s); return err },
		"GET /v9/streams":                func() error { _, err := client.Streams(ctx); return err },
		"DELETE /v9/streams/shop:orders@eu": func() error {
			_, err := client.DeleteStream(ctx, s, &protocol.DeleteRequest{})
			return err
		},
		"POST " + group:   func() error { _, err := client.CreateGroup(ctx, s, g, &protocol.CreateGroupRequest{}); return err },
		"GET " + group:    func() error { _, err := client.Group(ctx, s, g); return err },
		"DELETE " + group: func() error { _, err := client.DeleteGroup(ctx, s, g, &protocol.DeleteRequest{}); return err },

		"GET /v9/monitoring/groups":         func() error { _, err := client.Groups(ctx); return err },
		"GET " + monitored + "/members":     func() error { _, err := client.Members(ctx, s, g); return err },
		"GET " + monitored + "/assignments": func() error { _, err := client.Assignments(ctx, s, g); return err },
		"GET " + group + "/events":          func() error { _, err := client.Events(ctx, s, g, "", 0); return err },
		"GET " + group + "/events?after=17-1&limit=5": func() error {
			_, err := client.Events(ctx, s, g, "17-1", 5)
			return err
		},
		"GET " + group + "/events?after=a%26b": func() error { _, err := client.Events(ctx, s, g, "a&b", 0); return err },
		"GET " + monitored + "/migrations":     func() error { _, err := client.Migrations(ctx, s, g); return err },
		"GET /v9/monitoring/health":            func() error { _, err := client.Health(ctx); return err },
		"GET /v9/monitoring/compatibility":     func() error { _, err := client.Compatibility(ctx); return err },
		"GET /version":                         func() error { _, err := client.Version(ctx); return err },
	} {
		require.NoError(t, call(), want)
		require.Equal(t, want, asked)
	}
}

func TestHeartbeatIsSentUnderItsOwnRequestID(t *testing.T) {
	t.Parallel()
	var path, id string
	var body protocol.HeartbeatRequest
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		path, id = r.Method+" "+r.RequestURI, r.Header.Get("X-Request-Id")
		_ = json.NewDecoder(r.Body).Decode(&body)
		answer(w, http.StatusOK, `{"responseTo":"r1","status":"OK","memberId":"fe80::1-m0","memberEpoch":7,"leaseMs":8000}`)
	})
	got, err := client.Heartbeat(t.Context(), "orders", "g", &protocol.HeartbeatRequest{
		RequestID: "r1", MemberID: "fe80::1-m0", Sequence: 3,
	})
	require.NoError(t, err)
	require.Equal(t, "POST /coord/v1/streams/orders/groups/g/members/fe80::1-m0/heartbeat", path)
	require.Equal(t, "r1", id)
	require.Equal(t, int64(3), body.Sequence)
	require.Equal(t, protocol.StatusOK, got.Status)
	require.Equal(t, int64(8000), got.LeaseMs)
}

func TestAnswerForAnotherMemberIsNotTaken(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, `{"status":"OK","memberId":"other"}`)
	})
	_, err := client.Heartbeat(t.Context(), "orders", "g", &protocol.HeartbeatRequest{MemberID: "me"})
	require.ErrorIs(t, err, ErrUnavailable)
}

func TestNamesAreCheckedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	client := serve(t, func(http.ResponseWriter, *http.Request) { requests.Add(1) })
	ctx := t.Context()
	for _, name := range []string{"", "..", ".", "a/b", "a b", "a%2Fb", "a{b}", "ü", "a\x00"} {
		_, err := client.Stream(ctx, name)
		require.ErrorIs(t, err, protocol.ErrInvalidName, name)
		_, err = client.Group(ctx, "orders", name)
		require.ErrorIs(t, err, protocol.ErrInvalidName, name)
		_, err = client.Members(ctx, name, "g")
		require.ErrorIs(t, err, protocol.ErrInvalidName, name)
		_, err = client.Routing(ctx, name, "g", "")
		require.ErrorIs(t, err, protocol.ErrInvalidName, name)
		_, err = client.Events(ctx, name, "g", "", 0)
		require.ErrorIs(t, err, protocol.ErrInvalidName, name)
		_, err = client.Heartbeat(ctx, "orders", "g", &protocol.HeartbeatRequest{MemberID: name})
		require.ErrorIs(t, err, protocol.ErrInvalidName, name)
	}
	require.Zero(t, requests.Load())
}

func TestRoutingWithItsETagMayBeNotModified(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"7"`)
		if r.Header.Get("If-None-Match") == `"7"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		answer(w, http.StatusOK, `{"streamPrefix":"orders","consumerGroup":"g","metadataVersion":7,"shardCount":2,
			"leaseMs":10000,"shards":[{"shardIndex":1,"streamKey":"orders:1"},{"shardIndex":0,"streamKey":"orders:0"}]}`)
	})
	first, err := client.Routing(t.Context(), "orders", "g", "")
	require.NoError(t, err)
	require.Equal(t, int64(7), first.Routing.MetadataVersion)
	require.Equal(t, `"7"`, first.ETag)
	second, err := client.Routing(t.Context(), "orders", "g", first.ETag)
	require.NoError(t, err)
	require.True(t, second.NotModified)
	require.Nil(t, second.Routing)
	require.Equal(t, `"7"`, second.ETag)
}

func TestRoutingThatWouldMisplaceRecordsIsNotTaken(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"another stream":    `{"streamPrefix":"other","consumerGroup":"g","shardCount":0,"shards":[]}`,
		"another group":     `{"streamPrefix":"orders","consumerGroup":"h","shardCount":0,"shards":[]}`,
		"another hash":      `{"streamPrefix":"orders","consumerGroup":"g","routingProtocol":2,"shardCount":0,"shards":[]}`,
		"a missing shard":   `{"streamPrefix":"orders","consumerGroup":"g","shardCount":2,"shards":[{"shardIndex":0,"streamKey":"a"}]}`,
		"a shard twice":     `{"streamPrefix":"orders","consumerGroup":"g","shardCount":2,"shards":[{"shardIndex":0,"streamKey":"a"},{"shardIndex":0,"streamKey":"b"}]}`,
		"an index too high": `{"streamPrefix":"orders","consumerGroup":"g","shardCount":1,"shards":[{"shardIndex":1,"streamKey":"a"}]}`,
		"no key":            `{"streamPrefix":"orders","consumerGroup":"g","shardCount":1,"shards":[{"shardIndex":0}]}`,
		"a negative count":  `{"streamPrefix":"orders","consumerGroup":"g","shardCount":-1,"shards":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, body) })
			_, err := client.Routing(t.Context(), "orders", "g", "")
			require.ErrorIs(t, err, ErrUnavailable)
		})
	}
}
