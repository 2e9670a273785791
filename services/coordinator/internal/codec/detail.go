package codec

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Detail is what monitoring wants to know of a member's last report. It decides nothing
// and lives with the member's liveness.
type Detail struct {
	// Version is the metadata version that the member reported.
	Version int64 `json:"v,omitempty"`
	// Max and Free are the member's handlers, all and idle.
	Max  int `json:"m,omitempty"`
	Free int `json:"f,omitempty"`
	// Owned are the shards that the member says it reads.
	Owned    []int                    `json:"o,omitempty"`
	Progress []protocol.ShardProgress `json:"p,omitempty"`
}

// DetailOf takes from a report what monitoring shows.
func DetailOf(req *protocol.HeartbeatRequest) Detail {
	d := Detail{
		Version:  req.MetadataVersion,
		Max:      req.RuntimeConsumerCapacity.RuntimeMaxConcurrency,
		Free:     req.RuntimeConsumerCapacity.AvailableConcurrency,
		Progress: req.ShardProgress,
	}
	if len(req.OwnedShards) > 0 {
		d.Owned = make([]int, len(req.OwnedShards))
		for i, shard := range req.OwnedShards {
			d.Owned[i] = shard.ShardIndex
		}
	}
	return d
}

// EncodeDetail returns the bytes for the store.
func EncodeDetail(d Detail) ([]byte, error) { return encode(d) }

// DecodeDetail reads them; a detail that cannot be read is empty, as it decides nothing.
func DecodeDetail(data []byte) Detail {
	var d Detail
	if len(data) == 0 || decode(data, &d) != nil {
		return Detail{}
	}
	return d
}
