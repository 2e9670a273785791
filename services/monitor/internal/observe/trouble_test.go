package observe_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// TestAfterTroubleRatesStartAnew: each of the commands that break the numbers of a stream, on
// a real Redis. What is told right after it is null or right (world.check), and two looks later
// everything is known again.
func TestAfterTroubleRatesStartAnew(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]struct {
		do func(*world)
		// What has to be unknown right after it.
		produced, consumed bool
		// lag is what is unread then.
		lag int64
	}{
		"XDEL of what was read":       {func(w *world) { w.losing(func() { w.do("XDEL", watched, "1-0", "2-0") }) }, false, false, 20},
		"XDEL of what is unread":      {func(w *world) { w.losing(func() { w.do("XDEL", watched, "35-0", "36-0") }) }, false, false, 18},
		"XTRIM of what was read":      {func(w *world) { w.losing(func() { w.do("XTRIM", watched, "MAXLEN", 25) }) }, false, false, 20},
		"XTRIM of what is unread":     {func(w *world) { w.losing(func() { w.do("XTRIM", watched, "MAXLEN", 5) }) }, false, false, 5},
		"XTRIM of everything":         {func(w *world) { w.losing(func() { w.do("XTRIM", watched, "MAXLEN", 0) }) }, false, false, 0},
		"XGROUP SETID forward":        {func(w *world) { w.setID("$") }, false, true, 0},
		"XGROUP SETID back":           {func(w *world) { w.setID("5-0") }, false, true, 45},
		"XGROUP SETID with a count":   {func(w *world) { w.setID("0", "ENTRIESREAD", 50) }, false, true, 50},
		"XSETID":                      {func(w *world) { w.do("XSETID", watched, "1000-0"); w.next = 1001 }, true, true, 20},
		"XSETID with another count":   {func(w *world) { w.do("XSETID", watched, "50-0", "ENTRIESADDED", 90, "MAXDELETEDID", "0-0") }, true, true, 20},
		"the stream is made anew":     {func(w *world) { w.remake(func() { w.do("DEL", watched); w.make(); w.add(60) }) }, true, true, 60},
		"the group is made anew":      {func(w *world) { w.regroup("0") }, false, true, 50},
		"the group is made anew at $": {func(w *world) { w.regroup("$") }, false, true, 0},
		"FLUSHALL":                    {func(w *world) { w.remake(func() { w.do("FLUSHALL"); w.make(); w.add(70) }) }, true, true, 70},
		"a clock that stands":         {func(w *world) { w.now = w.now.Add(-5 * time.Second) }, true, true, 20},
		"a clock that goes back":      {func(w *world) { w.now = w.now.Add(-time.Hour) }, true, true, 20},
		"a clock that goes ahead":     {func(w *world) { w.now = w.now.Add(time.Hour) }, true, true, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t.Context(), t, redisproc.Start(t).Client(t))
			first := w.look(5 * time.Second)
			require.Nil(t, first.ProducedPerSecond)
			require.Nil(t, first.ConsumedPerSecond)
			w.add(40)
			w.read(20)
			w.look(5 * time.Second)
			w.add(10)
			w.read(10)
			rate := w.look(5 * time.Second)
			require.InDelta(t, 2, *rate.ProducedPerSecond, 1e-9)
			require.InDelta(t, 2, *rate.ConsumedPerSecond, 1e-9)

			trouble.do(w)
			rate = w.look(5 * time.Second)
			require.False(t, trouble.produced && rate.ProducedPerSecond != nil, "produced right after it")
			require.False(t, trouble.consumed && rate.ConsumedPerSecond != nil, "consumed right after it")
			if rate.Lag.Known() {
				require.Equal(t, trouble.lag, *rate.Lag.Value)
			}
			w.settle()
			w.add(15)
			w.read(10)
			rate = w.look(5 * time.Second)
			require.InDelta(t, 3, *rate.ProducedPerSecond, 1e-9, "anew")
			require.NotNil(t, rate.ConsumedPerSecond, "anew")
			require.InDelta(t, 2, *rate.ConsumedPerSecond, 1e-9, "anew")
			require.Equal(t, int64(5), *rate.Lag.Value)
		})
	}
}

