package proxy

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// pool are the instances of one service.
type pool struct {
	service   route.Service
	instances []*instance
	turn      atomic.Uint64
}

// place is the right to ask an instance. Whoever has one gives it back by leave.
type place struct {
	*instance

	probe bool
	// since is when it was given.
	since time.Time
}

// take chooses the next instance that was not tried yet. Healthy ones go by turns; only when
// there is none the others are asked. It refuses with OVERLOADED where those that it could
// choose have all that they may have, and with nil and no error where nothing is left to try.
func (p *pool) take(now time.Time, tried []*instance) (*place, error) {
	first := p.turn.Add(1)
	admitted := false
	for i := range p.instances {
		chosen := p.instances[(first+uint64(i))%uint64(len(p.instances))]
		if slices.Contains(tried, chosen) {
			continue
		}
		may, probe := chosen.health.admit(now)
		if !may {
			continue
		}
		if admitted = true; chosen.enter() {
			return &place{chosen, probe, now}, nil
		}
		if probe {
			chosen.health.probeEnded()
		}
	}
	if admitted {
		return nil, p.overloaded()
	}
	return p.takeAny(now, first, tried)
}

// takeAny chooses among instances that are passed over.
func (p *pool) takeAny(now time.Time, first uint64, tried []*instance) (*place, error) {
	var err error
	for i := range p.instances {
		chosen := p.instances[(first+uint64(i))%uint64(len(p.instances))]
		if slices.Contains(tried, chosen) {
			continue
		}
		if chosen.enter() {
			return &place{instance: chosen, since: now}, nil
		}
		err = p.overloaded()
	}
	return nil, err
}

func (p *pool) overloaded() error {
	return protocol.Errorf(protocol.CodeOverloaded, "too many requests to the %s are under way, come again later", p.service)
}
