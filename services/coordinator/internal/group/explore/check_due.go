package explore

import (
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// CheckDue shows that Due is never late: one millisecond before what it says nothing happens
// by time alone. A violation is one of T2.
func (w *World) CheckDue() { w.each((*World).checkDue) }

func (w *World) checkDue() {
	s := &w.store
	if s.lostUnnoticed() || w.hurt() || w.broken != nil {
		return
	}
	live := s.live.fill(w.env.live[0])
	happens := func(now group.Millis) bool {
		return w.step(s.g, group.Input{
			Now: now, Fresh: true, Live: live, ServedAt: now, Identity: s.identity, Nonce: "due",
		}).Next != nil
	}
	now, due := w.clock(), group.Due(w.env.cfg, s.g, live)
	switch {
	case happens(now):
		if !(due != 0 && due <= now || s.g.Round != nil) {
			w.violated("T2", "something is due at %d, Due says %d\n%s", now, due, w.stateText())
		}
	case due == 0 && happens(now.Add(1000*w.env.cfg.Lease)):
		w.violated("T2", "Due says never\n%s", w.stateText())
	case due > now && happens(due-1):
		w.violated("T2", "Due says %d, something happens before\n%s", due, w.stateText())
	}
}
