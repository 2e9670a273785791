package loop

import (
	"errors"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// decodeError names the record in an error of the codec and puts it into the store's
// closed set.
func decodeError(key store.Key, err error) error {
	if errors.Is(err, codec.ErrSchema) {
		return fmt.Errorf("group %s: %w: %w", key, store.ErrUnsupportedSchema, err)
	}
	return &store.CorruptError{Key: key, Field: "aggregate", Cause: err}
}

// refusal is the outcome of a heartbeat whose batch failed. A group that a newer coordinator
// has written is well, and that one answers for it: the member keeps what it holds and asks
// again (ADR 0018).
func (w *worker) refusal(req *protocol.HeartbeatRequest, err error) outcome {
	if errors.Is(err, store.ErrUnsupportedSchema) {
		return outcome{err: protocol.Errorf(protocol.CodeStoreUnavailable,
			"a newer coordinator has written the group's metadata; ask another coordinator, or again").Because(err)}
	}
	if unreadable(err) {
		w.loop.meter.Unknown()
		return outcome{response: w.unknown(req)}
	}
	return outcome{err: Fault(err)}
}

// unreadable tells whether there is no record that could decide.
func unreadable(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrUnsupportedSchema)
}

// unknown is the answer for a group that does not exist or cannot be read (J1, M6).
func (w *worker) unknown(req *protocol.HeartbeatRequest) *protocol.HeartbeatResponse {
	return &protocol.HeartbeatResponse{
		ResponseTo:          req.RequestID,
		Status:              protocol.StatusUnknownMemberID,
		Reason:              protocol.ReasonUnknownGroup,
		MemberID:            req.MemberID,
		MemberEpoch:         req.MemberEpoch,
		HeartbeatIntervalMs: w.loop.cfg.Group.HeartbeatInterval.Milliseconds(),
		RebalanceTimeoutMs:  w.loop.cfg.Group.RebalanceTimeout.Milliseconds(),
		Assignment:          protocol.Assignment{AssignedShards: []protocol.ShardID{}, PendingShards: []protocol.ShardID{}},
	}
}

// Fault turns an error of the store into the API's error.
func Fault(err error) error {
	var fault *protocol.Error
	var unavailable *store.UnavailableError
	switch {
	case errors.As(err, &fault):
		return err
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrUnsupportedSchema):
		return protocol.Errorf(protocol.CodeMetadataCorrupt, "the stored metadata cannot be read: %v", err).Because(err)
	case errors.Is(err, store.ErrNotFound):
		return protocol.Errorf(protocol.CodeGroupNotFound, "there is no such group").Because(err)
	case errors.As(err, &unavailable):
		return protocol.Errorf(protocol.CodeStoreUnavailable, "the metadata store cannot work now (%s)", unavailable.State).Because(err)
	case errors.Is(err, store.ErrConflict):
		return protocol.Errorf(protocol.CodeStoreUnavailable, "other coordinators kept changing the group").Because(err)
	default:
		return protocol.Errorf(protocol.CodeStoreUnavailable, "the metadata store did not take the decision").Because(err)
	}
}
