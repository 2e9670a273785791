package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What there is to see, and how many look.
const (
	crowdShards  = 64 // of the group with traffic
	crowdGroups  = 64 // others, with few shards and nobody in them
	crowdEach    = 8
	crowdAll     = crowdShards + crowdGroups*crowdEach
	crowdViewers = 50 // half of them of the overview, half of the group
	crowdRounds  = 5
	crowdUntold  = 3
)

// What the viewers may cost. The monitor has a round every second here, as in the suite in one
// process; by default it has one in crowdInterval.
const (
	crowdInterval = 5 * time.Second
	// crowdBytes is what one viewer may be sent a second, and a round.
	crowdBytes = 50_000
	// crowdProcessor is how much of a processor the console and the monitor may take together for
	// all viewers, by default. What a round takes depends on the machine.
	crowdProcessor = 0.2
	// crowdOpening is how many commands a page may cost when it is opened.
	crowdOpening = 8
)

// Monitoring, Console: who looks costs Redis nothing beyond the monitor's rounds, and console and
// network little, however many they are and whatever changes.
func TestFiftyViewersOfTheConsoleCostNextToNothing(t *testing.T) {
	t.Parallel()
	c := startCrowd(t)
	c.fills()
	c.counts()
	c.await(1)
	alone := c.exactly(crowdRounds)
	t.Log("nobody looks:", alone.told())

	as := newBrowser(t, c.gateways[0].url(), "")
	as.login(userOps, passwordOf(userOps), "/console")
	before := c.spent()
	c.look(as, crowdViewers/2, "overview", url.Values{})
	c.look(as, crowdViewers/2, "group", url.Values{"stream": {stream}, "group": {group}})
	t.Log("they come:", c.spent().since(before).told())
	watched := c.exactly(crowdRounds)
	t.Log("they look:", watched.told())
	requireRounds(t, watched)
	for name, count := range watched.commands {
		more := float64(count) - float64(alone.commands[name])*float64(watched.rounds)/float64(alone.rounds)
		if !slices.Contains(inTurn(), name) {
			require.Less(t, more, float64(crowdViewers+crowdOpening*watched.opened), "not one %s a viewer", name)
		}
	}

	s := scalingOf(c.readSuite())
	s.redis = c.data.URL()
	s.read(2, "--workers", "2")
	s.load("p1", 400)
	busy := c.during(crowdRounds)
	t.Log("there is traffic:", busy.told())
	requireRounds(t, busy)
	for page, bytes := range busy.bytes {
		each := bytes / (crowdViewers / 2) / busy.rounds
		t.Logf("a viewer of the %s is sent %d bytes a round: %d a second in rounds of 1s, %d in rounds of %v",
			page, each, each, each/int64(crowdInterval.Seconds()), crowdInterval)
		require.Positive(t, each, "it is kept up to date")
		require.LessOrEqual(t, each, int64(crowdBytes), page)
	}
	took := (busy.processor["console"] + busy.processor["monitor"]) / time.Duration(busy.rounds)
	t.Logf("console and monitor take %v a round: %.1f %% of a processor in rounds of 1s, %.1f %% in rounds of %v",
		took, 100*took.Seconds(), 100*took.Seconds()/crowdInterval.Seconds(), crowdInterval)
	require.LessOrEqual(t, took.Seconds()/crowdInterval.Seconds(), crowdProcessor)
}

// fills makes what there is to see.
func (c *crowd) fills() {
	c.t.Helper()
	token := c.login(userOps)
	create := func(name string, shards int) {
		c.passes(guardedCall{
			method: http.MethodPost, path: api("/streams/" + name), token: token,
			body: fmt.Sprintf(`{"initialShardCount": %d, "consumerGroups": [%q], "requestedBy": "e2e"}`, shards, group),
		}, http.StatusCreated)
	}
	for i := range crowdGroups {
		create(fmt.Sprintf("quiet-%d", i), crowdEach)
	}
	create(stream, crowdShards)
}

// inTurn are the commands of which a round of the monitor has one for a shard at most.
func inTurn() []string { return []string{"xinfo|consumers", "memory|usage", "xpending"} }

// requireRounds shows that Redis was asked about shards as seldom as the monitor's rounds do, of
// which some may not have been told of yet (performance P25).
func requireRounds(t *testing.T, over cost) {
	t.Helper()
	var other int64
	for _, name := range inTurn() {
		other += over.commands[name]
	}
	for _, asked := range []int64{over.commands["xinfo|stream"], over.commands["xinfo|groups"], other} {
		require.LessOrEqual(t, asked, crowdAll*(over.rounds+crowdUntold), over.told())
	}
}
