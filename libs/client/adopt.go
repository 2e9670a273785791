package client

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/shardkey"
)

// adoptPage is how many pending records are taken over at once.
const adoptPage = 100

// adopt goes through what is pending on the shard, whoever had it, in id order, and hands it
// to the handler: at a take-over and after an error everything, else what has been idle for
// a sweep. What this process knows of is left alone (field case F10): records in a handler,
// waiting for their next try, or kept by the application. At the end names of former
// consumers that have nothing pending are removed (F09).
func (r *reader) adopt() error {
	idle := time.Duration(0)
	if r.adopted {
		idle = r.sub.SweepInterval
	}
	r.acks.drain(r) // what is acknowledged is not adopted
	after := ""
	for r.mayStart() {
		page, err := r.shardKey.Pending(r.ctx, after, adoptPage, idle)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			r.adopted, r.sweepAt = true, r.now()+r.sub.SweepInterval
			return r.cleanUp()
		}
		after = page[len(page)-1].ID
		if err := r.claim(r.unknown(page)); err != nil {
			return err
		}
	}
	return errGivenUp
}

// claim takes entries over and delivers them in their order.
func (r *reader) claim(entries []shardkey.Entry) error {
	for len(entries) > 0 {
		together := r.together(entries)
		if !r.mayStart() {
			return errGivenUp
		}
		began := r.spans.now()
		records, lost, err := r.shardKey.Claim(r.ctx, entries[:together])
		if err != nil {
			return err
		}
		r.lost(lost)
		if err := r.deliverAll(records, r.spans.reads(r.ctx, began, records)); err != nil {
			return err
		}
		entries = entries[together:]
	}
	return nil
}

// together returns how many of the entries are claimed at once. A record that comes to its
// limit with this delivery goes alone, as it may be one that kills its process: others that
// were in hand with it each time must not come to theirs by that (field case F11).
func (r *reader) together(entries []shardkey.Entry) int {
	count := 0
	for count < len(entries) && !r.exhausted(entries[count].Deliveries+1) {
		count++
	}
	return max(count, 1)
}

// unknown returns the entries of a page that this process does not know of.
func (r *reader) unknown(page []shardkey.Entry) []shardkey.Entry {
	r.retryMu.Lock()
	defer r.retryMu.Unlock()
	result := make([]shardkey.Entry, 0, len(page))
	for _, entry := range page {
		_, kept := r.unsettled[entry.ID]
		if !kept && !r.retries.has(entry.ID) && !r.consumer.books.handling(r.shard, entry.ID) {
			result = append(result, entry)
		}
	}
	return result
}

// lost acknowledges records that were trimmed before they were handled, and counts them
// (field cases F06, F07, F24). What Redis does not take now is found by the next adoption.
func (r *reader) lost(ids []string) {
	if len(ids) == 0 || !r.mayAck() {
		return
	}
	if err := r.shardKey.Drop(r.ctx, ids); err != nil {
		r.adopted = false
		return
	}
	r.consumer.counters.lostByTrim.Add(int64(len(ids)))
	r.trouble.log.Warn("pending records were trimmed before they were handled", "count", len(ids), "first", ids[0])
	for _, id := range ids {
		r.forget(id)
	}
}

// cleanUp removes the names of former consumers that have nothing pending.
func (r *reader) cleanUp() error {
	if r.now() < r.cleanAt || !r.mayStart() {
		return nil
	}
	_, err := r.shardKey.Forget(r.ctx, r.sub.FormerConsumerIdle)
	r.cleanAt = r.now() + r.sub.FormerConsumerIdle
	return err
}
