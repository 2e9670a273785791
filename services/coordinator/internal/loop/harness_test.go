package loop_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/memstore"
)

var orders = store.Key{Stream: "orders", Group: "g"}

// machine is a store with a counted door, in a bubble whose time is the store's clock.
type machine struct {
	t      *testing.T
	kept   *memstore.Store
	door   *door
	nonces atomic.Int64
	skew   atomic.Int64 // milliseconds that the store's clock is ahead of the process's
}

// door counts what goes through and can be closed.
type door struct {
	store.Store
	loads, touches, commits atomic.Int64
	down                    atomic.Bool
	garble                  atomic.Bool // aggregates of groups are read as nonsense
	beforeWrite             func()      // called once before the next write
	mu                      sync.Mutex
}

func (d *door) enter(counter *atomic.Int64) error {
	counter.Add(1)
	if d.down.Load() {
		return &store.UnavailableError{State: "UNREACHABLE", Cause: context.DeadlineExceeded}
	}
	return nil
}

func (d *door) interfere() {
	d.mu.Lock()
	f := d.beforeWrite
	d.beforeWrite = nil
	d.mu.Unlock()
	if f != nil {
		f()
	}
}

func (d *door) Load(ctx context.Context, key store.Key, known store.Version) (store.Snapshot, error) {
	if err := d.enter(&d.loads); err != nil {
		return store.Snapshot{}, err
	}
	loaded, err := d.Store.Load(ctx, key, known)
	if d.garble.Load() && loaded.Record != nil && key.Group != "" {
		loaded.Record.Aggregate = []byte("{")
	}
	return loaded, err
}

func (d *door) Touch(ctx context.Context, t store.Touch) (store.Touched, error) {
	if err := d.enter(&d.touches); err != nil {
		return store.Touched{}, err
	}
	d.interfere()
	return d.Store.Touch(ctx, t)
}

func (d *door) Commit(ctx context.Context, c store.Commit) (store.Committed, error) {
	if err := d.enter(&d.commits); err != nil {
		return store.Committed{}, err
	}
	d.interfere()
	return d.Store.Commit(ctx, c)
}

// bubble runs a test in synthetic time.
func bubble(t *testing.T, test func(m *machine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &machine{t: t}
		m.kept = memstore.New(func() store.Millis { return store.Millis(time.Now().UnixMilli() + m.skew.Load()) })
		m.door = &door{Store: m.kept}
		test(m)
	})
}

// pass lets time go by; in a bubble it takes none.
func (m *machine) pass(d time.Duration) { require.NoError(m.t, clock.Sleep(m.t.Context(), d)) }

func (m *machine) nonce() string { return fmt.Sprintf("N%d", m.nonces.Add(1)) }

func (m *machine) create(key store.Key, shards int) {
	g := group.New(group.DefaultConfig(), group.Birth{
		StreamPrefix: key.Stream, ConsumerGroup: key.Group, Layout: group.Whole(shards), Lineage: m.nonce(), Identity: memstore.Identity,
	})
	aggregate, err := codec.EncodeGroup(codec.Schema, g)
	require.NoError(m.t, err)
	_, err = m.kept.Create(m.t.Context(), store.Create{Key: key, Token: m.nonce(), Schema: codec.Schema, Aggregate: aggregate})
	require.NoError(m.t, err)
}

// coordinator starts a loop; its ticks run when ticking.
func (m *machine) coordinator(ticking bool) *loop.Loop {
	l := loop.New(loop.DefaultConfig(), m.door, m.nonce, slog.New(slog.DiscardHandler))
	if ticking {
		l.Start()
	}
	m.t.Cleanup(func() { require.NoError(m.t, l.Close(context.WithoutCancel(m.t.Context()))) })
	return l
}

// member is a client that reports what it was last told.
type member struct {
	id, incarnation string
	sequence, epoch int64
	version         int64
	lineage         string
	owned           []protocol.ShardID
}

func (m *member) request() *protocol.HeartbeatRequest {
	m.sequence++
	req := &protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: m.id + strconv.FormatInt(m.sequence, 10), MemberID: m.id,
		MemberEpoch: m.epoch, MetadataVersion: m.version, Incarnation: m.incarnation, Sequence: m.sequence, Lineage: m.lineage,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1},
	}
	if m.epoch > 0 {
		req.OwnedShards = m.owned
	}
	return req
}

func (m *member) beat(t *testing.T, l *loop.Loop) *protocol.HeartbeatResponse {
	t.Helper()
	answer, err := l.Heartbeat(t.Context(), "orders", "g", m.request())
	require.NoError(t, err)
	switch answer.Status {
	case protocol.StatusOK:
		m.owned = answer.Assignment.AssignedShards
		m.epoch, m.version, m.lineage = answer.MemberEpoch, answer.MetadataVersion, answer.Lineage
	case protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch:
		m.epoch, m.version, m.lineage, m.owned = 0, 0, "", nil
	case protocol.StatusSyncMetadata, protocol.StatusRevokePending:
		m.epoch, m.version, m.lineage = answer.MemberEpoch, answer.MetadataVersion, answer.Lineage
	case protocol.StatusRetry, protocol.StatusInvalidRequest, protocol.StatusUnsupportedProtocol:
	}
	return answer
}

func shardsOf(answer *protocol.HeartbeatResponse) []int {
	list := []int{}
	for _, shard := range answer.Assignment.AssignedShards {
		list = append(list, shard.ShardIndex)
	}
	return list
}
