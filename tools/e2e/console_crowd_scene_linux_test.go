package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// crowd is a suite of processes with many who look at the console. The gateway counts in a Redis of
// its own, so that the other one hears the monitor, the coordinator and consumers only.
type crowd struct {
	*consoled

	data    *redisproc.Server
	rdb     *redis.Client
	round   atomic.Int64 // the newest of the monitor
	viewers []*onlooker
}

func startCrowd(t *testing.T) *crowd {
	t.Helper()
	require.NoError(t, monitorBuilt())
	require.NoError(t, consoleBuilt())
	watched, pages := freeAddress(t), freeAddress(t)
	c := &crowd{data: redisproc.Start(t)}
	c.rdb = c.data.Client(t)
	c.consoled = &consoled{guarded: startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 1, logLevel: "warn", coordinatorRedis: c.data, coordinatorFlags: quietly(),
		gatewayFlags: []string{
			"--gateway-monitor", "http://" + watched, "--gateway-web", "http://" + pages, "--api-secure-cookies=false", "--api-rate-limit-enabled=false",
		},
	})}
	file := t.TempDir() + "/monitor.yaml"
	writeSettings(t, file, redisSettings(t, c.data, ""))
	gate := c.gateways[0].url()
	c.monitor = c.service(watched, "monitor", "monitor", []string{
		"--config", file, "--monitor-listen", watched, "--monitor-metrics-listen=", "--monitor-coordinator", c.coordinators[0].url(),
		"--observe-interval", "1s", "--observe-structure-interval", "1h", "--api-jwks-url", gate + "/.well-known/jwks.json", "--log-level", "warn",
	})
	c.console = c.service(pages, "console", "console", []string{"--web-listen", pages, "--web-metrics-listen=", "--web-gateway", gate, "--log-level", "warn"})
	c.ready(c.monitor)
	c.ready(c.console)
	return c
}

// quietly returns settings by which a coordinator does nothing that it is not asked for.
func quietly() []string {
	var flags []string
	for _, loop := range []string{"interval", "sweep-interval", "reshard-interval", "reshard-scan"} {
		flags = append(flags, "--coordination-event-loop-"+loop, "1h")
	}
	return flags
}

// counts begins to count the rounds of the monitor.
func (c *crowd) counts() {
	c.t.Helper()
	asks, err := client.New(client.Options{CoordinatorURL: c.gateways[0].url(), Login: client.WithLogin(userOps, passwordOf(userOps))})
	require.NoError(c.t, err)
	ctx, stop := context.WithCancel(c.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = asks.Admin().Follow(ctx, client.FollowQuery{}, func(update client.Update) error {
			if update.Groups != nil {
				c.round.Store(update.Groups.Round)
			}
			return nil
		})
	}()
	c.t.Cleanup(func() {
		stop()
		<-done
		_ = asks.Close()
	})
}

// during waits for so many rounds of the monitor, and returns what they cost.
func (c *crowd) during(rounds int64) cost {
	c.t.Helper()
	before := c.spent()
	c.await(rounds)
	return c.spent().since(before)
}

// exactly does the same between two moments at which no round is under way, and counts the rounds
// by what each asks Redis once for a shard. Nobody else may use that Redis.
func (c *crowd) exactly(rounds int64) cost {
	c.t.Helper()
	c.rests()
	before := c.spent()
	c.await(rounds)
	c.rests()
	passed := c.spent().since(before)
	passed.rounds = passed.commands["xinfo|stream"] / crowdAll
	delete(passed.commands, "info") // which rests asks for too
	return passed
}

func (c *crowd) await(rounds int64) {
	c.t.Helper()
	began := c.round.Load()
	require.Eventually(c.t, func() bool { return c.round.Load() >= began+rounds }, patience, often, "%d rounds", rounds)
}

// rests waits until Redis has not been asked anything for a while.
func (c *crowd) rests() {
	c.t.Helper()
	var last map[string]int64
	still := 0
	require.Eventually(c.t, func() bool {
		now := c.spent().commands
		delete(now, "info") // this question is one
		if still++; !maps.Equal(now, last) {
			last, still = now, 0
		}
		return still >= 4
	}, patience, 2*often, "no round is under way")
}

