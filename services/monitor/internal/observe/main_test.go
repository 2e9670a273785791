package observe_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/observe"
)

// TestMain has random commands begin at a seed that is the same everywhere: what passes on one
// machine passes on every other. Flags of the command line go before.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.seed": "20260101", "rapid.checks": "300"} {
		_ = flag.Set(name, value)
	}
	goleak.VerifyTestMain(m)
}

// coordinator tells groups as it is set to.
type coordinator struct {
	mu     sync.Mutex
	groups []protocol.GroupSnapshot
	err    error
	hang   bool
	asked  []string // the tags
	made   int      // answers that were not 304
}

func (c *coordinator) GroupSnapshots(ctx context.Context, etag string) (*protocol.GroupSnapshotsResponse, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, etag)
	if c.hang {
		<-ctx.Done()
		return nil, "", ctx.Err()
	}
	if c.err != nil {
		return nil, "", c.err
	}
	tag := fmt.Sprint(c.groups)
	if etag == tag {
		return nil, etag, nil
	}
	c.made++
	return &protocol.GroupSnapshotsResponse{Groups: c.groups}, tag, nil
}

func (c *coordinator) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// group is a group whose stream has so many shards.
func group(stream, name string, shards int) protocol.GroupSnapshot {
	return protocol.GroupSnapshot{
		Group:     protocol.GroupResponse{StreamPrefix: stream, ConsumerGroup: name, ShardCount: shards},
		ReadCount: shards,
	}
}

// observerOf returns an observer of groups.
func observerOf(rdb redis.UniversalClient, cfg observe.Config, groups ...protocol.GroupSnapshot) *observe.Observer {
	return observe.New(cfg, observe.Deps{Redis: rdb, Groups: &coordinator{groups: groups}})
}

func round(t *testing.T, o *observe.Observer) facts.Round {
	t.Helper()
	r, err := o.Round(t.Context())
	require.NoError(t, err)
	return r
}

// settled makes as many rounds as it takes until every topic of a group has had its turn, and
// returns the last one.
func settled(t *testing.T, o *observe.Observer) facts.Round {
	t.Helper()
	for range 3 {
		round(t, o)
	}
	return round(t, o)
}

// do runs a command, given as a line.
func do(t *testing.T, rdb redis.UniversalClient, line string) {
	t.Helper()
	var args []any
	for word := range strings.FieldsSeq(line) {
		args = append(args, word)
	}
	require.NoError(t, rdb.Do(t.Context(), args...).Err(), line)
}

// counter counts what a client sends.
type counter struct {
	mu        sync.Mutex
	pipelines int
	commands  map[string]int // by name, with the word after it for XINFO and MEMORY
	lines     []string
}

func watch(rdb redis.UniversalClient) *counter {
	c := &counter{commands: map[string]int{}}
	rdb.AddHook(c)
	return c
}

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.note(0, cmd)
		return next(ctx, cmd)
	}
}

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.note(1, cmds...)
		return next(ctx, cmds)
	}
}

func (c *counter) note(pipelines int, cmds ...redis.Cmder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pipelines += pipelines
	for _, cmd := range cmds {
		line := strings.Trim(fmt.Sprint(cmd.Args()), "[]")
		name := cmd.Name()
		if name == "xinfo" || name == "memory" {
			name = strings.ToLower(strings.Join(strings.Fields(line)[:2], " "))
		}
		c.commands[name]++
		c.lines = append(c.lines, line)
	}
}

// taken returns what was counted and begins anew.
func (c *counter) taken() (pipelines int, commands map[string]int, lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pipelines, commands, lines = c.pipelines, c.commands, c.lines
	c.pipelines, c.commands, c.lines = 0, map[string]int{}, nil
	return pipelines, commands, lines
}

// cost is what a round has taken, counted where the commands leave for their nodes.
type cost struct {
	pipelines map[string]int // by the address of the node
	commands  map[string]int // by name
	perKey    map[string]int // of shards
	others    int            // commands without a key
}

// ledger counts what the nodes of a cluster are sent.
type ledger struct {
	mu  sync.Mutex
	sum cost
}

// watchNodes counts what a client sends from here on to nodes that it has not met yet.
func watchNodes(t *testing.T, rdb redis.UniversalClient) *ledger {
	t.Helper()
	l := &ledger{}
	l.taken()
	cluster, is := rdb.(*redis.ClusterClient)
	require.True(t, is)
	cluster.OnNewNode(func(node *redis.Client) { node.AddHook(nodeHook{l, node.Options().Addr}) })
	return l
}

// taken returns what was counted and begins anew.
func (l *ledger) taken() cost {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := l.sum
	l.sum = cost{pipelines: map[string]int{}, commands: map[string]int{}, perKey: map[string]int{}}
	return sum
}

func (l *ledger) note(node string, pipelines int, cmds ...redis.Cmder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if pipelines > 0 {
		l.sum.pipelines[node] += pipelines
	}
	for _, cmd := range cmds {
		args := cmd.Args()
		switch name := cmd.Name(); name {
		case "xinfo", "memory":
			l.sum.commands[name+" "+strings.ToLower(fmt.Sprint(args[1]))]++
			l.sum.perKey[fmt.Sprint(args[2])]++
		case "xrange", "xpending":
			l.sum.commands[name]++
			l.sum.perKey[fmt.Sprint(args[1])]++
		case "hello", "client", "auth", "select", "readonly", "ping": // of connections
		default:
			l.sum.others++
		}
	}
}

// nodeHook is a ledger's eye on a node.
type nodeHook struct {
	ledger *ledger
	node   string
}

func (nodeHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h nodeHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.ledger.note(h.node, 0, cmd)
		return next(ctx, cmd)
	}
}

func (h nodeHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		switch cmds[0].Name() {
		case "hello", "client", "auth": // a connection is opened
			h.ledger.note(h.node, 0, cmds...)
		default:
			h.ledger.note(h.node, 1, cmds...)
		}
		return next(ctx, cmds)
	}
}
