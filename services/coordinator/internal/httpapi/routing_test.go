package httpapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestRoutingIsAnswered304WhenTheCallerHasIt(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	a.routing = protocol.ProducerRouting{
		StreamPrefix: "orders", ConsumerGroup: "billing", MetadataVersion: 3, ShardCount: 1, StreamKeyPattern: "orders:{shardIndex}",
		Shards: []protocol.RoutingShard{{StreamKey: "orders:0", RedisSlot: 7}}, LeaseMs: 10_000, Lineage: "L", RoutingProtocol: 1,
	}
	const target = billing + "/producer-routing"
	first := a.call(t, "GET", target, "")
	require.Equal(t, 200, first.status)
	require.JSONEq(t, `{"streamPrefix":"orders","consumerGroup":"billing","metadataVersion":3,"shardCount":1,
		"streamKeyPattern":"orders:{shardIndex}","shards":[{"shardIndex":0,"streamKey":"orders:0","redisSlot":7}],
		"leaseMs":10000,"lineage":"L","routingProtocol":1}`, string(first.body))
	tag := first.header.Get("ETag")
	require.Regexp(t, `^"[0-9a-f]{32}"$`, tag)
	require.Equal(t, tag, a.call(t, "GET", target, "").header.Get("ETag"), "the tag is stable")

	for _, header := range []string{tag, "W/" + tag, `"other", ` + tag, `"other",W/` + tag + `, "x"`, "*"} {
		got := a.call(t, "GET", target, "", "If-None-Match: "+header)
		require.Equal(t, 304, got.status, header)
		require.Empty(t, got.body)
		require.Equal(t, tag, got.header.Get("ETag"))
		require.Equal(t, "no-cache", got.header.Get("Cache-Control"))
		require.NotEmpty(t, got.header.Get("X-Request-Id"))
	}
	for _, header := range []string{`"other"`, tag[1 : len(tag)-1], "", tag + "x"} {
		require.Equal(t, 200, a.call(t, "GET", target, "", "If-None-Match: "+header).status, header)
	}
}

func TestTheRoutingTagChangesWithEveryField(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	tags := map[string]string{}
	for name, change := range map[string]func(*protocol.ProducerRouting){
		"nothing":                                func(*protocol.ProducerRouting) {},
		"version":                                func(r *protocol.ProducerRouting) { r.MetadataVersion++ },
		"shards":                                 func(r *protocol.ProducerRouting) { r.Shards = append(r.Shards, protocol.RoutingShard{}) },
		"lease (L3: what a 304 leaves in force)": func(r *protocol.ProducerRouting) { r.LeaseMs-- },
		"lineage":                                func(r *protocol.ProducerRouting) { r.Lineage = "new" },
	} {
		a.routing = protocol.ProducerRouting{LeaseMs: 10_000}
		change(&a.routing)
		tag := a.call(t, "GET", billing+"/producer-routing", "").header.Get("ETag")
		require.NotContains(t, tags, tag, name)
		tags[tag] = name
	}
}

func TestARefusedRoutingHasNoTag(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	a.reject = protocol.Errorf(protocol.CodeGroupNotFound, "no group")
	got := a.call(t, "GET", billing+"/producer-routing", "", "If-None-Match: *")
	requireRefusal(t, got, 404, protocol.CodeGroupNotFound, "")
	require.Empty(t, got.header.Get("ETag"))
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
}
