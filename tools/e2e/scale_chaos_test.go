package e2e_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// TestReshardingsInChaos changes the shard count again and again to counts by chance, some
// changes are rolled back on the way, while coordinators and consumers are killed and
// coordinators and publishers are frozen, at moments by chance (reliability FT12).
//
// RSC_E2E_SCALES sets how many changes there are, RSC_E2E_SEED the seed.
func TestReshardingsInChaos(t *testing.T) {
	t.Parallel()
	changes, seed := setting(t, "RSC_E2E_SCALES", 4), setting(t, "RSC_E2E_SEED", 1)
	t.Logf("seed %d", seed)
	c := startChaos(t, uint64(seed))
	for range changes {
		c.change()
	}
	if c.count == 0 {
		c.follow(c.anyAdmin(), c.scale(c.anyAdmin(), 2))
	}
	now := time.Now()
	c.requireEachWrites(func(e entry) bool { return e.at().After(now) }, "when all is over")
	c.requireProof()
	t.Logf("%d changes, %d of them rolled back; %v", changes, c.rolledBack, c.deeds)
}

// setting returns a number from the environment.
func setting(t *testing.T, name string, or int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return or
	}
	number, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return number
}

// chaos is a scaling with two coordinators of which each may be away, though not both for
// long.
type chaos struct {
	*scaling
	random     *rand.Rand
	twins      []*twin
	proxies    []*proxy // a client reaches coordinators through one of these
	alive      map[string]*process
	count      int
	rolledBack int
	deeds      map[string]int
}

func startChaos(t *testing.T, seed uint64) *chaos {
	t.Helper()
	c := &chaos{
		scaling: startScaling(t, quickly()...), random: rand.New(rand.NewPCG(seed, seed)), alive: map[string]*process{},
		count: shards, deeds: map[string]int{},
	}
	c.createStream()
	c.coordinator.kill()
	for range 2 {
		w := c.startTwin()
		c.twins = append(c.twins, w)
		c.proxies = append(c.proxies, startProxy(t, w.address))
	}
	for i := range 2 {
		c.face(i)
		c.load(fmt.Sprintf("p%d", i), 300, "--refresh-every", "2s")
	}
	c.load("old", 300, "--refresh-every", "3700ms")
	for range 3 {
		c.hire()
	}
	return c
}

// face has processes that are started next reach the coordinators by that proxy.
func (c *chaos) face(i int) { c.front = "http://" + c.proxies[i].address() }

func (c *chaos) hire() {
	c.t.Helper()
	c.face(c.random.IntN(len(c.proxies)))
	name := fmt.Sprintf("c%d", len(c.names)+1)
	c.names = append(c.names, name)
	c.alive[name] = c.consume(name, "--workers", "4", "--work", "300us")
}

// anyAdmin returns the Admin of a coordinator.
func (c *chaos) anyAdmin() *client.Admin { return c.twins[c.random.IntN(len(c.twins))].admin }

// change changes the shard count, with things that happen meanwhile.
func (c *chaos) change() {
	c.t.Helper()
	target := (c.count + 1 + c.random.IntN(12)) % 13
	course := c.scale(c.anyAdmin(), target)
	rollback := c.random.IntN(4) == 0
	for range 1 + c.random.IntN(4) {
		c.pause(time.Duration(c.random.IntN(2_500)) * time.Millisecond)
		c.harm()
		if rollback && c.random.IntN(2) == 0 {
			rollback = false
			c.rollBack(course.id)
		}
	}
	c.follow(c.anyAdmin(), course)
	c.tell(course)
	if course.last.State == protocol.MigrationDeprecated {
		c.count = target
	} else {
		c.rolledBack++
	}
	routed, err := c.anyAdmin().Routing(c.t.Context(), stream, group)
	require.NoError(c.t, err)
	require.Equal(c.t, c.count, routed.ShardCount)
}

// rollBack undoes a change that may be over already.
func (c *chaos) rollBack(id string) {
	c.t.Helper()
	_, err := c.anyAdmin().Rollback(c.t.Context(), stream, group, id, protocol.RollbackRequest{RequestedBy: "e2e", Reason: "chaos"})
	if refused, ok := errors.AsType[*protocol.Error](err); ok && refused.Code == protocol.CodeRollbackNotAllowed {
		return
	}
	require.NoError(c.t, err)
}

// harm does one thing to one process.
func (c *chaos) harm() {
	c.t.Helper()
	deeds := []struct {
		name string
		do   func()
	}{
		{"coordinator killed", c.killCoordinator},
		{"consumer killed", c.killConsumer},
		{"coordinator frozen", func() { c.freezeFor(c.twins[c.random.IntN(len(c.twins))].process) }},
		{"publisher frozen", func() { c.freezeFor(c.publishers[[]string{"p0", "p1", "old"}[c.random.IntN(3)]]) }},
	}
	deed := deeds[c.random.IntN(len(deeds))]
	c.deeds[deed.name]++
	deed.do()
}

func (c *chaos) killCoordinator() {
	c.t.Helper()
	i := c.random.IntN(len(c.twins))
	c.twins[i].kill()
	c.proxies[i].turn(c.twins[1-i].address)
	c.pause(time.Duration(c.random.IntN(1_000)) * time.Millisecond)
	c.twins[i] = c.startTwin()
	c.proxies[i].turn(c.twins[i].address)
}

func (c *chaos) killConsumer() {
	c.t.Helper()
	for name, p := range c.alive {
		p.kill()
		delete(c.alive, name)
		break
	}
	c.hire()
}

// freezeFor stops a process for up to seven seconds.
func (c *chaos) freezeFor(p *process) {
	c.t.Helper()
	freeze(c.t, p)
	c.pause(time.Duration(c.random.IntN(7_000)) * time.Millisecond)
	thaw(c.t, p)
}

// pause lets time go by.
func (c *chaos) pause(d time.Duration) {
	c.t.Helper()
	select {
	case <-time.After(d):
	case <-c.t.Context().Done():
	}
}

// requireProof has everything end and shows that nothing was lost, and that only killed
// consumers and uncertain publications made duplicates.
func (c *chaos) requireProof() {
	c.t.Helper()
	for _, p := range c.alive {
		c.consumers = append(c.consumers, p)
	}
	c.ending("--resharded")
	c.requireKept()
}
