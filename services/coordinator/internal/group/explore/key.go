package explore

import (
	"encoding/binary"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// keyer writes worlds in a canonical form. It goes through a world twice: the first time it
// collects the numbers that are compared with each other, the second time it writes.
type keyer struct {
	cfg     *group.Config
	b       []byte
	writing bool

	layouts, marks ranks // of the stream
	phases         names // of reshardings
	clock          int64 // of the record's store
	publishes      bool
	forgets        bool // the record may lose the marks that shards have
	*scope              // of the group in focus
	scopes         [mostGroups]scope
}

// scope is what is compared within one group.
type scope struct {
	now   int64 // of the store's clock
	early int64 // what decisions under way take for now, at the earliest

	versions, epochs          ranks
	sequences                 [memberIDs * 8]ranks // by incarnation
	lineages, lives, requests names
	identities                names
	groups                    []*group.Group // written before
	views                     []*view
}

// AppendKey appends a canonical form of the world: two worlds with the same form go on the
// same way. Times are relative to now; those long ago, numbers that are only compared, and
// names are replaced by what tells them apart.
func (w *World) AppendKey(b []byte) []byte {
	k := &w.env.keyer
	k.begin(w, b)
	k.world(w)
	k.turn(w)
	k.world(w)
	return k.b
}

func (k *keyer) begin(w *World, b []byte) {
	k.b, k.writing, k.clock = b, false, w.recordClock()
	k.publishes = w.has(Publishes)
	k.forgets = k.publishes && w.has(StreamLosses)
	layout := w.stream.rec.LayoutVersion
	for i := range w.stream.history {
		layout = min(layout, w.stream.history[i].LayoutVersion)
	}
	k.layouts.reset(layout)
	k.marks.reset(1 << 62)
	k.phases.reset()
	for nth := range w.groups() {
		w.lookAt(nth)
		k.scopes[nth].begin(w)
	}
	w.lookAt(0)
}

func (k *scope) begin(w *World) {
	k.now = int64(w.clock())
	version, epoch := int64(1)<<62, int64(1)<<62
	lowest := func(g *group.Group) { version, epoch = min(version, g.MetadataVersion), min(epoch, g.EpochCounter) }
	lowest(w.store.g)
	for _, i := range w.store.history {
		if i != nil && w.may(FailOvers) {
			lowest(i.g)
		}
	}
	k.early = k.now
	for pod := range w.coords {
		if p := w.coords[pod].pending; p != nil {
			k.early = min(k.early, int64(p.on.clock))
		}
	}
	if w.has(Recreations) || w.has(Corruption) { // the next version may be the first
		version = 1
	}
	k.versions.reset(version)
	k.epochs.reset(epoch)
	for i := range k.sequences {
		k.sequences[i].reset(1 << 62)
	}
	k.forget()
}

func (k *scope) forget() {
	k.lineages.reset()
	k.lives.reset()
	k.requests.reset()
	k.identities.reset()
	k.groups, k.views = k.groups[:0], k.views[:0]
}

// turn begins to write.
func (k *keyer) turn(w *World) {
	k.layouts.sort()
	k.marks.sort()
	k.phases.reset()
	for nth := range w.groups() {
		k.scopes[nth].turn()
	}
	k.writing = true
}

func (k *scope) turn() {
	k.versions.sort()
	k.epochs.sort()
	for i := range k.sequences {
		k.sequences[i].sort()
	}
	k.forget()
}

func (k *keyer) number(v int64) {
	if k.writing {
		k.b = binary.AppendVarint(k.b, v)
	}
}

func (k *keyer) flags(facts ...bool) {
	packed := int64(0)
	for i, fact := range facts {
		if fact {
			packed |= 1 << i
		}
	}
	k.number(packed)
}

func (k *keyer) ranked(r *ranks, v int64) {
	if k.writing {
		k.number(r.of(v))
		return
	}
	r.add(v)
}

func (k *keyer) version(v int64) { k.ranked(&k.versions, v) }
func (k *keyer) epoch(v int64)   { k.ranked(&k.epochs, v) }
func (k *keyer) layout(v int64)  { k.ranked(&k.layouts, v) }

func (k *keyer) lineage(name string)  { k.number(k.lineages.of(name)) }
func (k *keyer) life(name string)     { k.number(k.lives.of(name)) }
func (k *keyer) request(name string)  { k.number(k.requests.of(name)) }
func (k *keyer) identity(name string) { k.number(k.identities.of(name)) }

// sequence writes a sequence number among those of its incarnation.
func (k *keyer) sequence(life string, v int64) {
	k.ranked(&k.sequences[int(k.lives.of(life))%len(k.sequences)], v)
}

// id writes a member id.
func (k *keyer) id(id string) {
	if id == "" {
		k.number(0)
		return
	}
	k.number(int64(id[0]))
}

// none is what is written for no time.
const none = 1 << 40

// until writes a time of the store's clock at which something ends, 0 being none. All that
// have passed are the same.
func (k *keyer) until(at group.Millis) { k.since(at, 0) }

// since writes a time of the store's clock that is looked back to for a span, 0 being none.
func (k *keyer) since(at group.Millis, span time.Duration) {
	if at == 0 {
		k.number(none)
		return
	}
	k.number(max(int64(at), k.early-ms(span)-1) - k.now)
}

func (k *keyer) shards(list []int) {
	k.number(int64(len(list)))
	for _, shard := range list {
		k.number(int64(shard))
	}
}

// seen tells whether a state was written before, and if so writes which.
func (k *keyer) seen(g *group.Group) bool {
	for i, s := range k.groups {
		if s == g {
			k.number(int64(-i - 1))
			return true
		}
	}
	k.groups = append(k.groups, g)
	k.number(1)
	return false
}

func (k *keyer) heartbeat(r *protocol.HeartbeatRequest) {
	k.id(r.MemberID)
	k.life(r.Incarnation)
	k.sequence(r.Incarnation, r.Sequence)
	if r.Incarnation == "" {
		k.request(r.RequestID)
	}
	k.epoch(r.MemberEpoch)
	k.version(r.MetadataVersion)
	k.lineage(r.Lineage)
	k.ids(r.OwnedShards)
	k.number(int64(len(r.RevokingShards)))
	for _, v := range r.RevokingShards {
		k.number(int64(v.Shard.ShardIndex))
		k.flags(v.State == protocol.Revoked, v.InFlight > 0)
	}
}

func (k *keyer) ids(list []protocol.ShardID) {
	k.number(int64(len(list)))
	for _, id := range list {
		k.number(int64(id.ShardIndex))
	}
}

func (k *keyer) response(r *protocol.HeartbeatResponse) {
	if r == nil {
		k.number(0)
		return
	}
	k.text(string(r.Status))
	k.text(string(r.Reason))
	k.epoch(r.MemberEpoch)
	k.version(r.MetadataVersion)
	k.lineage(r.Lineage)
	k.number(r.LeaseMs)
	k.ids(r.Assignment.AssignedShards)
}

func (k *keyer) text(s string) {
	k.number(int64(len(s)))
	if k.writing {
		k.b = append(k.b, s...)
	}
}
