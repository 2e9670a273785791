package httpapi

import (
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	maxStreamKey = protocol.MaxStreamPrefix + len(":2147483647")
	// maxIDPart is how many digits a half of a stream id has at most: those of 2^64.
	maxIDPart = 20
)

// checkReport refuses reports that contradict themselves (protocol R5). An index that
// the stream does not have passes: it is a bad report (R1), which needs the state.
func checkReport(req *protocol.HeartbeatRequest, maxShards int) error {
	lists := []struct {
		field   string
		entries int
	}{
		{"ownedShards", len(req.OwnedShards)},
		{"revokingShards", len(req.RevokingShards)},
		{"shardProgress", len(req.ShardProgress)},
	}
	for _, list := range lists {
		if list.entries > maxShards {
			return invalid("%s has %d entries, at most %d are allowed", list.field, list.entries, maxShards)
		}
	}
	if err := checkHeld(req.OwnedShards, req.RevokingShards); err != nil {
		return err
	}
	return checkProgress(req.ShardProgress)
}

// checkHeld looks at owned and revoking shards together: a shard is in one of the lists,
// and once.
func checkHeld(owned []protocol.ShardID, revoking []protocol.RevokingShard) error {
	seen := make(map[int]struct{}, len(owned)+len(revoking))
	for _, shard := range owned {
		if err := once(seen, "ownedShards", shard); err != nil {
			return err
		}
	}
	for _, release := range revoking {
		if err := once(seen, "revokingShards", release.Shard); err != nil {
			return err
		}
		switch release.State {
		case protocol.Revoking, protocol.Draining, protocol.Revoked:
		default:
			return invalid("revokingShards: state %q is not known", protocol.Echo(string(release.State)))
		}
		if release.InFlight < 0 || release.InFlight > maxNumber {
			return invalid("revokingShards: inFlight must be between 0 and %d", maxNumber)
		}
	}
	return nil
}

func checkProgress(progress []protocol.ShardProgress) error {
	seen := make(map[int]struct{}, len(progress))
	for _, p := range progress {
		if err := once(seen, "shardProgress", p.Shard); err != nil {
			return err
		}
		switch {
		case len(p.StreamKey) > maxStreamKey || hasControl(p.StreamKey):
			return invalid("shardProgress: streamKey must have at most %d bytes and no control characters", maxStreamKey)
		case !isStreamID(p.LastDeliveredID) || !isStreamID(p.LastAckedID):
			return invalid("shardProgress: lastDeliveredId and lastAckedId must be null or stream ids like 1700000000000-0")
		case p.PendingCount < 0:
			return invalid("shardProgress: pendingCount must not be negative")
		}
		switch p.Error {
		case "", protocol.ShardErrorStreamMissing, protocol.ShardErrorGroupMissing:
		default:
			return invalid("shardProgress: error %q is not known", protocol.Echo(p.Error))
		}
	}
	return nil
}

// once adds a shard to seen and refuses it when it is there already or out of range.
func once(seen map[int]struct{}, field string, shard protocol.ShardID) error {
	index := shard.ShardIndex
	if index < 0 || index > maxNumber {
		return invalid("%s: shardIndex %d is out of range", field, index)
	}
	if _, twice := seen[index]; twice {
		return invalid("%s: shard %d is reported twice", field, index)
	}
	seen[index] = struct{}{}
	return nil
}

// isStreamID takes null as "not known".
func isStreamID(id *string) bool {
	if id == nil {
		return true
	}
	milliseconds, sequence, found := strings.Cut(*id, "-")
	return found && isIDPart(milliseconds) && isIDPart(sequence)
}

func isIDPart(part string) bool {
	return part != "" && len(part) <= maxIDPart && strings.Trim(part, "0123456789") == ""
}
