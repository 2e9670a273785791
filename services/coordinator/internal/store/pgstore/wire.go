package pgstore

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// beat is a beat as the functions read it; bytes are base64 in JSON.
type beat struct {
	Member      string `json:"member"`
	Incarnation []byte `json:"incarnation"`
	Sequence    int64  `json:"sequence"`
	Request     []byte `json:"request"`
	Sync        int64  `json:"sync"`
	Detail      []byte `json:"detail"`
	Lease       int64  `json:"lease"` // milliseconds
	Forced      bool   `json:"forced"`
}

// newcomer is a newcomer as the functions read it.
type newcomer struct {
	Member      string `json:"member"`
	Incarnation []byte `json:"incarnation"`
}

// unmoved is a member whose liveness a commit rests on.
type unmoved struct {
	Member   string       `json:"member"`
	Deadline store.Millis `json:"deadline"`
	Sequence int64        `json:"sequence"`
}

func wireBeats(beats []store.Beat) []beat {
	list := make([]beat, len(beats))
	for i := range beats {
		b := &beats[i]
		list[i] = beat{
			Member: b.Member, Incarnation: []byte(b.Incarnation), Sequence: max(b.Sequence, 0), Request: []byte(b.RequestID),
			Sync: b.SyncVersion, Detail: orEmpty(b.Detail), Lease: int64(b.Lease / time.Millisecond), Forced: b.Forced,
		}
	}
	return list
}

func wireNewcomers(newcomers []store.Newcomer) []newcomer {
	list := make([]newcomer, len(newcomers))
	for i, n := range newcomers {
		list[i] = newcomer{Member: n.Member, Incarnation: []byte(n.Incarnation)}
	}
	return list
}

func wireUnmoved(observed map[string]store.Observed) []unmoved {
	list := make([]unmoved, 0, len(observed))
	for member, seen := range observed {
		list = append(list, unmoved{Member: member, Deadline: seen.Deadline, Sequence: seen.Sequence})
	}
	return list
}

// orEmpty keeps null away from columns that have none.
func orEmpty(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// orNil gives an empty column back as what was never written.
func orNil(data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	return data
}
