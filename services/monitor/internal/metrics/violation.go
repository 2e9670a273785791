package metrics

import (
	"maps"
	"sync"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// place is a group.
type place struct{ stream, group string }

// tally counts over rounds; its zero value has counted nothing.
type tally struct {
	mu         sync.Mutex
	rounds     int64 // all
	blind      int64 // those in which the coordinator told nothing
	violations map[place]int64
	present    map[place]map[string]struct{} // what the last round with groups had
}

// counted is what a tally has counted.
type counted struct {
	rounds, blind int64
	violations    map[place]int64
}

// add counts what is new in a round. A violation that stays is one. Groups that are gone are
// forgotten; those of an earlier round are not counted again.
func (t *tally) add(round facts.Round) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rounds++
	if round.Problem != "" {
		t.blind++
		return
	}
	total, present := map[place]int64{}, map[place]map[string]struct{}{}
	for i := range round.Groups {
		g := &round.Groups[i]
		at := place{g.View.StreamPrefix, g.View.ConsumerGroup}
		total[at], present[at] = t.violations[at], t.present[at]
		if g.Problem != "" {
			continue
		}
		present[at] = map[string]struct{}{}
		for _, violation := range g.Assignments.InvariantViolations {
			_, before := t.present[at][violation]
			_, twice := present[at][violation]
			if !before && !twice {
				total[at]++
			}
			present[at][violation] = struct{}{}
		}
	}
	t.violations, t.present = total, present
}

func (t *tally) read() counted {
	t.mu.Lock()
	defer t.mu.Unlock()
	return counted{t.rounds, t.blind, maps.Clone(t.violations)}
}
