package client

import "sync"

// books remembers per shard what this process is doing with it, over all members and grants.
type books struct {
	mu     sync.Mutex
	latest map[int]*grant
	held   map[int]map[string]struct{} // ids in handlers, by shard
}

// succeed makes g the latest grant of its shard and returns the one before.
func (b *books) succeed(g *grant) *grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.latest == nil {
		b.latest, b.held = map[int]*grant{}, map[int]map[string]struct{}{}
	}
	before := b.latest[g.shard]
	b.latest[g.shard] = g
	if b.held[g.shard] == nil {
		b.held[g.shard] = map[string]struct{}{}
	}
	return before
}

// take marks a record as being handled; it reports false when it is already.
func (b *books) take(shard int, id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, taken := b.held[shard][id]; taken {
		return false
	}
	b.held[shard][id] = struct{}{}
	return true
}

// release ends take.
func (b *books) release(shard int, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.held[shard], id)
}

// handling tells whether this process is handling the record (field case F10).
func (b *books) handling(shard int, id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, taken := b.held[shard][id]
	return taken
}
