package peers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/peers"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/memstore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// archive is a store with a stream and its groups, and what writes them.
type archive struct {
	t       *testing.T
	kept    *storetest.Faulty
	loop    *loop.Loop
	streams records.Records
}

func newArchive(t *testing.T) *archive {
	t.Helper()
	var now, nonces atomic.Int64
	now.Store(1_000_000)
	nonce := func() string { return fmt.Sprintf("N%d", nonces.Add(1)) }
	a := &archive{t: t, kept: storetest.NewFaulty(memstore.New(func() store.Millis { return store.Millis(now.Load()) }))}
	a.loop = loop.New(loop.DefaultConfig(), a.kept, nonce, slog.New(slog.DiscardHandler))
	a.streams = records.Records{Store: a.kept, Nonce: nonce, LeaseTTL: time.Second, Schema: codec.Newest, Log: slog.New(slog.DiscardHandler)}
	t.Cleanup(func() { require.NoError(t, a.loop.Close(context.WithoutCancel(t.Context()))) })
	return a
}

// put stores a stream's or a group's record under the number of a schema.
func (a *archive) put(key store.Key, schema int) {
	a.t.Helper()
	var aggregate []byte
	var err error
	if key.Group == "" {
		aggregate, err = codec.EncodeStream(codec.Schema, stream.Stream{
			Prefix: key.Stream, ShardCount: 2, MetadataVersion: 1, Lineage: "L", Groups: []stream.Group{{Name: "billing", State: stream.Active}},
		})
	} else {
		aggregate, err = codec.EncodeGroup(codec.Schema, group.New(group.DefaultConfig(), group.Birth{
			StreamPrefix: key.Stream, ConsumerGroup: key.Group, Layout: group.Whole(2), Lineage: "L", Now: 1_000_000,
		}))
	}
	require.NoError(a.t, err)
	_, err = a.kept.Create(a.t.Context(), store.Create{Key: key, Token: "first", Schema: schema, Aggregate: aggregate})
	require.NoError(a.t, err)
}

func (a *archive) load(key store.Key) store.Snapshot {
	a.t.Helper()
	found, err := a.kept.Load(a.t.Context(), key, store.Version{})
	require.NoError(a.t, err)
	return found
}

// below is a schema that is older than what the archive's records are in.
const below = codec.Schema - 1

func keys() []store.Key {
	return []store.Key{{Stream: "orders"}, {Stream: "orders", Group: "audit"}, {Stream: "orders", Group: "billing"}}
}

// TestRecordsAreCommittedAsTheyAre: another version, and nothing else differs.
func TestRecordsAreCommittedAsTheyAre(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	for _, key := range keys() {
		a.put(key, codec.Schema)
	}
	before := a.load(keys()[2])
	require.NoError(t, peers.Lower(a.kept, a.streams, a.loop)(t.Context(), below))
	for _, key := range keys() {
		require.EqualValues(t, 2, a.load(key).Version.Revision, key)
	}
	was, err := codec.DecodeGroup(codec.Schema, before.Record.Aggregate)
	require.NoError(t, err)
	is, err := codec.DecodeGroup(codec.Schema, a.load(keys()[2]).Record.Aggregate)
	require.NoError(t, err)
	was.MetadataVersion++
	was.Identity = is.Identity // it learns the store's with its first commit (M1)
	require.Equal(t, was, is)
	events, err := a.kept.History(t.Context(), keys()[2], "", 10)
	require.NoError(t, err)
	require.Len(t, events, 1)
	require.Contains(t, string(events[0].Data), "written again in schema")
}

func TestRecordsThatAllReadStayAsTheyAre(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	for _, key := range keys() {
		a.put(key, codec.Schema)
	}
	require.NoError(t, peers.Lower(a.kept, a.streams, a.loop)(t.Context(), codec.Schema))
	for _, key := range keys() {
		require.EqualValues(t, 1, a.load(key).Version.Revision, key)
	}
}

// TestOneRecordInTheWayDoesNotKeepTheOthers, and is told.
func TestOneRecordInTheWayDoesNotKeepTheOthers(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	for _, key := range keys() {
		a.put(key, codec.Schema)
	}
	a.kept.Before(func(_ context.Context, call storetest.Call) error {
		if call.Op == "Commit" && call.Key == keys()[1] {
			return &store.UnavailableError{State: "TIMEOUT", Cause: errors.New("slow")}
		}
		return nil
	})
	rewrite := peers.Lower(a.kept, a.streams, a.loop)
	require.ErrorContains(t, rewrite(t.Context(), below), "orders:audit")
	require.EqualValues(t, 1, a.load(keys()[1]).Version.Revision)
	require.EqualValues(t, 2, a.load(keys()[2]).Version.Revision)
	a.kept.Before(nil)
	require.NoError(t, rewrite(t.Context(), below))
	require.EqualValues(t, 2, a.load(keys()[1]).Version.Revision)
}