// settle has the group read everything, and looks.
func (w *world) settle() {
	w.read(1000)
	w.add(1)
	w.read(10)
	w.look(5 * time.Second)
	w.look(5 * time.Second)
}

// detour is where a client's connections go.
type detour struct{ address atomic.Pointer[string] }

func (d *detour) to(address string) { d.address.Store(&address) }

func (d *detour) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, *d.address.Load())
}

// TestAFailoverThatLostRecordsGivesNoRatesOnce: the replica that is promoted has neither the
// last records nor the last reads. Nothing is told of the difference; the lag is null or right,
// and the next look tells the truth again (F05, F23).
func TestAFailoverThatLostRecordsGivesNoRatesOnce(t *testing.T) {
	t.Parallel()
	primary, replica := redisproc.Start(t), redisproc.Start(t)
	way := &detour{}
	way.to(primary.Addr())
	rdb := redis.NewClient(&redis.Options{Addr: "name.of.the.primary:6379", Dialer: way.dial, Protocol: 2})
	t.Cleanup(func() { _ = rdb.Close() })
	w := newWorld(t.Context(), t, rdb)
	w.add(40)
	replica.Follow(t, primary)
	w.read(20)
	w.look(5 * time.Second)
	other := replica.Client(t)
	require.Eventually(t, func() bool {
		groups, err := other.XInfoGroups(t.Context(), watched).Result()
		return err == nil && len(groups) == 1 && groups[0].LastDeliveredID == "20-0"
	}, time.Minute, time.Millisecond, "the replica has what was read")
	replica.Promote(t)
	w.add(60) // which the replica has not
	w.read(30)
	rate := w.look(5 * time.Second)
	require.InDelta(t, 12, *rate.ProducedPerSecond, 1e-9)
	require.InDelta(t, 6, *rate.ConsumedPerSecond, 1e-9)

	way.to(replica.Addr())
	primary.Kill()
	require.Eventually(t, func() bool { return rdb.Ping(t.Context()).Err() == nil }, time.Minute, time.Millisecond, "the client finds the replica")
	w.added, w.delivered = 0, 0
	rate = w.look(5 * time.Second)
	require.Nil(t, rate.ProducedPerSecond)
	require.Nil(t, rate.ConsumedPerSecond)
	require.True(t, rate.Regressed, "told once")
	for turns := 0; !rate.Lag.Known() && turns < 5; turns++ {
		rate = w.look(5 * time.Second)
	}
	require.Equal(t, int64(20), *rate.Lag.Value, "they were counted one by one when it was their turn")

	w.add(200)
	rate = w.look(5 * time.Second)
	require.InDelta(t, 40, *rate.ProducedPerSecond, 1e-9)
	require.Nil(t, rate.ConsumedPerSecond, "the lag is not known")
	require.Equal(t, rates.Lag{Reason: "LAG_UNKNOWN"}, rate.Lag, "there are too many to be counted")
	require.False(t, rate.Regressed)
	w.read(1000)
	w.look(5 * time.Second)
	w.add(10)
	w.read(10)
	require.InDelta(t, 2, *w.look(5 * time.Second).ConsumedPerSecond, 1e-9)
}

// TestALossIsNoLagWheneverItHappens: a few entries go unread and are passed between two looks,
// so that Redis counts more unread than there are for ever (F02). A round that does not count
// them, as it is the turn of something else, believes nothing.
func TestALossIsNoLagWheneverItHappens(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	unknown := 0
	for when := range 20 {
		require.NoError(t, rdb.FlushAll(t.Context()).Err())
		w := newWorld(t.Context(), t, rdb)
		w.add(40)
		for number := range 25 {
			w.add(8)
			w.read(8)
			if number == when {
				_, unread := w.entries()
				w.losing(func() { w.do("XTRIM", watched, "MAXLEN", len(unread)-2) })
				require.Equal(t, int64(2), w.gone)
				w.read(8)
				w.add(8)
			}
			if lag := w.look(5 * time.Second).Lag; !lag.Known() { // a known one is right, w.look holds
				unknown++
			}
		}
	}
	require.Positive(t, unknown, "something else has had its turn after a loss")
}
