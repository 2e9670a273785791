package ratelimit

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// callTimeout bounds how long a mutation waits for its count.
const callTimeout = 2 * time.Second

// Redis counts in Redis, exactly for all gateways that share it. Windows go by the clock of
// the Redis node that holds the key. It may be used from several goroutines.
//
// A call that has lost its connection is sent again by the client, so a request may count
// twice while Redis is failing; none is missed.
type Redis struct {
	rdb    redis.UniversalClient
	prefix string
	window time.Duration
	hit    *redis.Script
}

// NewRedis returns a counter with windows of that length, at least 1 ms, whose keys are
// {keyPrefix}:gateway:rate:… and end with their window. It does not connect.
func NewRedis(rdb redis.UniversalClient, keyPrefix string, window time.Duration) *Redis {
	return &Redis{rdb: rdb, prefix: keyPrefix + ":gateway:rate:", window: window, hit: redis.NewScript(hitSource)}
}

// hitSource counts in the window that ends with the key, and begins one at the next multiple
// of its length where there is none. A key that lasts longer than a window, or for ever, is
// of a clock that was wrong or of other settings. ARGV: window in ms. It answers count and
// the rest of the window in ms.
const hitSource = `
local window = tonumber(ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left > 0 and left <= window then
  return {redis.call('INCR', KEYS[1]), left}
end
local time = redis.call('TIME')
left = window - (time[1] * 1000 + math.floor(time[2] / 1000)) % window
redis.call('SET', KEYS[1], 1, 'PX', left)
return {1, left}`

// Hit implements Counter. It waits at most 2 s, also where the caller goes away meanwhile:
// what was asked for counts.
func (c *Redis) Hit(ctx context.Context, key string, _ time.Time) (Hits, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	answer, err := c.hit.Run(ctx, c.rdb, []string{c.prefix + key}, c.window.Milliseconds()).Int64Slice()
	if err != nil {
		return Hits{}, fmt.Errorf("count a request in Redis: %w", err)
	}
	if len(answer) != 2 {
		return Hits{}, fmt.Errorf("count a request in Redis: the script answers %d numbers", len(answer))
	}
	return Hits{Count: answer[0], Reset: time.Duration(answer[1]) * time.Millisecond}, nil
}
