package app

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// needs is what the gateway's user of Redis has to be allowed (reliability 5, Redis); see
// docs/redis-acl.md.
func (c Config) needs() []redisx.Need {
	var needs []redisx.Need
	if c.Audit.Sink == SinkRedis {
		needs = auditNeeds(audit.Stream(c.Store.KeyPrefix))
	}
	if c.API.RateLimit.Store == StoreRedis {
		needs = append(needs, sharedNeeds(c.Store.KeyPrefix+":gateway:")...)
	}
	return needs
}

// auditNeeds are those of the audit.
func auditNeeds(stream string) []redisx.Need {
	head, last := stream+":head:{"+stream+"}", stream+":last:{"+stream+"}:acl-check"
	return []redisx.Need{
		redisx.NeedScript(stream),
		redisx.NeedOn(head, "HMGET", "f"),
		redisx.NeedOn(head, "HSET", "f", "v"),
		redisx.NeedOn(head, "HGETALL"),
		redisx.NeedOn(last, "GET"),
		redisx.NeedOn(last, "SET", "v"),
		redisx.NeedOn(stream, "XADD", "*", "f", "v"),
		redisx.NeedOn(stream, "XRANGE", "-", "+"),
		redisx.NeedOn(stream, "XREVRANGE", "+", "-"),
		redisx.NeedOn("", "MULTI"),
		redisx.NeedOn("", "EXEC"),
	}
}

// sharedNeeds are those of what gateways share: counters, idempotency keys and logouts.
func sharedNeeds(prefix string) []redisx.Need {
	rate, once, revoked := prefix+"rate:acl-check", prefix+"idempotency:acl-check", prefix+"revoked"
	return []redisx.Need{
		redisx.NeedScript(rate),
		redisx.NeedOn("", "TIME"),
		redisx.NeedOn(rate, "INCR"),
		redisx.NeedOn(rate, "PTTL"),
		redisx.NeedOn(rate, "SET", "v"),
		redisx.NeedOn(once, "HMGET", "f"),
		redisx.NeedOn(once, "HSET", "f", "v"),
		redisx.NeedOn(once, "PEXPIRE", "1"),
		redisx.NeedOn(once, "DEL"),
		redisx.NeedOn("", "MULTI"),
		redisx.NeedOn("", "EXEC"),
		redisx.NeedOn(revoked, "ZADD", "1", "m"),
		redisx.NeedOn(revoked, "ZINCRBY", "1", "m"),
		redisx.NeedOn(revoked, "ZSCORE", "m"),
		redisx.NeedOn(revoked, "ZRANGEBYSCORE", "0", "1"),
		redisx.NeedOn(revoked, "ZREMRANGEBYSCORE", "0", "1"),
	}
}

// permit makes the watch over what the Redis user may do, and looks for the first time.
func (a *App) permit(ctx context.Context) {
	if a.redis == nil {
		return
	}
	a.permissions = redisx.NewPermissions(a.redis, a.cfg.needs(), a.log)
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	a.permissions.Problem(ctx) // which logs what it finds
}
