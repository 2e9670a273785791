package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// kept is the MAXLEN of every shard: more than the load leaves unread, so that trimming
	// takes what was read.
	kept = 4000
	// tick is how often the load writes and reads so many records: 500 and 300 a second.
	tick                   = 20 * time.Millisecond
	writePerTick, readTick = 10, 6
	loadFor                = 60 * time.Second
)

// load is a producer and a consumer of known pace, and the truth about them.
type load struct {
	rdb *redis.Client

	mu   sync.Mutex
	said []truth
}

// truth is how much was written and read until a time.
type truth struct {
	at                 time.Time
	produced, consumed float64
}

// run writes and reads until ctx ends.
func (l *load) run(ctx context.Context) error {
	clock := time.NewTicker(tick)
	defer clock.Stop()
	now := truth{at: time.Now()}
	for turn := 0; ; turn++ {
		l.mu.Lock()
		l.said = append(l.said, now)
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-clock.C:
		}
		read, err := l.once(context.WithoutCancel(ctx), turn)
		if err != nil {
			return err
		}
		now = truth{time.Now(), now.produced + writePerTick, now.consumed + float64(read)}
	}
}

// once is the work of a tick. Shards take turns.
func (l *load) once(ctx context.Context, turn int) (int, error) {
	pipe := l.rdb.Pipeline()
	for i := range writePerTick {
		pipe.XAdd(ctx, &redis.XAddArgs{Stream: key(turn*writePerTick + i), MaxLen: kept, Values: []string{"payload", "x"}})
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, fmt.Errorf("write: %w", err)
	}
	return l.read(ctx, turn, readTick)
}

func (l *load) read(ctx context.Context, turn, most int) (int, error) {
	args := &redis.XReadGroupArgs{Group: "billing", Consumer: "c", Streams: []string{key(turn), ">"}, Count: int64(most), Block: -1}
	found, err := l.rdb.XReadGroup(ctx, args).Result()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read: %w", err)
	}
	var ids []string
	for _, message := range found[0].Messages {
		ids = append(ids, message.ID)
	}
	return len(ids), l.rdb.XAck(ctx, key(turn), "billing", ids...).Err()
}

func key(turn int) string { return fmt.Sprintf("orders:%d", turn%shardCount) }

// between returns what was written and read from one time to another.
func (l *load) between(from, to time.Time) truth {
	begin, end := l.until(from), l.until(to)
	return truth{produced: end.produced - begin.produced, consumed: end.consumed - begin.consumed}
}

// until returns the truth at a time, on a line between the two next to it.
func (l *load) until(at time.Time) truth {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.said, func(t truth) bool { return t.at.After(at) })
	if i <= 0 {
		return truth{at: at}
	}
	before, after := l.said[i-1], l.said[i]
	part := float64(at.Sub(before.at)) / float64(after.at.Sub(before.at))
	return truth{at, before.produced + part*(after.produced-before.produced), before.consumed + part*(after.consumed-before.consumed)}
}

// fill makes every shard full of records that were read, so that trimming is in force.
func (l *load) fill(t *testing.T) {
	t.Helper()
	for shard := range shardCount {
		pipe := l.rdb.Pipeline()
		for range kept {
			pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: key(shard), Values: []string{"payload", "x"}})
		}
		_, err := pipe.Exec(t.Context())
		require.NoError(t, err)
		read, err := l.read(t.Context(), shard, 2*kept)
		require.NoError(t, err)
		require.Equal(t, kept, read)
	}
}

// Monitoring, Rates: what is told of a known load is within 5 % of the truth, though shards
// are trimmed; the first look has no rates; a broken shard disturbs no other (F35).
func TestRatesAreTheTruthOfAKnownLoad(t *testing.T) {
	t.Parallel()
	o := observe(t, "RSC_OBSERVE_INTERVAL=3s")
	first := o.offsets(func(protocol.StreamShardOffsetsResponse) bool { return true })
	require.Nil(t, first.ProducedPerSecond, "there is nothing to compare with")
	require.Nil(t, first.ConsumedPerSecond)
	require.Len(t, first.Shards, shardCount)
	require.Zero(t, *first.TotalLag, "the lag is known at once")

	l := &load{rdb: o.rdb}
	l.fill(t)
	ctx, stop := context.WithTimeout(t.Context(), loadFor)
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- l.run(ctx) }()

	looks := o.looks(func() bool { return ctx.Err() != nil })
	require.NoError(t, <-failed)
	l.mu.Lock()
	begin := l.said[0].at
	l.mu.Unlock()
	var told, was truth
	var watched, unknown time.Duration
	for i, look := range looks[1:] {
		from, to := looks[i].Shards[0].ObservedAt.Time, look.Shards[0].ObservedAt.Time
		took := to.Sub(from)
		if from.Before(begin) || took > 5*time.Second { // the filling, or a look that was missed
			continue
		}
		require.NotNil(t, look.ProducedPerSecond)
		require.Equal(t, shardCount, look.KnownParts)
		if look.ConsumedPerSecond == nil { // the stream and the group were asked too far apart
			unknown += took
			continue
		}
		watched += took
		told.produced += *look.ProducedPerSecond * took.Seconds()
		told.consumed += *look.ConsumedPerSecond * took.Seconds()
		really := l.between(from, to)
		was.produced += really.produced
		was.consumed += really.consumed
	}
	t.Logf("in %v produced %.0f, told %.0f; consumed %.0f, told %.0f; %v unknown", watched, was.produced, told.produced, was.consumed, told.consumed, unknown)
	require.Greater(t, watched, loadFor/3, "looks were taken")
	require.Less(t, unknown, watched/4, "the lag is known, trimming took only what was read")
	require.Positive(t, was.consumed)
	require.InEpsilon(t, was.produced, told.produced, 0.05)
	require.InEpsilon(t, was.consumed, told.consumed, 0.05)
	o.breakOne(t)
}

// looks collects every look until it is over.
func (o *observed) looks(over func() bool) []protocol.StreamShardOffsetsResponse {
	o.t.Helper()
	var all []protocol.StreamShardOffsetsResponse
	for !over() {
		all = append(all, o.offsets(func(r protocol.StreamShardOffsetsResponse) bool {
			return over() || len(all) == 0 || r.ObservedAt.After(all[len(all)-1].ObservedAt.Time)
		}))
	}
	return all[:len(all)-1] // the last one may be no new one
}

// breakOne puts something else in the place of a shard.
func (o *observed) breakOne(t *testing.T) {
	t.Helper()
	require.NoError(t, o.rdb.Del(t.Context(), "orders:2").Err())
	require.NoError(t, o.rdb.Set(t.Context(), "orders:2", "x", 0).Err())
	now := o.offsets(func(r protocol.StreamShardOffsetsResponse) bool { return r.Shards[2].Problem != nil })
	require.Equal(t, "WRONG_TYPE", *now.Shards[2].Problem)
	require.True(t, now.Partial)
	require.Nil(t, now.TotalLag, "a part is not known")
	require.Nil(t, now.Shards[2].Lag)
	for _, index := range []int{0, 1, 3} {
		shard := now.Shards[index]
		require.Nil(t, shard.Problem)
		require.EqualValues(t, kept, shard.StreamLength)
		require.Positive(t, *shard.Lag)
		require.NotNil(t, shard.ProducedPerSecond)
	}
	rows := string(o.get(monitoring + "/grafana/shards?streamPrefix=orders&consumerGroup=billing"))
	require.Equal(t, 1, strings.Count(rows, `"problem":"WRONG_TYPE"`))
}
