package httpapi

import (
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Limits of mutations; texts in bytes.
const (
	maxRequestedBy = 256
	maxReason      = 1024
	maxGroups      = 64
)

func checkCreateStream(req protocol.CreateStreamRequest, maxShards int) error {
	if err := checkCreation(req.InitialShardCount, maxShards, req.RequestedBy, req.Reason); err != nil {
		return err
	}
	if len(req.ConsumerGroups) > maxGroups {
		return invalid("consumerGroups has %d entries, at most %d are allowed", len(req.ConsumerGroups), maxGroups)
	}
	seen := make(map[string]struct{}, len(req.ConsumerGroups))
	for _, group := range req.ConsumerGroups {
		if err := protocol.CheckConsumerGroup(group); err != nil {
			return refuse(err)
		}
		if _, twice := seen[group]; twice {
			return invalid("consumerGroups names %q twice", protocol.Echo(group))
		}
		seen[group] = struct{}{}
	}
	return nil
}

func checkCreateGroup(req protocol.CreateGroupRequest, maxShards int) error {
	switch req.InitialPosition {
	case "", protocol.PositionEarliest, protocol.PositionLatest:
	default:
		return invalid("initialPosition must be earliest or latest, not %q", protocol.Echo(req.InitialPosition))
	}
	return checkCreation(req.InitialShardCount, maxShards, req.RequestedBy, req.Reason)
}

// checkCreation: the reason of a creation may be absent or empty, that of a deletion not.
func checkCreation(shards *int, maxShards int, requestedBy string, reason *string) error {
	if shards != nil && (*shards < 1 || *shards > maxShards) {
		return invalid("initialShardCount must be between 1 and %d", maxShards)
	}
	if reason != nil && len(*reason) > maxReason {
		return invalid("reason must have at most %d bytes", maxReason)
	}
	return checkRequestedBy(requestedBy)
}

func checkDelete(req protocol.DeleteRequest) error {
	if strings.TrimSpace(req.Reason) == "" || len(req.Reason) > maxReason {
		return invalid("reason must have 1 to %d bytes and not only blanks", maxReason)
	}
	return checkRequestedBy(req.RequestedBy)
}

func checkRequestedBy(name string) error {
	if strings.TrimSpace(name) == "" || len(name) > maxRequestedBy || hasControl(name) {
		return invalid("requestedBy must have 1 to %d bytes, not only blanks and no control characters", maxRequestedBy)
	}
	return nil
}
