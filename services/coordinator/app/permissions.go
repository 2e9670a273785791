package app

import (
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
)

// permissions returns the watch over what the Redis user may do, nil where there is no Redis.
func (a *App) permissions() *redisx.Permissions {
	if a.redis == nil {
		return nil
	}
	return redisx.NewPermissions(a.redis, a.cfg.needs(), a.log)
}

// needs is what the coordinator's user of Redis has to be allowed (reliability 5, Redis); see
// docs/redis-acl.md. What it can do without, such as INFO, is not in it.
func (c Config) needs() []redisx.Need {
	var needs []redisx.Need
	if c.Store.Type == StoreRedis {
		needs = storeNeeds(c.Store.KeyPrefix)
		if c.Store.Redis.WaitReplicas == string(redisstore.WaitAuto) {
			needs = append(needs, redisx.NeedOn("", "WAIT", "1", "1"))
		}
	}
	if c.Provisioning.Enabled {
		needs = append(needs, shardNeeds(c.Store.KeyPrefix)...)
	}
	return needs
}

// storeNeeds are those of the metadata. The names in the keys are nobody's.
func storeNeeds(prefix string) []redisx.Need {
	group := prefix + ":{acl-check:acl-check}"
	record, events, lease := group+":metadata", group+":events", group+":lease"
	index, peers := prefix+":groups", prefix+":coordinators"
	return []redisx.Need{
		redisx.NeedScript(record),
		redisx.NeedOn("", "TIME"),
		redisx.NeedOn(record, "EXISTS"),
		redisx.NeedOn(record, "TYPE"),
		redisx.NeedOn(record, "HGET", "f"),
		redisx.NeedOn(record, "HMGET", "f"),
		redisx.NeedOn(record, "HGETALL"),
		redisx.NeedOn(record, "HKEYS"),
		redisx.NeedOn(record, "HSET", "f", "v"),
		redisx.NeedOn(record, "HDEL", "f"),
		redisx.NeedOn(record, "DEL"),
		redisx.NeedOn(events, "XADD", "*", "f", "v"),
		redisx.NeedOn(events, "XRANGE", "-", "+"),
		redisx.NeedOn(events, "PERSIST"),
		redisx.NeedOn(events, "PEXPIRE", "1"),
		redisx.NeedOn(lease, "GET"),
		redisx.NeedOn(lease, "SET", "v"),
		redisx.NeedOn(index, "SADD", "m"),
		redisx.NeedOn(index, "SREM", "m"),
		redisx.NeedOn(index, "SMEMBERS"),
		redisx.NeedOn(peers, "HSET", "f", "v"),
	}
}

// shardNeeds are those of provisioning and sealing. A marker stands for the shards too: which
// streams there will be is not known.
func shardNeeds(prefix string) []redisx.Need {
	marker, retired := prefix+":shard:{acl-check:0}", prefix+":retired:{acl-check:0}:r"
	return []redisx.Need{
		redisx.NeedScript(marker),
		redisx.NeedOn(marker, "TYPE"),
		redisx.NeedOn(marker, "GET"),
		redisx.NeedOn(marker, "SET", "v"),
		redisx.NeedOn(marker, "DEL"),
		redisx.NeedOn(marker, "UNLINK"),
		redisx.NeedOn(marker, "RENAMENX", retired),
		redisx.NeedOn(retired, "PERSIST"),
		redisx.NeedOn(retired, "PEXPIRE", "1"),
		redisx.NeedOn(marker, "XINFO STREAM"),
		redisx.NeedOn(marker, "XINFO GROUPS"),
		redisx.NeedOn(marker, "XPENDING", "g"),
		redisx.NeedOn(marker, "XRANGE", "-", "+"),
		redisx.NeedOn(marker, "XGROUP CREATE", "g", "0", "MKSTREAM"),
		redisx.NeedOn(marker, "XGROUP DESTROY", "g"),
	}
}
