package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// handledAll tells whether a group that lives has handled every record (promise 1).
func (w *World) handledAll() bool {
	if w.shards == nil || len(w.procs) == 0 {
		return true
	}
	return !slices.ContainsFunc(w.shards.list[:], func(s shard) bool { return s.of[w.focus].open() > 0 })
}

// publishFairly adds a record to every shard that producers are told of now.
func (w *World) publishFairly() {
	if w.shards == nil {
		return
	}
	s := w.editShards()
	s.producer = w.routing()
	for index := range int(s.producer.routes) {
		if !s.list[index].there {
			continue
		}
		for nth := range w.groups() {
			if b := &s.list[index].of[nth]; b.open() < mostOpen {
				b.unread++
			}
		}
	}
}

// waitsForReaders tells whether all that a resharding waits for are records of groups without
// a process: then the removed shards carry the reason (V3, L10).
func (w *World) waitsForReaders() bool {
	r := w.stream.rec.Resharding
	drains := r.Phase == stream.PhaseDraining || r.Phase == stream.PhaseRollingBack && r.Turned
	if w.shards == nil || !drains || len(r.Shards) == 0 {
		return false
	}
	waits := false
	for _, removed := range r.Shards {
		if removed.Step == stream.StepSealed {
			continue
		}
		if waits = removed.Reason != "" && w.abandoned(removed.Index); !waits {
			return false
		}
	}
	return waits
}

// abandoned tells whether a group without a process has not handled a record of the shard.
func (w *World) abandoned(index int) bool {
	for nth := range w.groups() {
		if len(w.houseOf(nth).procs) == 0 && w.shards.list[index].of[nth].open() > 0 {
			return true
		}
	}
	return false
}

// work lets a process read all that there is for it; handlers end.
func (w *World) work(p *process) {
	for _, e := range w.reads(p, nil) {
		w.doRead(e)
	}
	w.drained(p)
}
