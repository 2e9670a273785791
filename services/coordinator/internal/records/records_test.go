package records_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/memstore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk keeps records in a store that fails on command.
type desk struct {
	records.Records
	kept *storetest.Faulty
	now  atomic.Int64
}

func open() *desk {
	d := &desk{}
	d.now.Store(1000)
	d.kept = storetest.NewFaulty(memstore.New(func() store.Millis { return store.Millis(d.now.Load()) }))
	var nonces atomic.Int64
	d.Records = records.Records{
		Store: d.kept, Nonce: func() string { return fmt.Sprintf("N%d", nonces.Add(1)) }, LeaseTTL: time.Second,
		Schema: codec.Newest,
		Log:    slog.New(slog.DiscardHandler),
	}
	return d
}

func orders(version int64) stream.Stream {
	return stream.Stream{Prefix: "orders", ShardCount: 2, MetadataVersion: version, Lineage: "L", Groups: []stream.Group{}}
}

func requireCode(t *testing.T, err error, code protocol.Code) {
	t.Helper()
	var fault *protocol.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, code, fault.Code, fault.Message)
}

// L1: the record is changed by compare-and-set, so one of two changes holds.
func TestL1OfTwoChangesOfARecordOneHolds(t *testing.T) {
	t.Parallel()
	d, ctx := open(), t.Context()
	_, found, err := d.Load(ctx, "orders")
	require.NoError(t, err)
	require.False(t, found)

	var made, late records.Entry
	require.NoError(t, d.Save(ctx, &made, orders(1), ""))
	require.EqualValues(t, 1, made.Version.Revision)
	requireCode(t, d.Save(ctx, &late, orders(1), ""), protocol.CodeStateVersionConflict)

	first, found, err := d.Load(ctx, "orders")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, orders(1), first.Stream)
	require.Equal(t, made.Version, first.Version)
	second := first
	require.NoError(t, d.Save(ctx, &first, orders(2), ""))
	require.Equal(t, orders(2), first.Stream)
	wide := orders(2)
	wide.ShardCount = 9
	requireCode(t, d.Save(ctx, &second, wide, ""), protocol.CodeStateVersionConflict)
	require.Equal(t, orders(1), second.Stream, "an entry is what is stored, or was")
	loaded, _, err := d.Load(ctx, "orders")
	require.NoError(t, err)
	require.Equal(t, 2, loaded.Stream.ShardCount)
}

func TestSaveOfWhatIsThereWritesNothing(t *testing.T) {
	t.Parallel()
	d := open()
	var e records.Entry
	require.NoError(t, d.Save(t.Context(), &e, orders(1), ""))
	before := e
	d.kept.Before(func(_ context.Context, call storetest.Call) error { return errors.New(call.Op) })
	require.NoError(t, d.Save(t.Context(), &e, orders(1), ""))
	require.Equal(t, before, e)
}

// L1: a workflow whose lease has run out does not write any more.
func TestL1WorkflowThatLostItsLeaseWritesNothing(t *testing.T) {
	t.Parallel()
	d, ctx := open(), t.Context()
	var e records.Entry
	require.NoError(t, d.Save(ctx, &e, orders(1), ""))
	err := d.Alone(ctx, "orders", func(lease store.Lease) error {
		d.now.Add(2000)
		return d.Alone(ctx, "orders", func(store.Lease) error {
			return d.Save(ctx, &e, orders(2), lease.Token())
		})
	})
	requireCode(t, err, protocol.CodeStateVersionConflict)
	loaded, _, err := d.Load(ctx, "orders")
	require.NoError(t, err)
	require.Equal(t, orders(1), loaded.Stream)
}

func TestAloneKeepsWorkflowsOfOneStreamApart(t *testing.T) {
	t.Parallel()
	d := open()
	ctx, stop := context.WithCancel(t.Context())
	ran := false
	err := d.Alone(ctx, "orders", func(store.Lease) error {
		requireCode(t, d.Alone(ctx, "orders", func(store.Lease) error { return nil }), protocol.CodeStateMutexUnavailable)
		require.NoError(t, d.Alone(ctx, "others", func(store.Lease) error { ran = true; return nil }))
		stop() // the caller is gone
		return errors.New("of the workflow")
	})
	require.EqualError(t, err, "of the workflow")
	require.True(t, ran, "another stream's")
	require.NoError(t, d.Alone(t.Context(), "orders", func(store.Lease) error { return nil }), "the lease was given back")
}

// M6: what cannot be read is named, and a store that is away is not taken for no record.
func TestM6FaultsOfTheStoreAreNamed(t *testing.T) {
	t.Parallel()
	d, ctx := open(), t.Context()
	var e records.Entry
	require.NoError(t, d.Save(ctx, &e, orders(1), ""))
	key := store.Key{Stream: "orders"}
	_, err := d.kept.Commit(ctx, store.Commit{Key: key, Prev: e.Version, Token: "x", Schema: codec.Schema, Aggregate: []byte("{}")})
	require.NoError(t, err)
	_, _, err = d.Load(ctx, "orders")
	requireCode(t, err, protocol.CodeMetadataCorrupt)

	away := &store.UnavailableError{State: "TIMEOUT", Cause: context.DeadlineExceeded}
	d.kept.Before(func(context.Context, storetest.Call) error { return away })
	_, _, err = d.Load(ctx, "orders")
	requireCode(t, err, protocol.CodeStoreUnavailable)
	requireCode(t, d.Save(ctx, &e, orders(2), ""), protocol.CodeStoreUnavailable)
	requireCode(t, d.Alone(ctx, "orders", func(store.Lease) error { return nil }), protocol.CodeStoreUnavailable)
}
