package api

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestTheMonitorIsAskedForWhatWasObserved(t *testing.T) {
	t.Parallel()
	var asked, body string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.RequestURI
		answer(w, http.StatusOK, body)
	})
	query := MessageQuery{Direction: protocol.DirectionForward, Cursor: "1-0&x", Limit: 7}
	for _, test := range []struct {
		path, body string
		call       func(context.Context) (any, error)
		want       any
	}{
		{"/streams/o:x/groups/g", `{"groupState":"STABLE","totalLag":null,"knownParts":2}`, func(ctx context.Context) (any, error) {
			found, err := client.MonitoredGroup(ctx, "o:x", "g", 0)
			require.Nil(t, found.TotalLag)
			return found.KnownParts, err
		}, 2},
		{"/streams/o/groups/g/offsets", `{"shards":[{"lag":5}]}`, func(ctx context.Context) (any, error) {
			found, err := client.Offsets(ctx, "o", "g")
			return *found.Shards[0].Lag, err
		}, int64(5)},
		{"/streams/o/groups/g/consumption", `{"progress":[{"memberId":"m"}]}`, func(ctx context.Context) (any, error) {
			found, err := client.Consumption(ctx, "o", "g")
			return found.Progress[0].MemberID, err
		}, "m"},
		{"/grafana/groups", `[{"consumerGroup":"g"}]`, func(ctx context.Context) (any, error) {
			found, err := client.GroupRows(ctx, 0)
			return found[0].ConsumerGroup, err
		}, "g"},
		{"/grafana/groups?samples=30", `[{"samples":{"lag":[null,3]}}]`, func(ctx context.Context) (any, error) {
			found, err := client.GroupRows(ctx, 30)
			return *found[0].Samples.Lag[1], err
		}, 3.0},
		{"/streams/o/groups/g?samples=60", `{"samples":{"lag":[null,3]}}`, func(ctx context.Context) (any, error) {
			found, err := client.MonitoredGroup(ctx, "o", "g", 60)
			require.Nil(t, found.Samples.Lag[0])
			return *found.Samples.Lag[1], err
		}, 3.0},
		{"/grafana/shards?consumerGroup=g&streamPrefix=o", `[{"shardIndex":3}]`, func(ctx context.Context) (any, error) {
			found, err := client.ShardRows(ctx, "o", "g")
			return found[0].ShardIndex, err
		}, 3},
		{
			"/streams/o/groups/g/shards/4/messages?cursor=1-0%26x&direction=FORWARD&limit=7", `{"records":[{"recordId":"1-0"}]}`,
			func(ctx context.Context) (any, error) {
				found, err := client.Messages(ctx, "o", "g", 4, query)
				return found.Records[0].RecordID, err
			}, "1-0",
		},
		{"/streams/o/groups/g/shards/0/messages", `{"nextCursor":"2-0"}`, func(ctx context.Context) (any, error) {
			found, err := client.Messages(ctx, "o", "g", 0, MessageQuery{})
			return *found.NextCursor, err
		}, "2-0"},
		{
			"/streams/o/groups/g/shards/4/pending?consumer=m+1%26x&cursor=1-0&limit=7", `{"entries":[{"recordId":"1-0","idleMs":5}]}`,
			func(ctx context.Context) (any, error) {
				found, err := client.Pending(ctx, "o", "g", 4, PendingQuery{Consumer: "m 1&x", Cursor: "1-0", Limit: 7})
				return found.Entries[0].IdleMs, err
			}, int64(5),
		},
		{"/streams/o/groups/g/shards/0/pending", `{"nextCursor":"2-0"}`, func(ctx context.Context) (any, error) {
			found, err := client.Pending(ctx, "o", "g", 0, PendingQuery{})
			return *found.NextCursor, err
		}, "2-0"},
		{
			"/grafana/messages?consumerGroup=g&recordId=1-0&shardIndex=all&streamPrefix=o", `[{"recordId":"1-0"}]`,
			func(ctx context.Context) (any, error) {
				found, err := client.MergedMessages(ctx, "o", "g", MessageQuery{RecordID: "1-0"})
				return found[0].RecordID, err
			}, "1-0",
		},
	} {
		body = test.body
		got, err := test.call(t.Context())
		require.NoError(t, err)
		require.Equal(t, test.want, got)
		require.Equal(t, "GET /coord/v1/monitoring"+test.path, asked)
	}
	_, err := client.Messages(t.Context(), "o/..", "g", 0, MessageQuery{})
	require.ErrorIs(t, err, protocol.ErrInvalidName)
}
