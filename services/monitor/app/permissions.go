package app

import (
	"context"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// permissionTimeout bounds the question what the Redis user may do.
const permissionTimeout = time.Second

// needs is what the monitor's user of Redis has to be allowed (reliability 5, Redis); see
// docs/redis-acl.md. It writes nothing but the lease of the metrics, and reads the audit that
// gateways keep in Redis. On shards its commands need to be readable only; which there will be
// is not known, so the audit stands for them.
func (c Config) needs() []redisx.Need {
	lease, read := c.Store.KeyPrefix+":monitor:lease", c.Store.KeyPrefix+":gateway:audit"
	return []redisx.Need{
		redisx.NeedScript(lease),
		redisx.NeedOn(lease, "GET"),
		redisx.NeedOn(lease, "SET", "v"),
		redisx.NeedOn(lease, "PEXPIRE", "1"),
		redisx.NeedOn(lease, "DEL"),
		redisx.NeedOn(read, "EXISTS"),
		redisx.NeedOn(read, "XLEN"),
		redisx.NeedOn(read, "XRANGE", "-", "+"),
		redisx.NeedOn(read, "XREVRANGE", "+", "-"),
		redisx.NeedOn(read, "XINFO STREAM"),
		redisx.NeedOn(read, "XINFO GROUPS"),
		redisx.NeedOn(read, "XINFO CONSUMERS", "g"),
		redisx.NeedOn(read, "XPENDING", "g"),
		redisx.NeedOn(read, "MEMORY USAGE"),
	}
}

// permit makes the watch over what the Redis user may do. It asks nobody: rounds do.
func (a *App) permit() {
	a.board.permissions = redisx.NewPermissions(a.redis, a.cfg.needs(), a.log)
}

// watchPermissions has what the Redis user may not do logged, where it has changed.
func (a *App) watchPermissions() {
	ctx, cancel := context.WithTimeout(context.Background(), permissionTimeout)
	defer cancel()
	a.board.permissions.Problem(ctx)
}
