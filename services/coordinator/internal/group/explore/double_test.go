package explore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/memstore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
)

// beside is a real store beside the model.
type beside struct {
	ctx      context.Context
	store    store.Store
	key      store.Key
	lease    time.Duration
	exact    bool          // its clock is the model's
	clock    *store.Millis // of a store in memory
	versions map[int]store.Version
	images   []memstore.Image // before the last commits, oldest first
}

var errNotLoaded = errors.New("what was loaded is no snapshot")

func tokenOf(token int) string { return fmt.Sprintf("t%d", token) }

func (r *beside) at(now group.Millis) {
	if r.clock != nil {
		*r.clock = store.Millis(now)
	}
}

func (r *beside) memory() (*memstore.Store, bool) {
	m, ok := r.store.(*memstore.Store)
	return m, ok
}

// keep keeps an image for a failover, where the store can give one.
func (r *beside) keep() {
	if m, ok := r.memory(); ok {
		if r.images = append(r.images, m.Dump()); len(r.images) > 2 {
			r.images = r.images[1:]
		}
	}
}

func (r *beside) Create(now group.Millis, token int) error {
	r.at(now)
	if known, err := r.store.Load(r.ctx, r.key, store.Version{}); err == nil {
		r.keep()
		if _, err = r.store.Delete(r.ctx, r.key, known.Version, nil); err != nil {
			return err
		}
	}
	done, err := r.store.Create(r.ctx, store.Create{Key: r.key, Token: tokenOf(token), Schema: 1, Aggregate: []byte(tokenOf(token))})
	r.versions[token] = done.Version
	return err
}

func (r *beside) Load(now group.Millis) (any, error) {
	r.at(now)
	return r.store.Load(r.ctx, r.key, store.Version{})
}

func (r *beside) Commit(now group.Millis, from any, token int, out group.Output) (bool, []bool, error) {
	r.at(now)
	loaded, ok := from.(store.Snapshot)
	if !ok {
		return false, nil, errNotLoaded
	}
	c := store.Commit{
		Key: r.key, Prev: loaded.Version, Token: tokenOf(token), Schema: 1, Aggregate: []byte(tokenOf(token)),
		Identity: loaded.Identity, Beats: r.beats(out), Newcomers: newcomers(out), Forget: out.Forget,
		Unmoved: map[string]store.Observed{},
	}
	for id := range out.Unmoved {
		c.Unmoved[id] = store.Observed{Deadline: loaded.Liveness[id].Deadline, Sequence: loaded.Liveness[id].Sequence}
	}
	images := r.images
	r.keep()
	done, err := r.store.Commit(r.ctx, c)
	if err != nil {
		r.images = images
		return false, nil, unlessConflict(err)
	}
	r.versions[token] = done.Version
	return true, done.Applied, nil
}

func (r *beside) Exact() bool { return r.exact }

func (r *beside) Touch(now group.Millis, from any, token int, out group.Output) (bool, []bool, error) {
	r.at(now)
	loaded, _ := from.(store.Snapshot) // the zero value has no identity
	done, err := r.store.Touch(r.ctx, store.Touch{
		Key: r.key, Version: r.versions[token], Identity: loaded.Identity, Beats: r.beats(out), Newcomers: newcomers(out), ServedEvery: time.Second,
	})
	return err == nil, done.Applied, unlessConflict(err)
}

func (r *beside) FailOver(lost int, identity string) error {
	m, ok := r.memory()
	if !ok {
		return errors.New("only a store in memory goes back")
	}
	m.SetIdentity(identity)
	for range lost {
		last := len(r.images) - 1
		m.Restore(r.images[last])
		r.images = r.images[:last]
	}
	return nil
}

