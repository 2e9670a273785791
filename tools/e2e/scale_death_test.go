package e2e_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// stuck is the shard that a guest's Redis group keeps from being sealed.
const stuck = 7

// alsoStuck is another one, until it is let go.
const alsoStuck = 6

const (
	// everyStep is the setting of how often a coordinator takes a change further.
	everyStep    = "--coordination-event-loop-reshard-interval"
	quick, never = "100ms", "1h"
	// streamLease is the key that a coordinator holds while it works on the stream.
	streamLease = "redis-stream:coord:{" + stream + "}:stream:lease"
)

// TestAReshardingOutlivesItsCoordinator: the coordinator that carries out a change from 8
// to 3 shards is killed in each state of it; another one, which was stopped meanwhile and
// so knows nothing of it, goes on from there (protocol L1, I9).
func TestAReshardingOutlivesItsCoordinator(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		interval string       // how often the coordinator that dies takes a step
		held     []int        // shards that a guest keeps from being sealed
		until    func(*death) // the moment to die is there
		phase    string
		end      protocol.MigrationState
	}{
		"PREPARING":    {never, []int{stuck}, func(*death) {}, "PREPARING", protocol.MigrationDeprecated},
		"ACTIVE":       {quick, []int{stuck}, (*death).active, "ACTIVE", protocol.MigrationDeprecated},
		"DRAINING":     {quick, []int{stuck}, (*death).sealing, "DRAINING", protocol.MigrationDeprecated},
		"ROLLING_BACK": {quick, []int{alsoStuck, stuck}, (*death).rollingBack, "ROLLING_BACK", protocol.MigrationRolledBack},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDeath(t, c.interval, c.held...)
			d.course = d.scale(d.admin, 3)
			c.until(d)
			d.coordinator.kill()
			killed := time.Now()
			phase, sealed := d.recorded()
			t.Logf("killed %s after the order, %d of 5 shards sealed", d.course.after(killed), sealed)
			require.Equal(t, c.phase, phase, "what the record says after the kill")
			if c.phase == "DRAINING" || c.phase == "ROLLING_BACK" {
				require.Positive(t, sealed)
				require.Less(t, sealed, 5)
			}
			d.takeOver()
			d.follow(d.second.admin, d.course)
			d.tell(d.course)
			require.Equal(t, c.end, d.course.last.State, shown(d.course.last))
			d.requireEachWrites(func(e entry) bool { return e.at().After(d.course.states[string(c.end)]) }, "after the change")
			d.stop("--resharded")
			d.requireEnd(c.end)
		})
	}
}

// death is a change of the shard count whose coordinator dies. Consumers and publisher
// reach the coordinators through a proxy, as through a load balancer.
type death struct {
	*scaling
	proxy  *proxy
	second *twin
	course *course
	held   []int
}

func startDeath(t *testing.T, interval string, held ...int) *death {
	t.Helper()
	d := &death{scaling: startScaling(t, append(quickly(), everyStep, interval)...), held: held}
	d.createStream()
	d.second = d.startTwin(everyStep, "100ms")
	d.proxy = startProxy(t, d.address)
	d.front = "http://" + d.proxy.address()
	d.load("publisher", 400)
	d.read(2, "--workers", "4")
	for _, shard := range held {
		require.NoError(t, d.rdb.XGroupCreate(t.Context(), routing.StreamKey(stream, shard), "guest", "0").Err())
	}
	freeze(t, d.second.process)
	return d
}

// seen asks the coordinator that is to die.
func (d *death) seen(what string, is func(m *protocol.Migration) bool) {
	d.t.Helper()
	d.eventually(func() bool {
		m, err := d.admin.Migration(d.t.Context(), stream, group, d.course.id)
		return err == nil && is(m)
	}, what)
}

func (d *death) active() {
	d.t.Helper()
	d.seen("the change is active", func(m *protocol.Migration) bool { return m.State == protocol.MigrationActive })
}

// allButHeld tells whether all removed shards are sealed but those that a guest holds.
func (d *death) allButHeld(m *protocol.Migration) bool {
	return m.Progress.Done == m.Progress.Total-len(d.held)
}

