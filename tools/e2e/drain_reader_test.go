package e2e_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// shardReader is a consumer in the test's own process that notes what it handles. Records of
// gated shards are held in their handlers until they are let go, one after the other.
type shardReader struct {
	*client.Consumer
	d    *drainage
	log  output
	stop func() // leaves the group

	mu      sync.Mutex
	begun   map[place]int
	handled map[place]int
	gates   map[int]chan struct{} // by shard
}

// read starts a reader.
func (d *drainage) read(id string, gated ...int) *shardReader {
	d.t.Helper()
	r := &shardReader{d: d, begun: map[place]int{}, handled: map[place]int{}, gates: map[int]chan struct{}{}}
	c, err := client.New(client.Options{
		CoordinatorURL: d.url(), Redis: d.rdb, Logger: slog.New(slog.NewTextHandler(&r.log, nil)),
	})
	require.NoError(d.t, err)
	for _, index := range gated {
		r.gates[index] = make(chan struct{})
	}
	r.Consumer, err = c.NewConsumer(client.Subscription{
		Stream: stream, Group: group, MemberID: id, Workers: 16, BatchSize: 1, PollTimeout: 100 * time.Millisecond,
		ClientLease: time.Minute, // the coordinator's is shorter, and counts
	}, r.handle)
	require.NoError(d.t, err)
	ctx, cancel := context.WithCancel(d.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.Run(ctx)
	}()
	r.stop = sync.OnceFunc(func() {
		r.open()
		cancel()
		<-done
		_ = c.Close()
	})
	d.t.Cleanup(r.stop)
	return r
}

func (r *shardReader) handle(ctx context.Context, m *client.Message) error {
	at := place{m.Shard, m.ID}
	r.mu.Lock()
	r.begun[at]++
	gate := r.gates[m.Shard]
	r.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := m.Ack(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handled[at]++
	return nil
}

// letGo lets the handler of a gated shard end that has a record in hand.
func (r *shardReader) letGo(index int) {
	r.d.t.Helper()
	r.mu.Lock()
	gate := r.gates[index]
	r.mu.Unlock()
	select {
	case gate <- struct{}{}:
	case <-time.After(patience):
		require.Fail(r.d.t, "no record in hand")
	}
}

// open lets everything go from now on.
func (r *shardReader) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for index, gate := range r.gates {
		close(gate)
		delete(r.gates, index)
	}
}

// has tells whether records of a shard were begun.
func (r *shardReader) has(index int, ids ...string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		if r.begun[place{index, id}] == 0 {
			return false
		}
	}
	return true
}

// did tells whether records of a shard were handled.
func (r *shardReader) did(index int, ids ...string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		if r.handled[place{index, id}] == 0 {
			return false
		}
	}
	return true
}

// repeats counts the handlings of a shard's records, beyond the first of each.
func (r *shardReader) repeats(index int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for at, times := range r.handled {
		if at.shard == index {
			count += times - 1
		}
	}
	return count
}

// said tells whether the reader has ever said in its log that it could not read a shard, and
// that this was why: by now it may read it again.
func (r *shardReader) said(index int, fault string) bool {
	return strings.Contains(string(r.log.bytes()), fmt.Sprintf(" shard=%d state=%s ", index, fault))
}

// fault returns why the reader cannot read a shard, "" when it can.
func (r *shardReader) fault(index int) string {
	for _, member := range r.Status().Members {
		for _, shard := range member.Shards {
			if shard.Index == index {
				return shard.Fault
			}
		}
	}
	return ""
}
