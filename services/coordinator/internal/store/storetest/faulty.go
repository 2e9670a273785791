package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Call is one call of a store that a Fault is asked about.
type Call struct {
	// Op is the method: "Load", "Create", "Commit", "Touch", "Delete", "List",
	// "Lease", "Ping", "History", "RepairIndex", "Announce" or "Withdraw".
	Op string
	// Key is the record's; it is zero for those that are about no record.
	Key store.Key
}

// Fault decides about a call: nil lets it pass. It may block, as a slow store does.
// It is called from the goroutine of the call.
type Fault func(ctx context.Context, call Call) error

// Faulty is a store that fails on command.
type Faulty struct {
	inner store.Archive

	mu            sync.Mutex
	before, after Fault
}

var _ store.Archive = (*Faulty)(nil)

// NewFaulty returns a store that behaves as inner until Before or After is called.
func NewFaulty(inner store.Archive) *Faulty { return &Faulty{inner: inner} }

// Before sets the fault asked before a call: its error is returned and the call never
// reaches the store. Nil ends it.
func (f *Faulty) Before(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = fault
}

// After sets the fault asked after a call that succeeded: its error is returned though
// the call had its effect, as when an answer is lost. Nil ends it.
func (f *Faulty) After(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after = fault
}

// Load implements store.Store.
func (f *Faulty) Load(ctx context.Context, key store.Key, known store.Version) (store.Snapshot, error) {
	return pass(ctx, f, Call{"Load", key}, func() (store.Snapshot, error) { return f.inner.Load(ctx, key, known) })
}

// Create implements store.Store.
func (f *Faulty) Create(ctx context.Context, c store.Create) (store.Committed, error) {
	return pass(ctx, f, Call{"Create", c.Key}, func() (store.Committed, error) { return f.inner.Create(ctx, c) })
}

// Commit implements store.Store.
func (f *Faulty) Commit(ctx context.Context, c store.Commit) (store.Committed, error) {
	return pass(ctx, f, Call{"Commit", c.Key}, func() (store.Committed, error) { return f.inner.Commit(ctx, c) })
}

// Touch implements store.Store.
func (f *Faulty) Touch(ctx context.Context, t store.Touch) (store.Touched, error) {
	return pass(ctx, f, Call{"Touch", t.Key}, func() (store.Touched, error) { return f.inner.Touch(ctx, t) })
}

// Delete implements store.Store.
func (f *Faulty) Delete(ctx context.Context, key store.Key, version store.Version, event []byte) (store.Committed, error) {
	return pass(ctx, f, Call{"Delete", key}, func() (store.Committed, error) { return f.inner.Delete(ctx, key, version, event) })
}

// List implements store.Store.
func (f *Faulty) List(ctx context.Context) ([]store.Key, error) {
	return pass(ctx, f, Call{Op: "List"}, func() ([]store.Key, error) { return f.inner.List(ctx) })
}

// Lease implements store.Store. The lease itself does not fail.
func (f *Faulty) Lease(ctx context.Context, key store.Key, ttl time.Duration) (store.Lease, error) {
	return pass(ctx, f, Call{"Lease", key}, func() (store.Lease, error) { return f.inner.Lease(ctx, key, ttl) })
}

// Announce implements store.Registry.
func (f *Faulty) Announce(ctx context.Context, peer store.Peer, ttl time.Duration) ([]store.Peer, error) {
	return pass(ctx, f, Call{Op: "Announce"}, func() ([]store.Peer, error) { return f.inner.Announce(ctx, peer, ttl) })
}

// Withdraw implements store.Registry.
func (f *Faulty) Withdraw(ctx context.Context, id string) error {
	_, err := pass(ctx, f, Call{Op: "Withdraw"}, func() (struct{}, error) { return struct{}{}, f.inner.Withdraw(ctx, id) })
	return err
}

// Ping implements store.Store.
func (f *Faulty) Ping(ctx context.Context) (store.Millis, error) {
	return pass(ctx, f, Call{Op: "Ping"}, func() (store.Millis, error) { return f.inner.Ping(ctx) })
}

// History implements store.Historian.
func (f *Faulty) History(ctx context.Context, key store.Key, after string, limit int) ([]store.Event, error) {
	return pass(ctx, f, Call{"History", key}, func() ([]store.Event, error) { return f.inner.History(ctx, key, after, limit) })
}

func pass[T any](ctx context.Context, f *Faulty, call Call, do func() (T, error)) (T, error) {
	var none T
	f.mu.Lock()
	before, after := f.before, f.after
	f.mu.Unlock()
	if before != nil {
		if err := before(ctx, call); err != nil {
			return none, err
		}
	}
	answer, err := do()
	if err == nil && after != nil {
		if err := after(ctx, call); err != nil {
			return none, err
		}
	}
	return answer, err
}

// RepairIndex implements store.Indexer.
func (f *Faulty) RepairIndex(ctx context.Context) (store.Repair, error) {
	return pass(ctx, f, Call{"RepairIndex", store.Key{}}, func() (store.Repair, error) { return f.inner.RepairIndex(ctx) })
}
