package client

import "errors"

// Errors of consumers.
var (
	// ErrNotOwner comes from acknowledgements of a record whose shard this member no longer
	// holds, or that another consumer has (FencedAcks): the record stays pending.
	ErrNotOwner = errors.New("the shard of the record is no longer held")
	// ErrNotDrained comes from Run when handlers still ran after DrainTimeout, or their
	// acknowledgements were not out; such records stay pending for the next owner.
	ErrNotDrained = errors.New("shards were not drained when the consumer stopped")
	// ErrConsumerUsed comes from a second Run of one Consumer.
	ErrConsumerUsed = errors.New("consumer was started before")
)