// cost is what was spent up to a moment, or between two.
type cost struct {
	rounds    int64
	commands  map[string]int64         // of the Redis with the data, by their names
	processor map[string]time.Duration // by the process
	bytes     map[string]int64         // that viewers of a page were sent, all together
	opened    int64                    // pages
}

func (c *crowd) spent() cost {
	c.t.Helper()
	now := cost{rounds: c.round.Load(), commands: map[string]int64{}, processor: map[string]time.Duration{}, bytes: map[string]int64{}}
	text, err := c.rdb.Info(c.t.Context(), "commandstats").Result()
	require.NoError(c.t, err)
	for line := range strings.Lines(text) {
		name, rest, found := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		if count, _, _ := strings.Cut(rest, ","); found {
			now.commands[name], err = strconv.ParseInt(count, 10, 64)
			require.NoError(c.t, err)
		}
	}
	for _, one := range slices.Concat([]*guardedService{c.monitor, c.console}, c.services()) {
		now.processor[one.name] = one.processor()
	}
	for _, one := range c.viewers {
		now.bytes[one.page] += one.bytes.Load()
		now.opened += one.opened.Load()
	}
	return now
}

func (a cost) since(b cost) cost {
	passed := cost{a.rounds - b.rounds, maps.Clone(a.commands), maps.Clone(a.processor), maps.Clone(a.bytes), a.opened - b.opened}
	for name := range a.commands {
		passed.commands[name] -= b.commands[name]
	}
	for name := range a.processor {
		passed.processor[name] -= b.processor[name]
	}
	for name := range a.bytes {
		passed.bytes[name] -= b.bytes[name]
	}
	return passed
}

func (a cost) told() string {
	text := fmt.Sprintf("%d rounds; commands:", a.rounds)
	for _, name := range slices.Sorted(maps.Keys(a.commands)) {
		if a.commands[name] > 0 {
			text += fmt.Sprintf(" %s %d", name, a.commands[name])
		}
	}
	return text + fmt.Sprintf("; processor time %v; %d pages opened; bytes to viewers %v", a.processor, a.opened, a.bytes)
}

// processor is the processor time that a process has used.
func (p *process) processor() time.Duration {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	require.NoError(p.t, err)
	_, after, found := strings.Cut(string(text), ") ") // the name may hold anything
	require.True(p.t, found)
	fields := strings.Fields(after)
	var ticks int64
	for _, field := range fields[11:13] { // utime and stime, proc(5)
		count, err := strconv.ParseInt(field, 10, 64)
		require.NoError(p.t, err)
		ticks += count
	}
	return time.Duration(ticks) * (time.Second / 100) // USER_HZ is 100 on every Linux that Go runs on
}

// onlooker has a page open, as a browser does: it reads the page's events, and asks for them again
// when they end.
type onlooker struct {
	page                  string
	bytes, pieces, opened atomic.Int64
}

// look opens a page so often, and waits until each is up to date.
func (c *crowd) look(as *browser, count int, page string, query url.Values) {
	c.t.Helper()
	ctx, stop := context.WithCancel(c.t.Context())
	var reading sync.WaitGroup
	query.Set("page", page)
	at := as.base + "/console/live?" + query.Encode()
	transport := &http.Transport{}
	reads := &http.Client{Jar: as.http.Jar, Transport: transport}
	for range count {
		one := &onlooker{page: page}
		c.viewers = append(c.viewers, one)
		reading.Go(func() {
			for ctx.Err() == nil {
				one.read(ctx, reads, at)
				select {
				case <-ctx.Done():
				case <-time.After(500 * time.Millisecond): // as the console tells browsers
				}
			}
		})
	}
	c.t.Cleanup(func() {
		stop()
		reading.Wait()
		transport.CloseIdleConnections()
	})
	for _, one := range c.viewers {
		require.Eventually(c.t, func() bool { return one.pieces.Load() > 0 }, patience, often, "%s is up to date", one.page)
	}
}

// read takes in events until they end.
func (o *onlooker) read(ctx context.Context, reads *http.Client, at string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return
	}
	answer, err := reads.Do(request)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	o.opened.Add(1)
	lines := bufio.NewReaderSize(answer.Body, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		o.bytes.Add(int64(len(line)))
		if strings.HasPrefix(line, "event: pieces") {
			o.pieces.Add(1)
		}
		if err != nil {
			return
		}
	}
}
