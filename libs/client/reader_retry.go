package client

import (
	"math"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/shardkey"
)

// maxRetries bounds what one shard remembers of failed records; what is beyond stays pending
// and is found by the sweep.
const maxRetries = 10_000

// retry is a failed record and when it is due again.
type retry struct {
	id         string
	deliveries int64
	due        time.Duration
}

// retryBook holds the failed records of one shard in the order in which they are due.
type retryBook struct {
	policy Retry
	list   []retry
	ids    map[string]struct{} // those of list
}

func newRetryBook(policy Retry) retryBook {
	return retryBook{policy: policy, ids: map[string]struct{}{}}
}

// backoff returns the pause after the given number of deliveries.
func (b *retryBook) backoff(deliveries int64) time.Duration {
	pause := b.policy.MinBackoff
	for range min(deliveries-1, 32) {
		if pause *= 2; pause >= b.policy.MaxBackoff {
			return b.policy.MaxBackoff
		}
	}
	return pause
}

func (b *retryBook) add(one retry) {
	if len(b.list) >= maxRetries || b.has(one.id) {
		return
	}
	at, _ := slices.BinarySearchFunc(b.list, one, func(x, y retry) int {
		if x.due <= y.due {
			return -1
		}
		return 1
	})
	b.list = slices.Insert(b.list, at, one)
	b.ids[one.id] = struct{}{}
}

func (b *retryBook) has(id string) bool {
	_, found := b.ids[id]
	return found
}

func (b *retryBook) remove(id string) {
	if !b.has(id) {
		return
	}
	delete(b.ids, id)
	b.list = slices.DeleteFunc(b.list, func(one retry) bool { return one.id == id })
}

// take removes and returns at most count records that are due at now.
func (b *retryBook) take(now time.Duration, count int) []retry {
	due := 0
	for due < min(len(b.list), count) && b.list[due].due <= now {
		delete(b.ids, b.list[due].id)
		due++
	}
	taken := slices.Clone(b.list[:due])
	b.list = slices.Delete(b.list, 0, due)
	return taken
}

// again schedules a record whose handling failed; after 0 takes the policy's pause.
func (r *reader) again(id string, deliveries int64, after time.Duration) {
	r.retryMu.Lock()
	defer r.retryMu.Unlock()
	if after <= 0 {
		after = r.retries.backoff(deliveries)
	}
	delete(r.unsettled, id)
	r.retries.add(retry{id: id, deliveries: deliveries, due: r.now() + after})
}

// retryIn returns how long it is until the next failed record is due.
func (r *reader) retryIn() time.Duration {
	r.retryMu.Lock()
	defer r.retryMu.Unlock()
	if len(r.retries.list) == 0 {
		return math.MaxInt64
	}
	return r.retries.list[0].due - r.now()
}

// retryDue delivers the failed records that are due.
func (r *reader) retryDue() error {
	r.retryMu.Lock()
	due := r.retries.take(r.now(), r.sub.BatchSize)
	r.retryMu.Unlock()
	if len(due) == 0 {
		return nil
	}
	entries := make([]shardkey.Entry, 0, len(due))
	for _, one := range due {
		entries = append(entries, shardkey.Entry{ID: one.id, Deliveries: one.deliveries})
	}
	return r.claim(entries)
}

// insist waits out the pause of a failed record without letting others of its shard pass
// (StrictOrder), and returns it as delivered again. It returns nil when the record is gone,
// and an error when the shard was given up or Redis failed.
func (r *reader) insist(m *Message, pause time.Duration) (*Message, error) {
	if pause <= 0 {
		pause = r.retries.backoff(m.Deliveries)
	}
	if !r.pause(pause) || !r.awaitLease() {
		return nil, errBetweenTries
	}
	began := r.spans.now()
	records, lost, err := r.shardKey.Claim(r.ctx, []shardkey.Entry{{ID: m.ID, Deliveries: m.Deliveries}})
	if err != nil {
		return nil, err
	}
	r.lost(lost)
	if len(records) == 0 {
		return nil, nil
	}
	return r.message(records[0], r.spans.reads(r.ctx, began, records)), nil
}
