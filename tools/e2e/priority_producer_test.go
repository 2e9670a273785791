package e2e_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

func TestPriorityProducerFailsClosedWhenItsCacheExpires(t *testing.T) {
	t.Parallel()
	const routingLease = 8 * time.Second
	s := startSuite(t, "--coordination-routing-lease", routingLease.String())
	s.createStream()
	rdb := s.connect()
	c, err := client.New(client.Options{CoordinatorURL: s.url(), Redis: rdb})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	p, err := c.NewProducer(t.Context(), stream, group, client.ProducerOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close(context.WithoutCancel(t.Context())) })

	published := 0
	publish := func() error {
		_, err := p.Publish(t.Context(), strconv.Itoa(published), map[string]any{"n": published})
		if err == nil {
			published++
		}
		return err
	}
	require.NoError(t, publish())
	s.coordinator.kill()
	killed := time.Now()
	require.NoError(t, publish(), "a short outage stops no producer")
	var last time.Time // when the last publication that was taken began
	s.eventually(func() bool {
		begun := time.Now()
		err := publish()
		if err == nil {
			last = begun
			return false
		}
		return errors.Is(err, client.ErrRoutingExpired)
	}, "the cache expires")
	require.LessOrEqual(t, last.Sub(killed), routingLease)
	require.ErrorIs(t, publish(), client.ErrRoutingExpired)
	require.Positive(t, p.Status().RefreshFailures)
	require.Equal(t, published, s.entries(rdb), "nothing was written that was refused")

	s.startCoordinator()
	s.eventually(func() bool { return publish() == nil }, "it goes on with the coordinator")
	require.Equal(t, published, s.entries(rdb))
}

// entries counts what is in all shards.
func (s *suite) entries(rdb redis.UniversalClient) int {
	s.t.Helper()
	count := 0
	for shard := range shards {
		length, err := rdb.XLen(s.t.Context(), routing.StreamKey(stream, shard)).Result()
		require.NoError(s.t, err)
		count += int(length)
	}
	return count
}
