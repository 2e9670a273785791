package provision

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// trips counts the pipelines of a client, without those of its handshake, and calls
// before with the number of each, counted from 1, ahead of sending it.
type trips struct {
	sent   atomic.Int64
	before func(n int64)
}

func (h *trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return next(ctx, cmd) }
}

func (h *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if name := cmds[0].Name(); name != "xgroup" && name != "eval" {
			return next(ctx, cmds)
		}
		n := h.sent.Add(1)
		if h.before != nil {
			h.before(n)
		}
		return next(ctx, cmds)
	}
}

func plan(t *testing.T, shards int, groups ...Group) Plan {
	t.Helper()
	if len(groups) == 0 {
		groups = []Group{{Name: "g", Start: Earliest}}
	}
	p, err := NewPlan("orders", 0, shards, groups...)
	require.NoError(t, err)
	return p
}

func run(t *testing.T, rdb redis.UniversalClient, p Plan) Report {
	t.Helper()
	report, err := Run(t.Context(), rdb, p, nil)
	require.NoError(t, err)
	require.Equal(t, report.Total, report.Keys)
	require.Equal(t, len(p.Keys())*len(p.Groups()), report.New+report.Existing)
	return report
}

// groupsOn returns the groups of a shard key by name, empty for a missing key.
func groupsOn(t *testing.T, rdb redis.UniversalClient, key string) map[string]redisx.Group {
	t.Helper()
	named := map[string]redisx.Group{}
	if rdb.Exists(t.Context(), key).Val() == 0 {
		return named
	}
	groups, err := redisx.Groups(t.Context(), rdb, key)
	require.NoError(t, err)
	for _, g := range groups {
		named[g.Name] = g
	}
	return named
}

func requireComplete(t *testing.T, rdb redis.UniversalClient, p Plan) {
	t.Helper()
	for _, key := range p.Keys() {
		on := groupsOn(t, rdb, key)
		for _, g := range p.Groups() {
			require.Contains(t, on, g.Name, key)
		}
	}
}

func do(t *testing.T, rdb redis.UniversalClient, args ...any) {
	t.Helper()
	require.NoError(t, rdb.Do(t.Context(), args...).Err(), "%v", args)
}
