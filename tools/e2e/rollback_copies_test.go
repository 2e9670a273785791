package e2e_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// metadataKey is where the coordinator keeps the record of the group.
var metadataKey = fmt.Sprintf("redis-stream:coord:{%s:%s}:metadata", stream, group)

// copies keeps what the store held after each structural commit.
type copies[T any] struct {
	mu        sync.Mutex
	byVersion map[int64]T
	stop      func()
}

// keepCopies takes a copy now and after every commit until stop is called. It is told of
// commits by Redis; of some in quick succession only the last may be seen.
func keepCopies[T any](t *testing.T, server *redisproc.Server, take func(*redis.Client) (T, error)) *copies[T] {
	t.Helper()
	rdb := server.Client(t)
	require.NoError(t, rdb.ConfigSet(t.Context(), "notify-keyspace-events", "Kh").Err())
	changes := rdb.Subscribe(t.Context(), "__keyspace@0__:"+metadataKey)
	_, err := changes.Receive(t.Context())
	require.NoError(t, err)
	c := &copies[T]{byVersion: map[int64]T{}}
	c.keep(t, rdb, take)
	var running sync.WaitGroup
	running.Go(func() {
		for range changes.Channel() {
			c.keep(t, rdb, take)
		}
	})
	c.stop = sync.OnceFunc(func() {
		_ = changes.Close()
		running.Wait()
	})
	t.Cleanup(c.stop)
	return c
}

// keep takes a copy if there is none of the version that the store has now.
func (c *copies[T]) keep(t *testing.T, rdb *redis.Client, take func(*redis.Client) (T, error)) {
	t.Helper()
	before, err := storedVersion(t, rdb)
	if err != nil {
		return // the test is over
	}
	c.mu.Lock()
	_, known := c.byVersion[before]
	c.mu.Unlock()
	if known {
		return
	}
	taken, err := take(rdb)
	if err != nil {
		return
	}
	if after, err := storedVersion(t, rdb); err != nil || after != before {
		return
	}
	c.mu.Lock()
	c.byVersion[before] = taken
	c.mu.Unlock()
}

// has tells whether there is a copy of a version.
func (c *copies[T]) has(version int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, found := c.byVersion[version]
	return found
}

// at returns the copy of a version.
func (c *copies[T]) at(version int64) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byVersion[version]
}

// storedVersion returns the metadata version of the group's record.
func storedVersion(t *testing.T, rdb *redis.Client) (int64, error) {
	t.Helper()
	aggregate, err := rdb.HGet(t.Context(), metadataKey, "aggregate").Bytes()
	if err != nil {
		return 0, err
	}
	var record struct {
		MetadataVersion int64 `json:"metadataVersion"`
	}
	err = json.Unmarshal(aggregate, &record)
	return record.MetadataVersion, err
}
