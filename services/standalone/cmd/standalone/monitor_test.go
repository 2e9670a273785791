package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/openapitest"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

const (
	monitoring = "/coord/v1/monitoring"
	ordersBill = monitoring + "/streams/orders/groups/billing"
	shardCount = 4
)

// observed is a running standalone with the stream orders and the group billing, which nobody
// has joined: the test itself writes and reads.
type observed struct {
	t        *testing.T
	url      string
	rdb      *redis.Client
	document *openapitest.Document
}

// observe starts a standalone whose monitor looks as often as environ says.
func observe(t *testing.T, environ ...string) *observed {
	t.Helper()
	server := redisproc.Start(t)
	p := start(t, environ, "--demo=false", "--redis", server.URL())
	p.says(t, "no demo")
	_, rest, _ := strings.Cut(p.out.String(), "API on ")
	url, _, _ := strings.Cut(rest, "/coord/v1,")
	o := &observed{t: t, url: url, rdb: server.Client(t), document: openapitest.Load(t)}
	status, body := o.ask(http.MethodPost, "/coord/v1/streams/orders", `{"requestedBy":"t","consumerGroups":["billing"],"initialShardCount":4}`)
	require.Equalf(t, http.StatusCreated, status, "%s", body)
	return o
}

// ask sends a request as the user of development, and holds the exchange against the document.
func (o *observed) ask(method, target, body string) (int, []byte) {
	o.t.Helper()
	request, err := http.NewRequestWithContext(o.t.Context(), method, o.url+target, strings.NewReader(body))
	require.NoError(o.t, err)
	request.SetBasicAuth("admin", "password")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(o.t, err)
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	require.NoError(o.t, err)
	o.document.Check(o.t, openapitest.Exchange{
		Method: method, Path: target, RequestHeader: request.Header, Request: []byte(body),
		Status: answer.StatusCode, Header: answer.Header, Body: said,
	})
	return answer.StatusCode, said
}

func (o *observed) get(target string) []byte {
	o.t.Helper()
	status, body := o.ask(http.MethodGet, target, "")
	require.Equalf(o.t, http.StatusOK, status, "%s: %s", target, body)
	return body
}

// offsets waits for a look at the group that is as wanted.
func (o *observed) offsets(wanted func(protocol.StreamShardOffsetsResponse) bool) protocol.StreamShardOffsetsResponse {
	o.t.Helper()
	var found protocol.StreamShardOffsetsResponse
	require.Eventually(o.t, func() bool {
		found = protocol.StreamShardOffsetsResponse{}
		status, body := o.ask(http.MethodGet, ordersBill+"/offsets", "")
		return status == http.StatusOK && json.Unmarshal(body, &found) == nil && wanted(found)
	}, patience, 5*interval, "%+v", &found)
	return found
}

// join lets the member one join, or join again.
func (o *observed) join(sequence int) {
	o.t.Helper()
	status, body := o.ask(http.MethodPost, "/coord/v1/streams/orders/groups/billing/members/one/heartbeat",
		fmt.Sprintf(`{"protocolVersion":1,"requestId":"r%d","memberId":"one","memberEpoch":0,"metadataVersion":0,"incarnation":"i","sequence":%d,`+
			`"runtimeConsumerCapacity":{"runtimeMaxConcurrency":4,"availableConcurrency":4},"ownedShards":[],"revokingShards":[],"shardProgress":[]}`,
			sequence, sequence))
	require.Equalf(o.t, http.StatusOK, status, "%s", body)
}

// Wire contract, Who serves what: every endpoint of the monitor answers through the gateway,
// as the document says.
func TestTheMonitorAnswersThroughTheGateway(t *testing.T) {
	t.Parallel()
	o := observe(t)
	for _, shard := range []string{"orders:0", "orders:3"} {
		for range 3 {
			require.NoError(t, o.rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: shard, Values: []string{"payload", `{"a":"<&>"}`, "bin", "\xff\x00"}}).Err())
		}
	}
	o.join(1)
	o.get(ordersBill) // at once, though no round has seen it
	o.offsets(func(r protocol.StreamShardOffsetsResponse) bool {
		return r.TotalStreamLength == 6 && r.ProducedPerSecond != nil
	})
	sequence := 1
	require.Eventually(t, func() bool { // its lease may have run out meanwhile
		sequence++
		o.join(sequence)
		return strings.Contains(string(o.get(ordersBill+"/members")), `"one"`)
	}, patience, interval)
	const names = "?streamPrefix=orders&consumerGroup=billing"
	grafana := monitoring + "/grafana/"
	for _, target := range []string{
		monitoring + "/groups", ordersBill, ordersBill + "/members", ordersBill + "/assignments", ordersBill + "/migrations",
		ordersBill + "/consumption", ordersBill + "/offsets", ordersBill + "/shards/3/messages", grafana + "groups",
		grafana + "shards" + names, grafana + "shards?streamPrefix=&consumerGroup=", grafana + "members" + names,
		grafana + "assignments" + names, grafana + "messages" + names + "&shardIndex=.*&direction=FORWARD&limit=4",
		grafana + "options/streams", grafana + "options/consumer-groups", grafana + "options/shards" + names,
	} {
		require.Greater(t, len(o.get(target)), len("[]"), target)
	}
	var page protocol.StreamMessagesPageResponse
	require.NoError(t, json.Unmarshal(o.get(ordersBill+"/shards/3/messages?limit=2"), &page))
	require.Len(t, page.Records, 2)
	require.Equal(t, []string{"bin"}, page.Records[0].Base64Fields)
	o.get(ordersBill + "/shards/3/messages?limit=2&cursor=" + *page.NextCursor)
	for target, want := range map[string]int{
		ordersBill + "/shards/3/messages?direction=UP": 400, ordersBill + "/shards/3/messages?cursor=x": 400,
		ordersBill + "/shards/9/messages": 404, monitoring + "/streams/orders/groups/nobody/offsets": 404,
		grafana + "messages" + names + "&recordId=x": 400, grafana + "shards": 400,
	} {
		status, body := o.ask(http.MethodGet, target, "")
		require.Equalf(t, want, status, "%s: %s", target, body)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.url+ordersBill+"/offsets", http.NoBody)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
}

// Gateway, Proxy: events come as they happen, nothing collects them.
func TestEventsPassTheGatewayAsTheyCome(t *testing.T) {
	t.Parallel()
	o := observe(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.url+monitoring+"/stream?streamPrefix=orders&consumerGroup=billing", http.NoBody)
	require.NoError(t, err)
	request.SetBasicAuth("admin", "password")
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	until := func(part string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), part) {
				return
			}
		}
		require.Failf(t, "the stream has ended", "before %s: %v", part, lines.Err())
	}
	until(`"shardLabel":":3"`)
	require.NoError(t, o.rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: "orders:1", ID: "77-1", Values: []string{"a", "b"}}).Err())
	until(`"lastRecordId":"77-1"`)
	status, body := o.ask(http.MethodDelete, "/coord/v1/streams/orders", `{"requestedBy":"t","reason":"over"}`)
	require.Equalf(t, http.StatusOK, status, "%s", body)
	until(`"removed":[{"streamPrefix":"orders","consumerGroup":"billing"}]`)
}
