package e2e_test

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// writer publishes without a pause, and notes what Redis took.
type writer struct {
	mu   sync.Mutex
	took map[int][]string
	stop func()
}

// write starts a writer; it publishes again what was not taken.
func (d *drainage) write() *writer {
	d.t.Helper()
	c, err := client.New(client.Options{CoordinatorURL: d.url(), Redis: d.rdb})
	require.NoError(d.t, err)
	p, err := c.NewProducer(d.t.Context(), stream, group, client.ProducerOptions{})
	require.NoError(d.t, err)
	w := &writer{took: map[int][]string{}}
	done, stopped := make(chan struct{}), make(chan struct{})
	ctx := d.t.Context()
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-stopped:
				return
			default:
			}
			result, err := p.Publish(ctx, fmt.Sprint(n), map[string]any{"n": n})
			if err == nil {
				w.mu.Lock()
				w.took[result.Shard] = append(w.took[result.Shard], result.ID)
				w.mu.Unlock()
			}
			_ = clock.Sleep(ctx, 2*time.Millisecond)
		}
	}()
	w.stop = sync.OnceFunc(func() {
		close(stopped)
		<-done
		_ = p.Close(ctx)
		_ = c.Close()
	})
	d.t.Cleanup(w.stop)
	return w
}

// accepted returns by shard the ids that Redis has given, in their order.
func (w *writer) accepted() map[int][]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	took := map[int][]string{}
	for index, ids := range w.took {
		took[index] = slices.Clip(ids)
	}
	return took
}
