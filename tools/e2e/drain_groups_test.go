package e2e_test

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// The groups of one stream, in the order in which they copy a layout (protocol L1).
const firstGroup, lastGroup = "first", "last"

// Protocol L1, L4: a stream with two groups, of which the coordinator could let only one
// copy the new layout before it was killed. Another process goes on, and no shard is sealed
// before the slower group has handled all of it.
func TestAnotherCoordinatorGoesOnBetweenTheCopiesOfTwoGroups(t *testing.T) {
	t.Parallel()
	const records, from, to = 2_400, 6, 2
	server := redisproc.Start(t)
	d := startRestricted(t, server)
	d.create(stream, from, firstGroup, lastGroup)
	d.publish(records, "--group", firstGroup).wait()

	d.permit("orders:*", "redis-stream:coord:groups", "redis-stream:coord:{orders*") // no markers
	id := d.scale(to)
	stopped := d.until(id, func(l looked) bool { return l.Progress.LastError != nil }, "what stops it is told")
	require.Equal(t, protocol.MigrationPreparing, stopped.State)
	t.Logf("stopped: %s", *stopped.Progress.LastError)
	d.permit("orders:*", "redis-stream:coord:[^{]*", "redis-stream:coord:{orders}*", "redis-stream:coord:{orders:first}*",
		"redis-stream:coord:{orders:last}:metadata") // no commit goes without an event
	copied := d.until(id, func(l looked) bool {
		return l.State == protocol.MigrationActive && l.copied()[firstGroup]
	}, "the first group has copied the layout")
	d.stays(id, time.Second, func(l looked) bool {
		return maps.Equal(l.copied(), map[string]bool{firstGroup: true, lastGroup: false}) && l.Progress.DrainingFrom == nil
	}, "the last group cannot, so nothing is drained")
	t.Logf("between the copies: %v, stopped by %v", copied.copied(), stringOf(copied.Progress.LastError))
	d.coordinator.kill()
	d.permit("*")
	d.address = freeAddress(t) // another one, and nothing is left of the former
	d.startElsewhere()

	names := map[string][]string{firstGroup: {"f1", "f2"}, lastGroup: {"l1"}}
	flags := map[string][]string{lastGroup: {"--work", "3ms", "--batch", "20"}}
	var consumers []*process
	for _, name := range []string{firstGroup, lastGroup} {
		for _, member := range names[name] {
			consumers = append(consumers, d.consume(member, append([]string{"--group", name}, flags[name]...)...))
		}
	}
	d.until(id, func(l looked) bool {
		waiting := 0
		for _, one := range l.drains() {
			if one.BlockingGroup != nil && *one.BlockingGroup == lastGroup {
				waiting++
			}
		}
		return l.State == protocol.MigrationDraining && waiting > 0 && d.idle(firstGroup, indexRange(0, from)...)
	}, "the first group is done, and the last one is waited for")
	last := d.over(id, protocol.MigrationDeprecated)
	d.requireSealed(id, indexRange(to, from)...)
	d.requireShards(to, from)
	for _, one := range consumers {
		one.release()
	}
	d.requireHandledBefore(last, records, names)
}

// startRestricted starts a coordinator whose user of Redis may be told later what it may
// write.
func startRestricted(t *testing.T, server *redisproc.Server) *drainage {
	t.Helper()
	admin := server.Client(t)
	require.NoError(t, admin.Do(t.Context(), "ACL", "SETUSER", "tests", "on", "nopass", "~*", "&*", "+@all").Err())
	host, port, err := net.SplitHostPort(server.Addr())
	require.NoError(t, err)
	s := newSuite(t, server.URL(), append(drainTiming(), "--redis-host", host, "--redis-port", port))
	s.redis = "redis://tests:any@" + server.Addr() + "/0"
	rdb, err := redisx.New(redisx.Options{URL: s.redis})
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	return &drainage{suite: s, rdb: rdb}
}

// permit lets the coordinator read all keys, and write those that match a pattern.
func (d *drainage) permit(patterns ...string) {
	d.t.Helper()
	rules := []any{"ACL", "SETUSER", "default", "resetkeys", "%R~*"}
	for _, pattern := range patterns {
		rules = append(rules, "~"+pattern)
	}
	require.NoError(d.t, d.rdb.Do(d.t.Context(), rules...).Err())
}

// startElsewhere starts a coordinator on the present address, for whoever comes from now on.
func (d *drainage) startElsewhere() {
	d.t.Helper()
	at := slices.Index(d.flags, "--listen")
	d.flags = slices.Clone(d.flags)
	d.flags[at+1] = d.address
	d.front = d.url()
	c, err := client.New(client.Options{CoordinatorURL: d.url()})
	require.NoError(d.t, err)
	d.t.Cleanup(func() { _ = c.Close() })
	d.admin = c.Admin()
	d.startCoordinator()
}

// copied tells which groups work on the present layout.
func (l looked) copied() map[string]bool {
	copied := map[string]bool{}
	for _, one := range l.Progress.Groups {
		copied[one.ConsumerGroup] = one.Copied
	}
	return copied
}

// requireHandledBefore looks whether every group has handled everything, and what a removed
// shard held before that shard was sealed.
func (d *drainage) requireHandledBefore(end looked, records int, names map[string][]string) {
	d.t.Helper()
	drains := end.drains()
	for name, members := range names {
		books := map[string][]entry{"publisher": d.ledger("publisher")}
		latest := map[int]time.Time{}
		for _, member := range members {
			books[member] = d.ledger(member)
			for _, one := range of("end", books[member]) {
				if one.at().After(latest[one.Shard]) {
					latest[one.Shard] = one.at()
				}
			}
		}
		proof := prove(books)
		require.Equal(d.t, proven{acked: records, handled: records, handlings: proof.handlings}, proof, name)
		spare := []string{}
		for _, index := range slices.Sorted(maps.Keys(drains)) {
			require.NotZero(d.t, latest[index], "group %s has handled something of shard %d", name, index)
			require.True(d.t, latest[index].Before(drains[index].Since.Add(time.Millisecond)),
				"shard %d is sealed before group %s is done with it", index, name)
			spare = append(spare, fmt.Sprintf("%d by %s", index, drains[index].Since.Sub(latest[index]).Round(time.Millisecond)))
		}
		d.t.Logf("group %s: %d handled, %d twice, done before the seal of shard %s", name, proof.handled,
			proof.handlings-proof.handled, strings.Join(spare, ", "))
	}
}

func stringOf(text *string) string {
	if text == nil {
		return "nothing"
	}
	return *text
}
