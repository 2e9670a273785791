package redisstore_test

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// meddle is a hook that runs before the n-th command of a name that a client sends.
type meddle struct {
	name string
	left atomic.Int64
	act  func()
}

func before(name string, n int64, act func()) *meddle {
	m := &meddle{name: name, act: act}
	m.left.Store(n)
	return m
}

func (*meddle) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*meddle) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (m *meddle) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == m.name && m.left.Add(-1) == 0 {
			m.act()
		}
		return next(ctx, cmd)
	}
}
