package app_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// lease is the member lease of settings.
const lease = protocol.DefaultMemberLease

// flow is a group of four shards on a Redis of the test, whose first member reads all of
// them when the second joins: it is told to drop two.
type flow struct {
	t     *testing.T
	redis *redisproc.Server
	rdb   *redis.Client
	c     *coordinator // the one that recorded the drain
	a, b  *member
	kept  []protocol.ShardID // of a
	moved []protocol.ShardID // to b
}

// startFlow returns a flow in which a has not yet heard what it was told.
func startFlow(t *testing.T) *flow {
	t.Helper()
	server := redisproc.Start(t)
	f := &flow{
		t: t, redis: server, rdb: server.Client(t), c: start(t, settings(server), app.Deps{}),
		a: newMember("ma", ordersURL), b: newMember("mb", ordersURL),
	}
	f.c.createOrders("billing")
	settle(f.c, f.a)
	joined := f.b.beat(f.c)
	require.Equal(t, protocol.StatusOK, joined.Status)
	require.Empty(t, joined.Assignment.AssignedShards)
	f.moved = joined.Assignment.PendingShards
	require.Len(t, f.moved, 2)
	for _, one := range f.a.owned {
		if !slices.Contains(f.moved, one) {
			f.kept = append(f.kept, one)
		}
	}
	return f
}

// another starts a coordinator that knows only what is in the Redis.
func (f *flow) another() *coordinator { return start(f.t, settings(f.redis), app.Deps{}) }

// hash is the group's record as it is stored.
func (f *flow) hash() map[string]string {
	f.t.Helper()
	fields, err := f.rdb.HGetAll(f.t.Context(), ordersKey).Result()
	require.NoError(f.t, err)
	return fields
}

// revision counts the structural commits.
func (f *flow) revision() int {
	f.t.Helper()
	revision, err := strconv.Atoi(f.hash()["revision"])
	require.NoError(f.t, err)
	return revision
}

// putBack replaces the record by an older one on the live server.
func (f *flow) putBack(older map[string]string) {
	f.t.Helper()
	_, err := f.rdb.TxPipelined(f.t.Context(), func(p redis.Pipeliner) error {
		p.Del(f.t.Context(), ordersKey)
		p.HSet(f.t.Context(), ordersKey, older)
		return nil
	})
	require.NoError(f.t, err)
}

// now is the store's clock.
func (f *flow) now() time.Time {
	f.t.Helper()
	now, err := f.rdb.Time(f.t.Context()).Result()
	require.NoError(f.t, err)
	return now
}

func (f *flow) group(c *coordinator) protocol.GroupResponse {
	f.t.Helper()
	var group protocol.GroupResponse
	status, _ := c.call("GET", ordersURL, nil, &group)
	require.Equal(f.t, 200, status)
	return group
}

// holders returns who holds each shard, by index.
func (f *flow) holders(c *coordinator) map[int]string {
	f.t.Helper()
	var all protocol.AssignmentsResponse
	status, _ := c.call("GET", "/coord/v1/monitoring/streams/orders/groups/billing/assignments", nil, &all)
	require.Equal(f.t, 200, status)
	held := map[int]string{}
	for id, list := range all.CurrentAssignments {
		for _, shard := range list {
			require.NotContains(f.t, held, shard.ShardIndex)
			held[shard.ShardIndex] = id
		}
	}
	return held
}

// report is a heartbeat with these reports whose answer is lost, unless the test has the
// member learn it.
func (m *member) report(c *coordinator, owned []protocol.ShardID, revoking ...protocol.RevokingShard) protocol.HeartbeatResponse {
	c.t.Helper()
	m.sequence++
	request := protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: m.id + "-" + strconv.FormatInt(m.sequence, 10), MemberID: m.id, MemberEpoch: m.epoch,
		MetadataVersion: m.version, Lineage: m.lineage, Incarnation: "01J0000000000000000000" + m.id, Sequence: m.sequence,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1},
		OwnedShards:             owned, RevokingShards: revoking,
	}
	var answer protocol.HeartbeatResponse
	status, _ := c.call("POST", m.url+"/members/"+m.id+"/heartbeat", request, &answer)
	require.Equalf(c.t, 200, status, "%+v", answer)
	return answer
}

// learn takes an answer over as a client does: only OK adds shards (A3).
func (m *member) learn(answer *protocol.HeartbeatResponse) {
	switch answer.Status {
	case protocol.StatusOK:
		m.owned = answer.Assignment.AssignedShards
	case protocol.StatusSyncMetadata, protocol.StatusRevokePending:
		m.owned = slices.DeleteFunc(slices.Clone(m.owned), func(shard protocol.ShardID) bool {
			return !slices.Contains(answer.Assignment.AssignedShards, shard)
		})
	case protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch:
		m.epoch, m.owned = protocol.EpochJoin, nil
		return
	case protocol.StatusRetry, protocol.StatusInvalidRequest, protocol.StatusUnsupportedProtocol:
		return
	}
	m.epoch, m.version, m.lineage = answer.MemberEpoch, answer.MetadataVersion, answer.Lineage
}

// heard is a report whose answer arrives.
func (m *member) heard(c *coordinator, owned []protocol.ShardID, revoking ...protocol.RevokingShard) protocol.HeartbeatResponse {
	c.t.Helper()
	answer := m.report(c, owned, revoking...)
	m.learn(&answer)
	return answer
}

// draining reports shards as being given back, with one record in hand each.
func draining(shards []protocol.ShardID) []protocol.RevokingShard {
	return revoking(protocol.Draining, 1, shards)
}

// revoked reports shards as given back.
func revoked(shards []protocol.ShardID) []protocol.RevokingShard {
	return revoking(protocol.Revoked, 0, shards)
}

func revoking(state protocol.RevokingState, inFlight int, shards []protocol.ShardID) []protocol.RevokingShard {
	list := make([]protocol.RevokingShard, 0, len(shards))
	for _, shard := range shards {
		list = append(list, protocol.RevokingShard{Shard: shard, State: state, InFlight: inFlight})
	}
	return list
}

// all returns both lists in one.
func all(lists ...[]protocol.ShardID) []protocol.ShardID { return slices.Concat(lists...) }

// requireSame fails unless two answers are one decision (A1).
func requireSame(t *testing.T, first, second protocol.HeartbeatResponse) {
	t.Helper()
	require.Equal(t, first.Status, second.Status)
	require.Equal(t, first.MemberEpoch, second.MemberEpoch)
	require.Equal(t, first.MetadataVersion, second.MetadataVersion)
	require.Equal(t, first.AssignmentEpoch, second.AssignmentEpoch)
	require.Equal(t, first.Lineage, second.Lineage)
	require.Equal(t, first.Assignment, second.Assignment)
}

// requireHeld fails unless exactly these members hold exactly these shards.
func requireHeld(t *testing.T, held map[int]string, want map[string][]protocol.ShardID) {
	t.Helper()
	expected := map[int]string{}
	for id, list := range want {
		for _, shard := range list {
			expected[shard.ShardIndex] = id
		}
	}
	require.True(t, maps.Equal(expected, held), "want %v, have %v", expected, held)
}
