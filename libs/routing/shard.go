package routing

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/twmb/murmur3"
)

// ErrShardCount comes when a shard count is not in 1 … MaxShardCount.
var ErrShardCount = errors.New("shard count out of range")

// hashSpace is how many values a 32-bit hash has.
const hashSpace = uint64(1) << 32

// MaxShardCount is the highest count that 32 bits of hash can fill.
const MaxShardCount = math.MaxUint32 + 1

// Shard returns the shard of a partition key, 0 … shardCount-1. It hashes the bytes
// of key as they are, without Unicode normalisation, and does not allocate.
// It fails only with ErrShardCount.
func Shard(key string, shardCount int) (int, error) {
	return shardOf(key, murmur3.SeedStringSum32, shardCount)
}

// ShardBytes is Shard for a key that is held as bytes. It keeps no reference to key.
func ShardBytes(key []byte, shardCount int) (int, error) {
	return shardOf(key, murmur3.SeedSum32, shardCount)
}

// shardOf takes the hash modulo the count. A hash from the last, incomplete run of
// count values would favour the low shards, so it is refused and the key is hashed
// again with the next seed.
func shardOf[K string | []byte](key K, hash func(seed uint32, key K) uint32, shardCount int) (int, error) {
	if shardCount < 1 || uint64(shardCount) > hashSpace {
		return 0, fmt.Errorf("%w: %d", ErrShardCount, shardCount)
	}
	count := uint64(shardCount)
	limit := hashSpace - hashSpace%count
	sum := uint64(hash(0, key))
	for attempt := uint32(1); sum >= limit; attempt++ {
		sum = uint64(hash(retrySeed(attempt), key))
	}
	return int(sum % count), nil
}

// retrySeed is the hash of the attempt's number as four little-endian bytes.
func retrySeed(attempt uint32) uint32 {
	var number [4]byte
	binary.LittleEndian.PutUint32(number[:], attempt)
	return murmur3.SeedSum32(0, number[:])
}
