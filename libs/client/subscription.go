package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Handler handles one record. The context ends when the shard is lost (its lease ran out,
// the member was fenced) and when a hand-over has waited DrainTimeout; it does not end
// because the consumer is asked to stop. An error, or a panic, leaves the record pending:
// it is delivered again after Retry.Backoff.
type Handler func(ctx context.Context, m *Message) error

// AckMode says who acknowledges.
type AckMode int

const (
	// AckExplicit leaves it to the handler: what it does not settle stays pending and is the
	// application's, which may still call Ack later, until the shard is given up; then the
	// next owner gets it.
	AckExplicit AckMode = iota
	// AckAfterHandler acknowledges a record when its handler returns nil, in batches of
	// BatchSize or 5 ms. It costs the fewest round trips.
	AckAfterHandler
)

// LeaveMode says how a consumer leaves.
type LeaveMode int

const (
	// LeaveGroup leaves for good: others take the shards at once.
	LeaveGroup LeaveMode = iota
	// LeaveForRestart keeps the shards for a member that comes back under the same id
	// within the member lease (protocol J5). It needs MemberID.
	LeaveForRestart
)

// Retry says what happens to records whose handling failed. The zero value repeats them for
// ever.
type Retry struct {
	// MinBackoff and MaxBackoff bound the pause before the next delivery, which doubles with
	// each; 0 means 1 s and 60 s.
	MinBackoff, MaxBackoff time.Duration
	// MaxDeliveries is how often a record is delivered at most; 0 is no limit. It is counted
	// by Redis, so a restart does not reset it (field case F11). A record over the limit goes
	// to DeadLetter, to OnDeadLetter, or to both, and is acknowledged.
	MaxDeliveries int64
	// DeadLetter is the key of a stream that takes the record with its fields and where it
	// came from (fields _stream, _group, _shard, _id, _deliveries, _error). It is written
	// before the record is acknowledged, so a crash in between can write it twice.
	DeadLetter string
	// OnDeadLetter is told of the record and its last error. An error of its own keeps the
	// record pending.
	OnDeadLetter func(ctx context.Context, m *Message, cause error) error
}

// Subscription says what a consumer reads and how. Stream and Group are required; the zero
// value of everything else is a working default.
type Subscription struct {
	// Stream is the prefix of the shard keys, Group the consumer group.
	Stream, Group string
	// Concurrency is the number of logical members that this consumer runs; 0 means 1. Each
	// owns shards of its own.
	Concurrency int
	// Workers is how many handlers of one member run at once, over different shards; the
	// records of one shard are handled one after the other. 0 means 1.
	Workers int
	// MemberID names the members: <MemberID>-m0, <MemberID>-m1 …, or just MemberID when
	// Concurrency is 1. It has to be the process's own. Empty takes DefaultMemberID("") with
	// the suffixes, so two processes of one host need different ids.
	MemberID string
	// MemberName is shown by monitoring; it may be empty.
	MemberName string
	// BatchSize is how many records one read returns at most; 0 means 100.
	BatchSize int
	// PollTimeout is how long one read waits for records; 0 means 250 ms. A shard that is
	// being handed over waits for the read that is out, which is ended early where the user
	// of the Redis client may use CLIENT UNBLOCK.
	PollTimeout time.Duration
	// DrainTimeout bounds how long a hand-over and Run's end wait for handlers; 0 means 20 s.
	// It should be below the coordinator's rebalance timeout (60 s).
	DrainTimeout time.Duration
	// ClientLease is how long a member may act after sending a heartbeat; 0 means 8 s. It is
	// at most 0.8 of the coordinator's member lease (protocol H5).
	ClientLease time.Duration
	// SweepInterval is how often a shard is searched for pending records that nobody of this
	// process knows of, such as a batch that was lost with its connection; they are taken over
	// when they have been idle as long. 0 means 15 s.
	SweepInterval time.Duration
	// FormerConsumerIdle is how long a consumer name without pending records must have been
	// idle before a new owner of the shard removes it from the group; 0 means 10 min.
	FormerConsumerIdle time.Duration
	// AckMode says who acknowledges.
	AckMode AckMode
	// StrictOrder makes a failed record block its shard until it is handled or dead-lettered.
	StrictOrder bool
	// FencedAcks acknowledges a record only while Redis still names this consumer as the one
	// that has it, at the price of a script per batch.
	FencedAcks bool
	// Retry says what happens to records whose handling failed.
	Retry Retry
	// FailFast ends Run with ErrUnknownGroup when the coordinator does not know the group;
	// otherwise it waits for the group.
	FailFast bool
	// LeaveMode says how Run leaves when its context ends.
	LeaveMode LeaveMode
}

// ErrInvalidSubscription is wrapped by every refusal of a Subscription.
var ErrInvalidSubscription = errors.New("invalid subscription")

// withDefaults returns the subscription as it is used.
func (s Subscription) withDefaults() Subscription {
	s.Concurrency = max(s.Concurrency, 1)
	s.Workers = max(s.Workers, 1)
	s.BatchSize = positive(s.BatchSize, 100)
	s.PollTimeout = positive(s.PollTimeout, 250*time.Millisecond)
	s.DrainTimeout = positive(s.DrainTimeout, 20*time.Second)
	s.ClientLease = positive(s.ClientLease, protocol.DefaultClientLease)
	s.SweepInterval = positive(s.SweepInterval, 15*time.Second)
	s.FormerConsumerIdle = positive(s.FormerConsumerIdle, 10*time.Minute)
	s.Retry.MinBackoff = positive(s.Retry.MinBackoff, time.Second)
	s.Retry.MaxBackoff = max(positive(s.Retry.MaxBackoff, time.Minute), s.Retry.MinBackoff)
	return s
}

func positive[T int | time.Duration](value, fallback T) T {
	if value <= 0 {
		return fallback
	}
	return value
}

func (s Subscription) check() error {
	if err := protocol.CheckStreamPrefix(s.Stream, ""); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidSubscription, err)
	}
	if err := protocol.CheckConsumerGroup(s.Group); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidSubscription, err)
	}
	switch {
	case s.Retry.MaxDeliveries > 0 && s.Retry.DeadLetter == "" && s.Retry.OnDeadLetter == nil:
		return fmt.Errorf("%w: Retry.MaxDeliveries needs DeadLetter or OnDeadLetter", ErrInvalidSubscription)
	case s.LeaveMode == LeaveForRestart && s.MemberID == "":
		return fmt.Errorf("%w: LeaveForRestart needs a MemberID", ErrInvalidSubscription)
	}
	return nil
}
