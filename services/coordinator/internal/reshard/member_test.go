package reshard_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// member is a consumer that reports, reads what it is given and acknowledges it.
type member struct {
	*bench
	id, in   string
	at       *coordinator // nil asks the bench's
	sequence int64
	epoch    int64
	version  int64
	lineage  string
	owned    []int
	acked    map[int]string // by shard, the last id
	missing  map[int]string // by shard, what it reports
	handled  map[string]int // how often each record was handled, by key and id
	claimed  map[int]bool   // shards where it has looked for what others left pending

	open  int64 // how many records it says are pending
	mute  bool  // does not report, nor read
	idle  bool  // reports but reads nothing
	skips []int
	keeps []int // does not let go of these shards
}

// join adds a member to a group.
func (b *bench) join(in, id string) *member {
	b.t.Helper()
	m := &member{
		bench: b, id: id, in: in, acked: map[int]string{}, missing: map[int]string{}, handled: map[string]int{}, claimed: map[int]bool{},
	}
	b.crew = append(b.crew, m)
	return m
}

// turn is one heartbeat and what follows from it.
func (m *member) turn() {
	m.t.Helper()
	if m.mute {
		return
	}
	at := m.at
	if at == nil {
		at = m.lead
	}
	answer, err := at.loop.Heartbeat(m.t.Context(), m.prefix, m.in, m.request())
	require.NoError(m.t, err)
	m.follow(answer)
	if !m.idle {
		m.read()
	}
}

func (m *member) request() *protocol.HeartbeatRequest {
	m.sequence++
	req := &protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: m.id + strconv.FormatInt(m.sequence, 10), MemberID: m.id, MemberEpoch: m.epoch,
		MetadataVersion: m.version, Incarnation: m.id + "-1", Sequence: m.sequence, Lineage: m.lineage,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1},
	}
	if m.epoch == 0 {
		return req
	}
	for _, index := range m.owned {
		shard := protocol.ShardID{ShardIndex: index}
		req.OwnedShards = append(req.OwnedShards, shard)
		progress := protocol.ShardProgress{Shard: shard, StreamKey: m.key(index), Error: m.missing[index], PendingCount: m.open}
		if id, known := m.acked[index]; known {
			progress.LastAckedID = &id
		}
		req.ShardProgress = append(req.ShardProgress, progress)
	}
	return req
}

func (m *member) follow(answer *protocol.HeartbeatResponse) {
	var assigned []int
	for _, shard := range answer.Assignment.AssignedShards {
		assigned = append(assigned, shard.ShardIndex)
	}
	mine := func(index int) bool { return slices.Contains(assigned, index) || slices.Contains(m.keeps, index) }
	switch answer.Status {
	case protocol.StatusOK:
		for _, index := range m.owned {
			if !slices.Contains(assigned, index) && mine(index) {
				assigned = append(assigned, index)
			}
		}
		m.owned = assigned
	case protocol.StatusSyncMetadata, protocol.StatusRevokePending: // A3: nothing new
		m.owned = slices.DeleteFunc(m.owned, func(index int) bool { return !mine(index) })
	case protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch:
		m.epoch, m.version, m.lineage, m.owned = 0, 0, "", nil
		return
	case protocol.StatusRetry, protocol.StatusInvalidRequest, protocol.StatusUnsupportedProtocol:
		return
	}
	m.epoch, m.version, m.lineage = answer.MemberEpoch, answer.MetadataVersion, answer.Lineage
}

// read takes and acknowledges what waits on the shards that it has.
func (m *member) read() {
	m.t.Helper()
	maps.DeleteFunc(m.claimed, func(index int, _ bool) bool { return !slices.Contains(m.owned, index) })
	for _, index := range m.owned {
		if slices.Contains(m.skips, index) {
			continue
		}
		found, err := m.take(m.t.Context(), index)
		if err != nil {
			m.missing[index] = m.reasonOf(err, m.key(index))
			continue
		}
		delete(m.missing, index)
		for _, record := range found {
			require.NoError(m.t, m.rdb.XAck(m.t.Context(), m.key(index), m.in, record.ID).Err())
			m.handled[m.key(index)+" "+record.ID]++
			m.acked[index] = record.ID
		}
	}
}

// take returns new records, and at first those that another consumer left pending.
func (m *member) take(ctx context.Context, index int) (left []redis.XMessage, err error) {
	key := m.key(index)
	if !m.claimed[index] {
		left, _, err = m.rdb.XAutoClaim(ctx, &redis.XAutoClaimArgs{
			Stream: key, Group: m.in, Consumer: m.id, Start: "0-0", Count: 100,
		}).Result()
		if err != nil {
			return nil, err
		}
		m.claimed[index] = true
	}
	found, err := m.rdb.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: m.in, Consumer: m.id, Streams: []string{key, ">"}, Count: 100, Block: -1,
	}).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	for _, stream := range found {
		left = append(left, stream.Messages...)
	}
	return left, nil
}

// reasonOf says what is missing (L12).
func (m *member) reasonOf(err error, key string) string {
	m.t.Helper()
	if strings.HasPrefix(err.Error(), "NOGROUP") && m.rdb.Exists(m.t.Context(), key).Val() == 1 {
		return protocol.ShardErrorGroupMissing
	}
	return protocol.ShardErrorStreamMissing
}

// handledBy tells how many records of a group were handled, and how many more than once.
func (b *bench) handledBy(in string) (records, twice int) {
	times := map[string]int{}
	for _, m := range b.crew {
		if m.in != in {
			continue
		}
		for record, n := range m.handled {
			times[record] += n
		}
	}
	for _, n := range times {
		if n > 1 {
			twice++
		}
	}
	return len(times), twice
}
