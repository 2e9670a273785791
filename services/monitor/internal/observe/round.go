package observe

import (
	"context"
	"sync"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// observe makes round o.number. Only one runs at a time.
func (o *Observer) observe(ctx context.Context) facts.Round {
	round := facts.Round{Number: o.number, At: o.deps.Now()}
	ctx, cancel := context.WithTimeout(ctx, o.cfg.RoundTimeout)
	defer cancel()

	groups, problem := o.groups.ask(ctx, o.cfg.RoundTimeout)
	streams, targets := planOf(groups, o.number)
	round.Groups, round.Streams, round.Problem = factsOf(groups), streams, problem
	o.seen = namesOf(groups)
	o.heard(ctx, problem)
	if len(targets) > 0 {
		o.ask(ctx, targets)
	}
	o.keep(targets)
	round.Took = o.deps.Now().Sub(round.At)
	return round
}

// ask asks all nodes at the same time about their shards.
func (o *Observer) ask(ctx context.Context, targets []target) {
	if err := o.places.refresh(ctx); err != nil {
		o.deps.Log.WarnContext(ctx, "shards are where they were in an earlier round", "error", err)
	}
	var working sync.WaitGroup
	nodes := o.nodesOf(targets)
	for _, n := range nodes {
		working.Go(func() { n.ask(ctx) })
	}
	working.Wait()
	clear(o.runs)
	for _, n := range nodes {
		o.runs[n.name] = n.run
	}
}

// nodesOf puts the shards on their nodes, in the order of the shards.
func (o *Observer) nodesOf(targets []target) []*node {
	var nodes []*node
	at := map[string]*node{}
	for _, t := range targets {
		t.shard.Node = o.places.of(t.shard.Slot)
		name := nameOf(t.shard.Node)
		n := at[name]
		if n == nil {
			n = &node{observer: o, name: name, run: o.runs[name]}
			at[name] = n
			nodes = append(nodes, n)
		}
		n.targets = append(n.targets, t)
	}
	return nodes
}

// nameOf tells nodes apart, as far as they are known.
func nameOf(n facts.Node) string {
	switch {
	case n.ID != nil:
		return *n.ID
	case n.Endpoint != nil:
		return *n.Endpoint
	default:
		return ""
	}
}
