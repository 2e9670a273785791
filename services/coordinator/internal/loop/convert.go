package loop

import (
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// liveFrom turns the store's liveness into the core's.
func liveFrom(stored map[string]store.Liveness) map[string]group.Liveness {
	live := make(map[string]group.Liveness, len(stored))
	for id, l := range stored {
		live[id] = group.Liveness{
			Deadline: group.Millis(l.Deadline), HeardAt: group.Millis(l.HeardAt),
			Incarnation: l.Incarnation, Sequence: l.Sequence, RequestID: l.RequestID,
			SyncVersion: l.SyncVersion, Successor: l.Successor, SuccessorAt: group.Millis(l.SuccessorAt),
		}
	}
	return live
}

// beatsFor turns the core's beats into the store's.
func beatsFor(beats []group.Beat, lease time.Duration) ([]store.Beat, error) {
	out := make([]store.Beat, len(beats))
	for i, b := range beats {
		detail, err := codec.EncodeDetail(codec.DetailOf(b.Request))
		if err != nil {
			return nil, fmt.Errorf("encode report of %s: %w", b.Request.MemberID, err)
		}
		out[i] = store.Beat{
			Member: b.Request.MemberID, Incarnation: b.Request.Incarnation, Sequence: b.Request.Sequence,
			RequestID: b.Request.RequestID, SyncVersion: b.SyncVersion, Detail: detail, Lease: lease, Forced: b.Forced,
		}
	}
	return out, nil
}

func newcomersFor(newcomers []group.Newcomer) []store.Newcomer {
	out := make([]store.Newcomer, len(newcomers))
	for i, n := range newcomers {
		out[i] = store.Newcomer(n)
	}
	return out
}

func unmovedFor(observed map[string]group.Observed) map[string]store.Observed {
	out := make(map[string]store.Observed, len(observed))
	for id, o := range observed {
		out[id] = store.Observed{Deadline: store.Millis(o.Deadline), Sequence: o.Sequence}
	}
	return out
}
