package httpapi

import (
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Limits of mutations; texts in bytes.
const (
	maxRequestedBy     = 256
	maxReason          = 1024
	maxDeprecatedAfter = 64
	maxGroups          = 64
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

// checkCreation: the reason of a creation may be absent or empty, that of all else not.
func checkCreation(shards *int, maxShards int, requestedBy string, reason *string) error {
	if shards != nil && (*shards < 1 || *shards > maxShards) {
		return invalid("initialShardCount must be between 1 and %d", maxShards)
	}
	if reason != nil && len(*reason) > maxReason {
		return invalid("reason must have at most %d bytes", maxReason)
	}
	return checkRequestedBy(requestedBy)
}

func checkDelete(req protocol.DeleteRequest) error { return checkCause(req.RequestedBy, req.Reason) }

// checkScale takes 0 as a target: the stream ends with no shards (protocol L6).
func checkScale(req protocol.ScaleRequest, maxShards int) error {
	if target := req.TargetShardCount; target == nil || *target < 0 || *target > maxShards {
		return invalid("targetShardCount must be between 0 and %d", maxShards)
	}
	if after := req.DeprecatedAfter; after != nil && (len(*after) > maxDeprecatedAfter || hasControl(*after)) {
		return invalid("deprecatedAfter must have at most %d bytes and no control characters", maxDeprecatedAfter)
	}
	return checkCause(req.RequestedBy, req.Reason)
}

func checkConfirmDrain(req protocol.ConfirmDrainRequest) error {
	if index := req.ShardIndex; index == nil || *index < 0 || *index > maxNumber {
		return invalid("shardIndex must be between 0 and %d", maxNumber)
	}
	return checkCause(req.RequestedBy, req.Reason)
}

// checkCause looks at who asks for a change and why.
func checkCause(requestedBy, reason string) error {
	if strings.TrimSpace(reason) == "" || len(reason) > maxReason {
		return invalid("reason must have 1 to %d bytes and not only blanks", maxReason)
	}
	return checkRequestedBy(requestedBy)
}

func checkRequestedBy(name string) error {
	if strings.TrimSpace(name) == "" || len(name) > maxRequestedBy || hasControl(name) {
		return invalid("requestedBy must have 1 to %d bytes, not only blanks and no control characters", maxRequestedBy)
	}
	return nil
}
