package explore

import (
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// eventsOfPod lists what a coordinator may do on its own.
func (w *World) eventsOfPod(pod int8, list []Event) []Event {
	c := &w.coords[pod]
	list = append(list, Event{Kind: Tick, Pod: pod})
	if w.may(Delays) {
		list = append(list, Event{Kind: Tick, Pod: pod, Mode: Later})
	}
	if c.pending != nil {
		list = append(list, Event{Kind: Conclude, Pod: pod})
		if w.may(PodCrashes) {
			list = append(list, Event{Kind: Conclude, Pod: pod, Mode: int8(beforeCommit)},
				Event{Kind: Conclude, Pod: pod, Mode: int8(beforeAnswer)})
		}
	} else if w.may(PodCrashes) && (c.cache != nil || c.seen != group.Sighting{}) {
		list = append(list, Event{Kind: Restart, Pod: pod})
	}
	if w.may(Orders) {
		list = append(list, Event{Kind: OrderBarrier, Pod: pod})
		for _, p := range w.procs {
			list = append(list, Event{Kind: OrderFence, Pod: pod, Arg: int8(p.id[0] - 'a')})
		}
	}
	if w.may(Unbars) {
		list = append(list, Event{Kind: OrderUnbar, Pod: pod})
	}
	if !w.has(Scaling) || w.focus != 0 {
		return list
	}
	if w.ready(int(pod)) {
		return w.decisions(pod, w.drives[pod], list)
	}
	list = append(list, Event{Kind: Drive, Pod: pod})
	if w.may(Delays) {
		list = append(list, Event{Kind: Drive, Pod: pod, Mode: 1})
	}
	if bag := w.houseOf(w.asks(int(pod))).bag; w.may(Batches) && len(bag) > 0 && bag[0].resp == nil {
		list = append(list, Event{Kind: Drive, Pod: pod, Mode: 2})
	}
	return list
}

// decisions lists what Redis may say to the driver.
func (w *World) decisions(pod int8, d *drive, list []Event) []Event {
	list = append(list, Event{Kind: Drive, Pod: pod})
	if len(d.rec.Lost) > 0 {
		list = append(list, Event{Kind: Drive, Pod: pod, Arg: int8(notMadeAgain)})
	}
	if r := d.rec.Resharding; r != nil && w.shards == nil {
		for unread := range min(len(r.At(stream.StepReading))+len(r.At(stream.StepClosing)), 2) {
			list = append(list, Event{Kind: Drive, Pod: pod, Arg: int8(1) << unread})
		}
	}
	return list
}

// eventsOfStore lists what may befall the store.
func (w *World) eventsOfStore(list []Event) []Event {
	if w.may(Slowness) && w.focus == 0 {
		for _, rounds := range []int8{2, 8, 22} {
			list = append(list, Event{Kind: Calm, Arg: rounds})
		}
	}
	if w.may(FailOvers) {
		for lost := range w.losable() + 1 {
			list = append(list, Event{Kind: FailOver, Arg: int8(lost)})
		}
	}
	if w.may(Jumps) {
		for _, fifths := range []int8{1, 5, 15} {
			list = append(list, Event{Kind: Jump, Arg: fifths})
		}
	}
	if w.may(LostLiveness) {
		for _, l := range w.store.live {
			list = append(list, Event{Kind: LoseLiveness, Arg: int8(l.id[0] - 'a')})
		}
	}
	if w.may(Corruption) && !w.hurt() {
		list = append(list, Event{Kind: Corrupt, Arg: int8(badBytes)}, Event{Kind: Corrupt, Arg: int8(badVersion)})
	}
	if w.may(Recreations) || w.hurt() {
		list = append(list, Event{Kind: Recreate})
	}
	return list
}

// eventsOfRecord lists what may befall the record of the stream.
func (w *World) eventsOfRecord(list []Event) []Event {
	rec := &w.stream.rec
	if w.may(Scaling) && rec.Resharding == nil {
		for to := range w.env.setup.most() + 1 {
			if to != rec.ShardCount {
				list = append(list, Event{Kind: Scale, Arg: int8(to)})
			}
		}
	}
	if w.may(Rollbacks) && rec.Resharding != nil && rec.Resharding.MayRollBack() {
		list = append(list, Event{Kind: RollBack})
	}
	if w.may(LostShards) {
		for shard := range rec.ReadCount() {
			list = append(list, Event{Kind: LoseShard, Arg: int8(shard)})
		}
	}
	if w.may(StreamLosses) {
		for n := range w.stream.history {
			list = append(list, Event{Kind: StreamFallsBack, Arg: int8(n + 1)})
		}
	}
	return list
}
