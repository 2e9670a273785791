package provision

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// keyspace builds the names of keys under the coordinator's key prefix.
type keyspace struct {
	prefix string
}

// shard is one shard with the names of its keys, which share its hash slot.
type shard struct {
	index int
	// key is the stream's, marker the one of its phase, retired the beginning of the keys
	// of its retired data.
	key, marker, retired string
}

// shardsOf returns the shards of a stream. It fails with ErrInvalid for an index that is
// negative or there twice, and with protocol.ErrInvalidName for a bad prefix.
func (k keyspace) shardsOf(prefix string, indexes []int) ([]shard, error) {
	if err := protocol.CheckStreamPrefix(prefix, k.prefix); err != nil {
		return nil, err
	}
	shards := make([]shard, len(indexes))
	seen := make(map[int]bool, len(indexes))
	for i, index := range indexes {
		if index < 0 || seen[index] {
			return nil, fmt.Errorf("%w: shard %d of stream %q is negative or there twice", ErrInvalid, index, prefix)
		}
		seen[index] = true
		shards[i] = k.shard(prefix, index)
	}
	return shards, nil
}

func (k keyspace) shard(prefix string, index int) shard {
	key := routing.StreamKey(prefix, index)
	return shard{
		index: index, key: key, marker: k.prefix + ":shard:{" + key + "}", retired: k.prefix + ":retired:{" + key + "}:",
	}
}

// upTo returns the indexes 0 … count-1.
func upTo(count int) []int {
	indexes := make([]int, max(count, 0))
	for i := range indexes {
		indexes[i] = i
	}
	return indexes
}
