package routing

import "strconv"

// StreamKey returns the Redis key of shard index of the stream prefix, as in
// "orders:3". It carries no hash tag, so the shards of a stream spread over the
// nodes of a cluster.
func StreamKey(prefix string, index int) string {
	return prefix + ":" + strconv.Itoa(index)
}
