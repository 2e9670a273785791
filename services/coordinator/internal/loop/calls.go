package loop

import (
	"context"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// load brings the snapshot up to the store, without the aggregate if it is unchanged.
func (w *worker) load(ctx context.Context) error {
	known := store.Version{}
	if w.snap != nil {
		known = w.snap.version
	}
	sent := clock.Now()
	loaded, err := w.loop.store.Load(ctx, w.key, known)
	if err != nil {
		return fmt.Errorf("load group %s: %w", w.key, err)
	}
	next := &snapshot{version: loaded.Version, servedAt: loaded.ServedAt, identity: loaded.Identity}
	if loaded.Record == nil {
		next.g = w.snap.g
	} else if next.g, err = decodeGroup(loaded.Record); err != nil {
		return err
	}
	next.live = liveFrom(loaded.Liveness)
	w.snap = next
	w.watch.observe(loaded.Clock, sent, w.loop.cfg.Group.Lease)
	w.plan()
	return nil
}

// commit stores a new structure with the liveness of those heard (T3), then makes it
// the snapshot. errand is what asked for it, nil when nothing did.
func (w *worker) commit(ctx context.Context, out group.Output, errand *errand) error {
	schema := w.loop.schema()
	aggregate, err := codec.EncodeGroup(schema, out.Next)
	if err != nil {
		return fmt.Errorf("commit group %s: %w", w.key, err)
	}
	happened := recorder.Step(w.snap.g, out)
	if errand != nil && errand.done(w.snap.g, out) {
		happened = recorder.By(happened, errand.by)
	}
	event, err := recorder.Encode(happened)
	if err != nil {
		return fmt.Errorf("commit group %s: %w", w.key, err)
	}
	beats, err := beatsFor(out.Beats, w.loop.cfg.Group.Lease)
	if err != nil {
		return fmt.Errorf("commit group %s: %w", w.key, err)
	}
	sent := clock.Now()
	done, err := w.loop.store.Commit(ctx, store.Commit{
		Key: w.key, Prev: w.snap.version, Token: w.loop.nonce(), Schema: schema, Aggregate: aggregate,
		Identity: w.snap.identity, Unmoved: unmovedFor(out.Unmoved), Beats: beats,
		Newcomers: newcomersFor(out.Newcomers), Forget: out.Forget, Event: event,
	})
	if err != nil {
		return fmt.Errorf("commit group %s: %w", w.key, err)
	}
	w.watch.jumped = false // the committed decision took it into account
	next := *w.snap
	next.version, next.g, next.servedAt = done.Version, out.Next, done.Clock
	w.snap = &next
	w.heard(out, beats, done.Deadlines, done.Applied, done.Clock, sent)
	w.loop.log.Info("group changed", "group", w.key.String(), "version", out.Next.MetadataVersion,
		"cause", happened.Cause, "changes", happened.Changes)
	return nil
}

// touch stores liveness only. With nothing to write, and a state that was just loaded,
// there is nothing to do.
//
// On a cached state it tells the store no identity, so that a lease which has run out is not
// renewed: the conflict leads to a decision on a fresh state (ADR 0002).
func (w *worker) touch(ctx context.Context, out group.Output, fresh bool) error {
	if len(out.Beats) == 0 && len(out.Newcomers) == 0 && !w.mustServe() {
		return nil
	}
	beats, err := beatsFor(out.Beats, w.loop.cfg.Group.Lease)
	if err != nil {
		return fmt.Errorf("touch group %s: %w", w.key, err)
	}
	identity := ""
	if fresh {
		identity = w.snap.identity
	}
	sent := clock.Now()
	done, err := w.loop.store.Touch(ctx, store.Touch{
		Key: w.key, Version: w.snap.version, Identity: identity, Beats: beats, Newcomers: newcomersFor(out.Newcomers),
		ServedEvery: servedEvery(w.loop.cfg.Group),
	})
	if err != nil {
		return fmt.Errorf("touch group %s: %w", w.key, err)
	}
	served := done.Clock >= w.snap.servedAt.Add(servedEvery(w.loop.cfg.Group))
	if served {
		w.snap.servedAt = done.Clock
	}
	w.heard(out, beats, done.Deadlines, done.Applied, done.Clock, sent)
	if served {
		w.plan()
	}
	return nil
}

// mustServe tells whether the store has to be told that somebody serves the group (T1).
func (w *worker) mustServe() bool {
	return w.snap.g.HasListening() && w.watch.estimate() >= w.snap.servedAt.Add(serveAfter(w.loop.cfg.Group))
}

// heard takes over what the store wrote and gives each answer the lease it rests on (E5).
func (w *worker) heard(out group.Output, beats []store.Beat, deadlines []store.Millis, applied []bool, now store.Millis, sent time.Time) {
	for i, b := range beats {
		l := w.snap.live[b.Member]
		l.Deadline = group.Millis(deadlines[i])
		if applied[i] {
			l.HeardAt, l.Incarnation, l.Sequence = group.Millis(now), b.Incarnation, b.Sequence
			l.RequestID, l.SyncVersion = b.RequestID, b.SyncVersion
		}
		w.snap.live[b.Member] = l
	}
	for _, n := range out.Newcomers {
		l := w.snap.live[n.Member]
		l.Successor, l.SuccessorAt = n.Incarnation, group.Millis(now)
		w.snap.live[n.Member] = l
	}
	for _, id := range out.Forget {
		delete(w.snap.live, id)
	}
	w.lend(out.Replies, deadlines, now)
	w.watch.observe(now, sent, w.loop.cfg.Group.Lease)
	if out.Next != nil {
		w.plan()
	}
}

// lend sets the lease of every answer that a renewal carries.
func (w *worker) lend(replies []group.Reply, deadlines []store.Millis, now store.Millis) {
	for _, r := range replies {
		if r.Beat < 0 || !renews(r.Response.Status) {
			continue
		}
		left := time.Duration(deadlines[r.Beat]-now) * time.Millisecond
		r.Response.LeaseMs = w.loop.cfg.Group.LeaseFor(left).Milliseconds()
	}
}

// renews tells whether an answer of that status lets the member go on (H5).
func renews(status protocol.HeartbeatStatus) bool {
	switch status {
	case protocol.StatusOK, protocol.StatusSyncMetadata, protocol.StatusRevokePending:
		return true
	case protocol.StatusRetry, protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch,
		protocol.StatusUnsupportedProtocol, protocol.StatusInvalidRequest:
		return false
	default:
		return false
	}
}