func (r *beside) Same(now group.Millis, token int, live map[string]group.Liveness) (string, error) {
	r.at(now)
	has, err := r.store.Load(r.ctx, r.key, store.Version{})
	switch {
	case err != nil:
		return "", err
	case has.Version != r.versions[token] || string(has.Record.Aggregate) != tokenOf(token):
		return fmt.Sprintf("it has %+v, the model %s", has.Version, tokenOf(token)), nil
	case len(has.Liveness) != len(live):
		return fmt.Sprintf("it has %d members, the model %d", len(has.Liveness), len(live)), nil
	}
	for id, l := range live {
		if is, found := has.Liveness[id]; !found || !r.same(is, l) {
			return fmt.Sprintf("it has %+v of %s, the model %+v", is, id, l), nil
		}
	}
	return "", nil
}

func (r *beside) same(a store.Liveness, b group.Liveness) bool {
	if r.exact && (a.Deadline != store.Millis(b.Deadline) || a.HeardAt != store.Millis(b.HeardAt) || a.SuccessorAt != store.Millis(b.SuccessorAt)) {
		return false
	}
	return a.Incarnation == b.Incarnation && a.Sequence == b.Sequence && a.RequestID == b.RequestID &&
		a.SyncVersion == b.SyncVersion && a.Successor == b.Successor && (a.SuccessorAt == 0) == (b.SuccessorAt == 0)
}

func (r *beside) beats(out group.Output) []store.Beat {
	list := make([]store.Beat, 0, len(out.Beats))
	for _, b := range out.Beats {
		list = append(list, store.Beat{
			Member: b.Request.MemberID, Incarnation: b.Request.Incarnation, Sequence: b.Request.Sequence,
			RequestID: b.Request.RequestID, SyncVersion: b.SyncVersion, Lease: r.lease, Forced: b.Forced,
		})
	}
	return list
}

func newcomers(out group.Output) []store.Newcomer {
	list := make([]store.Newcomer, 0, len(out.Newcomers))
	for _, n := range out.Newcomers {
		list = append(list, store.Newcomer{Member: n.Member, Incarnation: n.Incarnation})
	}
	return list
}

func unlessConflict(err error) error {
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

// TestRealStoresDoAsTheModel: what the model of the store accepts, refuses and writes is what
// the stores of production do, so that the searches hold for them.
func TestRealStoresDoAsTheModel(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		walkBeside(t, *doubles, explore.Mixes(), func(string) *beside {
			clock := new(store.Millis)
			return &beside{store: memstore.New(func() store.Millis { return *clock }), clock: clock, exact: true}
		})
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		client := redisproc.Start(t).Client(t)
		var mixes []explore.Setup
		for _, m := range explore.Mixes() { // one server has one identity and keeps what it has
			if !m.Has(explore.FailOvers) && !m.Has(explore.OldClients) {
				mixes = append(mixes, m)
			}
		}
		walkBeside(t, *doubles/4, mixes, func(prefix string) *beside {
			kept, err := redisstore.New(client, redisstore.Options{KeyPrefix: prefix})
			require.NoError(t, err)
			return &beside{store: kept}
		})
	})
}

func walkBeside(t *testing.T, walks int, mixes []explore.Setup, open func(prefix string) *beside) {
	t.Helper()
	visits, start := 0, time.Now()
	for walk := range walks {
		if over(start) {
			walks = walk
			break
		}
		setup := mixes[walk%len(mixes)].Without(explore.LostLiveness).Without(explore.Corruption)
		d := open(fmt.Sprintf("walk%d", walk))
		d.ctx, d.key, d.lease = t.Context(), store.Key{Stream: "orders", Group: "g"}, explore.Timing().Lease
		if !d.exact { // its leases run by another clock than the model's: none runs out
			d.lease = time.Hour
		}
		d.versions = map[int]store.Version{}
		w, events := explore.WalkBeside(setup, newSeeded(11, uint64(walk)), d)
		require.Nil(t, w.Broken(), "walk %d of %q, %d events", walk, setup.Name, len(events))
		visits += w.Visits()["compared"]
	}
	require.GreaterOrEqual(t, visits, 20*walks)
	if *figures {
		fmt.Printf("%s: %d writes of %d walks are those of the model\n", t.Name(), visits, walks)
	}
}
