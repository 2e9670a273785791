package reshard_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/reshard"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
)

// L1: what a coordinator has begun and left, another one finds.
func TestL1AnotherCoordinatorFindsTheWorkThatOneLeft(t *testing.T) {
	t.Parallel()
	b := newBench(t, redisproc.Start(t).Client(t))
	b.cfg.Scan = 20 * time.Millisecond
	b.lead = b.still()
	b.create(2, "a")
	id := b.scaled(3)
	require.Equal(t, protocol.MigrationPreparing, b.migration(id).State)
	b.start()
	b.becomes(id, protocol.MigrationDeprecated)
}

// One stream that cannot go on keeps no other one: its problem is told, and it goes on when
// it is repaired, forward or back (M6).
func TestStreamWithACorruptGroupStopsNoOtherAndGoesOnWhenRepaired(t *testing.T) {
	t.Parallel()
	for _, end := range []protocol.MigrationState{protocol.MigrationDeprecated, protocol.MigrationRolledBack} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			b := quick(t, 4, "a", "b")
			other := &bench{t: t, rdb: b.rdb, prefix: "others", lead: b.lead}
			other.create(2, "a")
			b.publish(2, 1)
			id := b.scaled(2)
			b.keptFor(id, 2, protocol.DrainUnread)
			b.await("one is sealed", func() bool { return b.drain(id, 3).Phase == protocol.DrainSealed })
			b.do("HSET", b.groupKey("b"), "revision", "x")
			b.await("a problem", func() bool {
				return b.migration(id).Progress.LastError != nil && len(b.lead.driver.Problems()) == 1
			})
			require.Contains(t, *b.migration(id).Progress.LastError, `"b"`)
			require.Contains(t, b.lead.driver.Problems()[0], `"orders"`)
			for _, to := range []int{4, 1, 3} {
				other.becomes(other.scaled(to), protocol.MigrationDeprecated)
			}
			_, err := b.lead.catalog.CreateGroup(t.Context(), b.prefix, "b", protocol.CreateGroupRequest{RequestedBy: "t"})
			require.NoError(t, err, "its repair is allowed meanwhile")
			require.Equal(t, []int{3}, b.group("b").Closed, "it begins with the stream's layout")
			if end == protocol.MigrationRolledBack {
				b.await("a rollback is taken", func() bool { return b.rollback(id) == nil })
			}
			b.join("a", "a-1")
			b.join("b", "b-1")
			b.becomes(id, end)
			b.await("no problem", func() bool { return len(b.lead.driver.Problems()) == 0 })
			b.settled()
			for _, in := range []string{"a", "b"} {
				b.await("handled", func() bool { n, _ := b.handledBy(in); return n == 1 })
			}
		})
	}
}

// A stream that cannot go on is tried less and less often, until an operator orders
// something.
func TestOrderOfAnOperatorIsNotHeldBackByFormerFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t, redisproc.Start(t).Client(t))
	b.cfg.Interval = time.Hour
	d := b.still().driver
	d.Wake("orders")
	require.Equal(t, []string{"orders"}, d.Ready())
	d.Note("orders", errors.New("away"))
	require.Empty(t, d.Ready())
	d.Wake("orders")
	require.Equal(t, []string{"orders"}, d.Ready())
}

func TestClosedDriverEndsTheCallUnderWay(t *testing.T) {
	t.Parallel()
	b := newBench(t, redisproc.Start(t).Client(t))
	b.lead = b.still()
	b.create(2, "a")
	b.scaled(3)
	entered := make(chan struct{}, 1)
	b.lead.kept.Before(func(ctx context.Context, call storetest.Call) error {
		if call.Op != "Load" || call.Key.Group != "a" {
			return nil
		}
		select {
		case entered <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return ctx.Err()
	})
	b.lead.driver.Start()
	<-entered
	require.NoError(t, b.lead.driver.Close(t.Context()))
	b.lead.kept.Before(nil)
	require.Equal(t, 2, b.stream().ShardCount)
}

// storage, provisioning.enabled false.
func TestWithoutProvisioningNothingIsScaled(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	log := slog.New(slog.DiscardHandler)
	kept := records.Records{Store: b.lead.kept, Nonce: func() string { return "n" }, LeaseTTL: time.Second, Schema: codec.Newest, Log: log}
	off := reshard.NewService(b.cfg, kept, b.lead.loop, nil, nil, kept.Nonce)
	_, err := off.Scale(t.Context(), b.prefix, protocol.ScaleRequest{TargetShardCount: new(4)})
	requireCode(t, err, protocol.CodeRedisNotConfigured)
	_, err = off.Rollback(t.Context(), b.prefix, "a", "x", protocol.RollbackRequest{})
	requireCode(t, err, protocol.CodeRedisNotConfigured)
	_, err = off.ConfirmDrain(t.Context(), b.prefix, "a", "x", protocol.ConfirmDrainRequest{ShardIndex: new(1)})
	requireCode(t, err, protocol.CodeRedisNotConfigured)
	plan, err := off.PlanScale(t.Context(), b.prefix, protocol.ScaleRequest{TargetShardCount: new(4)})
	require.NoError(t, err)
	require.Equal(t, protocol.CodeRedisNotConfigured, plan.Refusal.ErrorCode)
	id := b.scaled(3)
	b.becomes(id, protocol.MigrationDeprecated)
	_, err = off.Migration(t.Context(), b.prefix, "a", id)
	require.NoError(t, err, "what there was can be shown")
}