// sealing waits until all removed shards but those that a guest holds are sealed.
func (d *death) sealing() {
	d.t.Helper()
	d.seen("shards are sealed", d.allButHeld)
	m, err := d.admin.Migration(d.t.Context(), stream, group, d.course.id)
	require.NoError(d.t, err)
	last := m.Progress.Shards[len(m.Progress.Shards)-1]
	require.Equal(d.t, stuck, last.ShardIndex)
	require.Equal(d.t, protocol.DrainUnread, *last.Reason)
	require.Equal(d.t, "guest", *last.BlockingGroup)
}

// rollingBack has a coordinator order a rollback that takes no step of it: one that looks at
// what is under way when it starts, and then no more. It holds the stream's lease meanwhile,
// so the rollback, which needs it too, comes after that.
func (d *death) rollingBack() {
	d.t.Helper()
	d.sealing()
	d.coordinator.kill()
	d.eventually(func() bool { return d.rdb.Exists(d.t.Context(), streamLease).Val() == 0 }, "its lease of the stream is over")
	require.NoError(d.t, d.rdb.XGroupDestroy(d.t.Context(), routing.StreamKey(stream, alsoStuck), "guest").Err())
	d.flags = append(d.flags, everyStep, never)
	d.startCoordinator()
	d.seen("it has looked", func(m *protocol.Migration) bool { // and the shard that was let go can be closed
		at := slices.IndexFunc(m.Progress.Shards, func(one protocol.ShardDrain) bool { return one.ShardIndex == alsoStuck })
		return at >= 0 && m.Progress.Shards[at].Phase != protocol.DrainReading
	})
	_, err := d.admin.Rollback(d.t.Context(), stream, group, d.course.id, protocol.RollbackRequest{
		RequestedBy: "e2e", Reason: "second thoughts",
	})
	require.NoError(d.t, err)
}

// recorded returns what the stream's record says.
func (d *death) recorded() (phase string, sealed int) {
	d.t.Helper()
	text, err := d.rdb.HGet(d.t.Context(), "redis-stream:coord:{"+stream+"}:stream", "aggregate").Result()
	require.NoError(d.t, err)
	var record struct {
		Resharding struct {
			Phase  string
			Shards []struct{ Step string }
		}
	}
	require.NoError(d.t, json.Unmarshal([]byte(text), &record))
	for _, one := range record.Resharding.Shards {
		if one.Step == "SEALED" {
			sealed++
		}
	}
	return record.Resharding.Phase, sealed
}

// takeOver wakes the other coordinator and has the guest go.
func (d *death) takeOver() {
	d.t.Helper()
	d.proxy.turn(d.second.address)
	thaw(d.t, d.second.process)
	d.eventually(func() bool {
		_, err := d.second.admin.Migration(d.t.Context(), stream, group, d.course.id)
		return err == nil
	}, "the other coordinator answers")
	require.NoError(d.t, d.rdb.XGroupDestroy(d.t.Context(), routing.StreamKey(stream, stuck), "guest").Err())
}

// requireEnd shows where the records are.
func (d *death) requireEnd(end protocol.MigrationState) {
	d.t.Helper()
	d.requireKept()
	if end == protocol.MigrationDeprecated {
		d.requireSealed(d.course, 3, shards)
		return
	}
	for shard := range shards {
		require.Equal(d.t, "stream", d.rdb.Type(d.t.Context(), routing.StreamKey(stream, shard)).Val())
	}
	kept, err := d.rdb.Keys(d.t.Context(), "redis-stream:coord:retired:*").Result()
	require.NoError(d.t, err)
	require.Empty(d.t, kept, "the entries are back")
	requireNoProblem(d.t, d.second.admin)
}

func requireNoProblem(t *testing.T, admin *client.Admin) {
	t.Helper()
	var problems []string
	defer func() {
		if t.Failed() {
			t.Logf("at last: %s", strings.Join(problems, "; "))
		}
	}()
	soon(t, "nothing is wrong any more", func() bool {
		health, err := admin.Health(t.Context())
		require.NoError(t, err)
		problems = health.Problems
		return health.Status == "UP"
	})
}
