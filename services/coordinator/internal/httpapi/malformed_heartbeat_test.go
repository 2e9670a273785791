package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// shardList writes a JSON list of n shards from 0.
func shardList(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"shardIndex":%d}`, i)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func revoking(index int, state string, inFlight int) string {
	return fmt.Sprintf(`{"shard":{"shardIndex":%d},"state":%q,"inFlight":%d}`, index, state, inFlight)
}

func progress(members string) string {
	return `"shardProgress":[{"shard":{"shardIndex":0},"streamKey":"orders:0"` + members + `}]`
}

// Reliability section 4, Heartbeat: refused by the request alone.
func TestMalformedHeartbeatIsRefused(t *testing.T) {
	t.Parallel()
	change := func(old, value string) string { return instead(t, goodBeat, old, value) }
	add := func(member string) string { return with(goodBeat, member) }
	capacity := func(value string) string {
		return change(`{"runtimeMaxConcurrency":1,"availableConcurrency":1}`, value)
	}
	tests := map[string]string{
		"protocol version 0":          change(`"protocolVersion":1`, `"protocolVersion":0`),
		"protocol version -1":         change(`"protocolVersion":1`, `"protocolVersion":-1`),
		"protocol version 2^31":       change(`"protocolVersion":1`, `"protocolVersion":2147483648`),
		"protocol version missing":    change(`"protocolVersion":1,`, ``),
		"protocol version null":       change(`"protocolVersion":1`, `"protocolVersion":null`),
		"protocol version as text":    change(`"protocolVersion":1`, `"protocolVersion":"1"`),
		"requestId missing":           change(`"requestId":"r-1",`, ``),
		"requestId empty":             change(`"r-1"`, `""`),
		"requestId blank":             change(`"r-1"`, `" \u2003 "`),
		"requestId long":              change(`"r-1"`, `"`+strings.Repeat("r", 129)+`"`),
		"requestId with newline":      change(`"r-1"`, `"a\nb"`),
		"requestId with NUL":          change(`"r-1"`, `"a\u0000b"`),
		"requestId a number":          change(`"r-1"`, `1`),
		"memberId missing":            change(`"memberId":"m-1",`, ``),
		"memberId empty":              change(`"m-1"`, `""`),
		"memberId null":               change(`"m-1"`, `null`),
		"memberId of another":         change(`"m-1"`, `"m-2"`),
		"memberId in other case":      change(`"m-1"`, `"M-1"`),
		"memberId long":               change(`"m-1"`, `"`+strings.Repeat("m", 60_000)+`"`),
		"memberEpoch -3":              change(`"memberEpoch":0`, `"memberEpoch":-3`),
		"memberEpoch missing":         change(`"memberEpoch":0,`, ``),
		"memberEpoch 2^63":            change(`"memberEpoch":0`, `"memberEpoch":9223372036854775808`),
		"memberEpoch -2^63-1":         change(`"memberEpoch":0`, `"memberEpoch":-9223372036854775809`),
		"memberEpoch -2^63":           change(`"memberEpoch":0`, `"memberEpoch":-9223372036854775808`),
		"memberEpoch a float":         change(`"memberEpoch":0`, `"memberEpoch":0.0`),
		"memberEpoch 1e400":           change(`"memberEpoch":0`, `"memberEpoch":1e400`),
		"memberEpoch null":            change(`"memberEpoch":0`, `"memberEpoch":null`),
		"metadataVersion -1":          change(`"metadataVersion":0`, `"metadataVersion":-1`),
		"metadataVersion missing":     change(`"metadataVersion":0,`, ``),
		"capacity missing":            instead(t, goodBeat, `,"runtimeConsumerCapacity":{"runtimeMaxConcurrency":1,"availableConcurrency":1}`, ``),
		"capacity null":               capacity(`null`),
		"capacity empty":              capacity(`{}`),
		"capacity without free":       capacity(`{"runtimeMaxConcurrency":1}`),
		"capacity without highest":    capacity(`{"availableConcurrency":1}`),
		"capacity 0":                  capacity(`{"runtimeMaxConcurrency":0,"availableConcurrency":0}`),
		"capacity negative":           capacity(`{"runtimeMaxConcurrency":-1,"availableConcurrency":-1}`),
		"capacity 2^31":               capacity(`{"runtimeMaxConcurrency":2147483648,"availableConcurrency":0}`),
		"free negative":               capacity(`{"runtimeMaxConcurrency":1,"availableConcurrency":-1}`),
		"free above highest":          capacity(`{"runtimeMaxConcurrency":1,"availableConcurrency":2}`),
		"capacity a list":             capacity(`[1,1]`),
		"memberName long":             add(`"memberName":"` + strings.Repeat("n", 251) + `"`),
		"memberName with tab":         add(`"memberName":"a\tb"`),
		"memberName right to left":    add(`"memberName":"a\u202eb"`),
		"memberName line separator":   add(`"memberName":"a\u2028b"`),
		"memberName a number":         add(`"memberName":7`),
		"owned a million":             add(`"ownedShards":` + shardList(12_000)),
		"owned over the limit":        add(`"ownedShards":` + shardList(maxShards+1)),
		"owned negative":              add(`"ownedShards":[{"shardIndex":-1}]`),
		"owned 2^31":                  add(`"ownedShards":[{"shardIndex":2147483648}]`),
		"owned twice":                 add(`"ownedShards":[{"shardIndex":3},{"shardIndex":3}]`),
		"owned without index":         add(`"ownedShards":[{}]`),
		"owned as numbers":            add(`"ownedShards":[0,1]`),
		"owned null entry":            add(`"ownedShards":[null]`),
		"owned an object":             add(`"ownedShards":{}`),
		"owned and revoking":          add(`"ownedShards":[{"shardIndex":3}],"revokingShards":[` + revoking(3, "REVOKING", 0) + `]`),
		"revoking twice":              add(`"revokingShards":[` + revoking(3, "REVOKING", 0) + `,` + revoking(3, "REVOKED", 0) + `]`),
		"revoking negative":           add(`"revokingShards":[` + revoking(-1, "REVOKING", 0) + `]`),
		"revoking state unknown":      add(`"revokingShards":[` + revoking(1, "revoked", 0) + `]`),
		"revoking state long":         add(`"revokingShards":[` + revoking(1, strings.Repeat("S", 500), 0) + `]`),
		"revoking state missing":      add(`"revokingShards":[{"shard":{"shardIndex":1}}]`),
		"revoking shard missing":      add(`"revokingShards":[{"state":"REVOKED"}]`),
		"revoking shard null":         add(`"revokingShards":[{"shard":null,"state":"REVOKED"}]`),
		"inFlight negative":           add(`"revokingShards":[` + revoking(1, "DRAINING", -1) + `]`),
		"ackedAt no time":             add(`"revokingShards":[{"shard":{"shardIndex":1},"state":"REVOKED","ackedAt":"soon"}]`),
		"ackedAt a number":            add(`"revokingShards":[{"shard":{"shardIndex":1},"state":"REVOKED","ackedAt":5}]`),
		"revoking over the limit":     add(`"revokingShards":[` + strings.Repeat(revoking(1, "REVOKED", 0)+",", maxShards) + revoking(2, "REVOKED", 0) + `]`),
		"progress twice":              add(`"shardProgress":[{"shard":{"shardIndex":0},"streamKey":"a"},{"shard":{"shardIndex":0},"streamKey":"a"}]`),
		"progress negative":           add(`"shardProgress":[{"shard":{"shardIndex":-1},"streamKey":"a"}]`),
		"progress without key":        add(`"shardProgress":[{"shard":{"shardIndex":0}}]`),
		"progress key long":           add(`"shardProgress":[{"shard":{"shardIndex":0},"streamKey":"` + strings.Repeat("k", 300) + `"}]`),
		"progress key with newline":   add(`"shardProgress":[{"shard":{"shardIndex":0},"streamKey":"a\nb"}]`),
		"progress id without dash":    add(progress(`,"lastAckedId":"5"`)),
		"progress id empty":           add(progress(`,"lastAckedId":""`)),
		"progress id of letters":      add(progress(`,"lastDeliveredId":"a-b"`)),
		"progress id signed":          add(progress(`,"lastDeliveredId":"-1-1"`)),
		"progress id long":            add(progress(`,"lastDeliveredId":"` + strings.Repeat("1", 21) + `-1"`)),
		"progress pending negative":   add(progress(`,"pendingCount":-1`)),
		"progress updatedAt no time":  add(progress(`,"updatedAt":"2026-13-01T00:00:00Z"`)),
		"progress error unknown":      add(progress(`,"error":"` + strings.Repeat("E", 100) + `"`)),
		"incarnation long":            add(`"sequence":1,"incarnation":"` + strings.Repeat("i", 65) + `"`),
		"incarnation with blank":      add(`"sequence":1,"incarnation":"a b"`),
		"incarnation with brace":      add(`"sequence":1,"incarnation":"{a}"`),
		"incarnation null":            add(`"sequence":1,"incarnation":null`),
		"incarnation without number":  add(`"incarnation":"i1"`),
		"incarnation with sequence 0": add(`"incarnation":"i1","sequence":0`),
		"sequence negative":           add(`"incarnation":"i1","sequence":-1`),
		"sequence 2^63":               add(`"incarnation":"i1","sequence":9223372036854775808`),
		"lineage long":                add(`"lineage":"` + strings.Repeat("l", 65) + `"`),
		"lineage with newline":        add(`"lineage":"a\nb"`),
		"waitMs negative":             add(`"waitMs":-1`),
		"waitMs 2^31":                 add(`"waitMs":2147483648`),
		"waitMs null":                 add(`"waitMs":null`),
	}
	a := startAPI(t)
	t.Cleanup(func() { assert.Empty(t, a.seen(), "nothing may reach the layer below") })
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := a.call(t, "POST", beat, body)
			requireRefusal(t, got, 400, protocol.CodeInvalidRequest, body)
		})
	}
}

// Reliability section 4, Heartbeat: what only the state can judge goes on as it is.
func TestHeartbeatsThatTheStateJudgesReachIt(t *testing.T) {
	t.Parallel()
	change := func(old, value string) string { return instead(t, goodBeat, old, value) }
	add := func(member string) string { return with(goodBeat, member) }
	tests := map[string]string{
		"protocol version 99":           change(`"protocolVersion":1`, `"protocolVersion":99`),
		"leave":                         change(`"memberEpoch":0`, `"memberEpoch":-1`),
		"suspend":                       change(`"memberEpoch":0`, `"memberEpoch":-2`),
		"minus zero":                    change(`"memberEpoch":0`, `"memberEpoch":-0`),
		"memberEpoch 2^63-1 (M1)":       change(`"memberEpoch":0`, `"memberEpoch":9223372036854775807`),
		"metadataVersion 2^63-1":        change(`"metadataVersion":0`, `"metadataVersion":9223372036854775807`),
		"index outside (R1)":            add(`"ownedShards":[{"shardIndex":2147483647}]`),
		"as many shards as allowed":     add(`"ownedShards":` + shardList(maxShards)),
		"REVOKED with work (R4)":        add(`"revokingShards":[` + revoking(1, "REVOKED", 5) + `]`),
		"revoking without inFlight":     add(`"revokingShards":[{"shard":{"shardIndex":1},"state":"REVOKED"}]`),
		"ackedAt in the future":         add(`"revokingShards":[{"shard":{"shardIndex":1},"state":"REVOKED","ackedAt":"9999-12-31T23:59:59.999Z"}]`),
		"null lists":                    add(`"ownedShards":null,"revokingShards":null,"shardProgress":null,"memberName":null`),
		"memberName of any script":      add(`"memberName":"Zoë 😀 {x} a:b"`),
		"full progress":                 add(progress(`,"lastDeliveredId":"1700000000000-0","lastAckedId":null,"pendingCount":3,"updatedAt":"2026-01-01T00:00:00Z","error":"GROUP_MISSING"`)),
		"longest stream id":             add(progress(`,"lastAckedId":"18446744073709551615-18446744073709551615"`)),
		"incarnation, sequence, wait":   add(`"incarnation":"01JABCDEF","sequence":1,"lineage":"01JXYZ","waitMs":500`),
		"sequence without incarnation":  add(`"sequence":7`),
		"empty incarnation and lineage": add(`"incarnation":"","lineage":""`),
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startAPI(t)
			got := a.call(t, "POST", beat, body)
			require.Equalf(t, 200, got.status, "%s", got.body)
			require.Equal(t, []string{"Heartbeat orders billing m-1"}, a.seen())
		})
	}
}

func TestHeartbeatReachesTheLayerBelowUnchanged(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	a.call(t, "POST", beat, with(goodBeat, `"memberName":"n","ownedShards":[{"shardIndex":2}],`+
		`"revokingShards":[`+revoking(5, "REVOKED", 2)+`],`+progress(`,"pendingCount":4`)+
		`,"incarnation":"i1","sequence":9,"lineage":"L","waitMs":3`))
	name := "n"
	require.Equal(t, &protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: "r-1", MemberID: "m-1", MemberName: &name,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1},
		OwnedShards:             []protocol.ShardID{{ShardIndex: 2}},
		RevokingShards:          []protocol.RevokingShard{{Shard: protocol.ShardID{ShardIndex: 5}, State: protocol.Revoked, InFlight: 2}},
		ShardProgress:           []protocol.ShardProgress{{StreamKey: "orders:0", PendingCount: 4}},
		Incarnation:             "i1", Sequence: 9, Lineage: "L", WaitMs: 3,
	}, a.heard)
}
