package observe

import (
	"context"
	"slices"
	"time"
)

// node asks one server about its shards, one pipeline after the other.
type node struct {
	observer *Observer
	name     string
	run      string // the run id, that of an earlier round where this one has not learnt it
	targets  []target
}

// ask fills in the shards. What follows from the answers to one pipeline is asked with the
// next one.
func (n *node) ask(ctx context.Context) {
	if run := n.observer.places.runIDOf(ctx, *n.targets[0].shard); run != "" {
		n.run = run
	}
	var questions []question
	var away error // why the server is asked nothing more
	for batch := range slices.Chunk(n.targets, n.observer.cfg.Pipeline) {
		looks := n.looksAt(batch)
		for _, l := range looks {
			questions = append(questions, l.first()...)
		}
		if away == nil {
			away = send(ctx, n.observer.deps.Redis, questions)
		}
		questions = settle(looks, n.observer.deps.Now(), away)
	}
	if away == nil {
		_ = send(ctx, n.observer.deps.Redis, questions) // what is not answered stays unknown
	}
}

func (n *node) looksAt(batch []target) []*look {
	looks := make([]*look, len(batch))
	for i, t := range batch {
		t.shard.Node.RunID = n.run
		looks[i] = &look{
			target: t, before: n.observer.kept[t.shard.Key], sizeEvery: n.observer.cfg.MemoryEvery, consumersEvery: n.observer.cfg.ConsumersEvery,
		}
	}
	return looks
}

// settle fills in the shards of a pipeline, and returns what to ask next.
func settle(looks []*look, at time.Time, away error) []question {
	var more []question
	for _, l := range looks {
		more = append(more, l.settle(at, away)...)
	}
	return more
}
