package login

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	pollEvery   = time.Second
	pollTimeout = 3 * time.Second
	// readEvery is after how many polls the whole set is read though nothing has changed, and
	// what is over removed from it.
	readEvery = 60
	// keepOver is how long a revocation that is over stays in Redis, for gateways whose clock
	// is behind.
	keepOver = time.Hour
	// revisionMember changes with the set, downwards from 0, below the times, by a random step
	// up to maxStep: a Redis that has lost its data does not get to the same number again.
	revisionMember = "#revision"
	maxStep        = 1 << 20
)

// RedisRevocations is the Revocations of several gateways. They share a sorted set, with the
// ends of the tokens as scores, that each reads within a second of a change. While Redis is
// away, what was known counts on, and what is revoked counts at this gateway; it is shared
// when Redis is back, and so is what a Redis without persistence has lost. It is safe for concurrent use.
type RedisRevocations struct {
	known *LocalRevocations
	rdb   redis.UniversalClient
	key   string
	now   func() time.Time
	log   *slog.Logger
	stop  context.CancelFunc
	ended chan struct{}

	mu     sync.Mutex
	unsent map[string]time.Time
	ready  atomic.Bool

	// What follows belongs to the goroutine that polls.
	revision float64
	polls    int
	away     bool
}

// NewRedisRevocations reads the revocations below {keyPrefix}:gateway:revoked, and goes on
// to read them until Close. A Redis that is away is logged and no error: Ready is false then
// until it is back.
func NewRedisRevocations(ctx context.Context, rdb redis.UniversalClient, keyPrefix string, now func() time.Time, log *slog.Logger) *RedisRevocations {
	r := &RedisRevocations{
		known: NewLocalRevocations(now), rdb: rdb, key: keyPrefix + ":gateway:revoked", now: now, log: httpx.Logger(log),
		ended: make(chan struct{}), unsent: map[string]time.Time{},
	}
	r.poll(ctx)
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	go r.run(ctx)
	return r
}

// Close ends the reading.
func (r *RedisRevocations) Close() {
	r.stop()
	<-r.ended
}

// Ready tells whether Redis was read once. Before that, tokens that were revoked are taken,
// so the gateway is not ready for requests.
func (r *RedisRevocations) Ready() bool { return r.ready.Load() }

// Revoked implements Revocations.
func (r *RedisRevocations) Revoked(id string) bool { return r.known.Revoked(id) }

// Revoke implements Revocations. With STORE_UNAVAILABLE the token is over at this gateway,
// and at the others as soon as Redis answers.
func (r *RedisRevocations) Revoke(ctx context.Context, id string, until time.Time) error {
	if err := r.known.Revoke(ctx, id, until); err != nil {
		return err
	}
	if err := r.send(ctx, id, until); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.unsent[id] = until
		return protocol.Errorf(protocol.CodeStoreUnavailable,
			"the token is over at this gateway, but others learn of it only when Redis answers").Because(err)
	}
	return nil
}

func (r *RedisRevocations) send(ctx context.Context, id string, until time.Time) error {
	_, err := r.rdb.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.ZAdd(ctx, r.key, redis.Z{Score: math.Ceil(float64(until.UnixMilli()) / 1000), Member: id})
		pipe.ZIncrBy(ctx, r.key, -float64(1+rand.IntN(maxStep)), revisionMember)
		return nil
	})
	if err != nil {
		return fmt.Errorf("share revocation: %w", err)
	}
	return nil
}

func (r *RedisRevocations) run(ctx context.Context) {
	defer close(r.ended)
	ticker := clock.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			r.poll(ctx)
		}
	}
}

// poll shares what was not shared and reads what others have. It logs when Redis goes away
// and when it is back.
func (r *RedisRevocations) poll(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	err := errors.Join(r.sendUnsent(limited), r.read(limited))
	switch {
	case ctx.Err() != nil:
	case err != nil && !r.away:
		r.away = true
		r.log.ErrorContext(ctx, "revoked tokens cannot be read; tokens that other gateways revoke stay valid here until they can", "error", err)
	case err == nil && r.away:
		r.away = false
		r.log.InfoContext(ctx, "revoked tokens are read again")
	}
}

func (r *RedisRevocations) sendUnsent(ctx context.Context) error {
	r.mu.Lock()
	waiting := maps.Clone(r.unsent)
	r.mu.Unlock()
	for id, until := range waiting {
		if err := r.send(ctx, id, until); err != nil {
			return err
		}
		r.mu.Lock()
		delete(r.unsent, id)
		r.mu.Unlock()
	}
	return nil
}

func (r *RedisRevocations) read(ctx context.Context) error {
	revision, err := r.rdb.ZScore(ctx, r.key, revisionMember).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return fmt.Errorf("read revision of revocations: %w", err)
	}
	if revision == r.revision && r.polls%readEvery != 0 {
		r.polls++
		return nil
	}
	now := r.now()
	var found *redis.ZSliceCmd
	_, err = r.rdb.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.ZRemRangeByScore(ctx, r.key, "(0", strconv.FormatInt(now.Add(-keepOver).Unix(), 10))
		found = pipe.ZRangeByScoreWithScores(ctx, r.key, &redis.ZRangeBy{Min: strconv.FormatInt(now.Unix(), 10), Max: "+inf"})
		return nil
	})
	if err != nil {
		return fmt.Errorf("read revocations: %w", err)
	}
	if err := r.learn(found.Val(), now); err != nil {
		return err
	}
	r.revision = revision
	r.polls++
	r.ready.Store(true)
	return nil
}

// learn takes over what Redis has. What it has lost is shared again.
func (r *RedisRevocations) learn(found []redis.Z, now time.Time) error {
	lost := r.known.all()
	for _, one := range found {
		id, _ := one.Member.(string)
		delete(lost, id)
		if !r.known.add(id, time.Unix(int64(one.Score), 0)) {
			return errors.New("more tokens are revoked than are kept")
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, until := range lost {
		if now.Before(until) {
			r.unsent[id] = until
		}
	}
	return nil
}
