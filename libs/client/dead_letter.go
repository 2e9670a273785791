package client

import (
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/shardkey"
)

// ErrTooManyDeliveries is the cause of a dead letter whose last handling left no error,
// because the process died during it.
var ErrTooManyDeliveries = errors.New("record was delivered too often")

// errNotBuried comes when nobody took a dead letter.
var errNotBuried = errors.New("dead letter was not taken")

// exhausted tells that a record may not be delivered once more.
func (r *reader) exhausted(deliveries int64) bool {
	return r.sub.Retry.MaxDeliveries > 0 && deliveries >= r.sub.Retry.MaxDeliveries
}

// deadLetter hands a record over as dead and acknowledges it. When that fails the record
// stays pending and is tried again.
func (r *reader) deadLetter(m *Message, cause error) error {
	if !r.mayAck() {
		return errGivenUp
	}
	if err := r.bury(m, cause); err != nil {
		r.trouble.log.Warn("dead letter was not taken", "id", m.ID, "error", err)
		if r.sub.StrictOrder {
			return err
		}
		r.again(m.ID, m.Deliveries, 0)
		return nil
	}
	r.consumer.counters.deadLettered.Add(1)
	r.trouble.log.Warn("record is a dead letter", "id", m.ID, "deliveries", m.Deliveries, "cause", cause)
	m.settle(acked)
	r.acks.add(ack{reader: r, id: m.ID, mode: shardkey.AckMode{Fenced: r.sub.FencedAcks}})
	return nil
}

func (r *reader) bury(m *Message, cause error) error {
	policy := r.sub.Retry
	if policy.DeadLetter != "" {
		values := []any{
			"_stream", m.Stream, "_group", m.Group, "_shard", m.Shard, "_id", m.ID,
			"_deliveries", m.Deliveries, "_error", cause.Error(), KeyField, m.Key,
		}
		names := make([]string, 0, len(m.Fields))
		for name := range m.Fields {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			values = append(values, name, m.Fields[name])
		}
		err := r.consumer.redis.XAdd(r.ctx, &redis.XAddArgs{Stream: policy.DeadLetter, Values: values}).Err()
		if err != nil {
			return fmt.Errorf("%w: write to %s: %v", errNotBuried, policy.DeadLetter, err) //nolint:errorlint // it must not pass for an error of the shard.
		}
	}
	if policy.OnDeadLetter != nil {
		if err := policy.OnDeadLetter(m.traced(r.ctx), m, cause); err != nil {
			return fmt.Errorf("%w: %v", errNotBuried, err) //nolint:errorlint // it must not pass for an error of the shard.
		}
	}
	return nil
}
