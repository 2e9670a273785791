package client

import (
	"context"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/trace"
)

// BatchResult is the outcome of one record of a batch.
type BatchResult struct {
	Result
	// Err is nil when the record was written; otherwise it is an error as of Publish and
	// Result is not set.
	Err error
}

// BatchError tells that records of a batch were not written, or are not known to be.
type BatchError struct {
	// Failed of Total records have an error.
	Failed, Total int
	// First is the first of their errors.
	First error
}

// Error implements error.
func (e *BatchError) Error() string {
	return fmt.Sprintf("%d of %d records failed, the first: %v", e.Failed, e.Total, e.First)
}

// Unwrap returns First.
func (e *BatchError) Unwrap() error { return e.First }

// PublishBatch writes records with one pipeline for each Redis node and returns their
// outcomes in the same order; records of one shard are written in this order. A record
// that failed is tried again as by Publish, but not when a later one of its shard has been
// written already. The error is nil when all are written, a *BatchError when some are
// not, or what kept the whole batch from being sent, without results.
func (p *Producer) PublishBatch(ctx context.Context, records []Record) ([]BatchResult, error) {
	ctx, span := p.spans.start(ctx)
	results, err := p.publishBatch(ctx, records, span)
	endBatch(span, len(records), err)
	return results, err
}

func (p *Producer) publishBatch(ctx context.Context, records []Record, span trace.Span) ([]BatchResult, error) {
	if err := p.gate.enter(len(records)); err != nil {
		return nil, err
	}
	defer p.gate.leave(len(records))
	fields := p.spans.fields(ctx)
	writes := make([]write, len(records))
	todo := make([]*write, 0, len(records))
	for i := range records {
		w := &writes[i]
		w.key = records[i].Key
		if w.args, w.err = p.encode(&records[i], fields); w.err == nil {
			todo = append(todo, w)
		}
	}
	p.writeAll(ctx, todo, span)
	return batchResults(writes)
}

func batchResults(writes []write) ([]BatchResult, error) {
	results := make([]BatchResult, len(writes))
	failed := BatchError{Total: len(writes)}
	for i := range writes {
		if results[i].Err = writes[i].err; writes[i].err == nil {
			results[i].Result = writes[i].result
			continue
		}
		if failed.Failed++; failed.Failed == 1 {
			failed.First = writes[i].err
		}
	}
	if failed.Failed > 0 {
		return results, &failed
	}
	return results, nil
}

// writeAll attempts the writes together until each is written or given up. span is that of
// the batch, nil when there is none or each write has its own.
func (p *Producer) writeAll(ctx context.Context, todo []*write, span trace.Span) {
	for len(todo) > 0 {
		again, refresh := p.round(ctx, todo)
		if len(again) == 0 {
			return
		}
		noteRetry(span, again...)
		next, retries := stepWait, 0
		if refresh {
			next = stepRefresh
		}
		for _, w := range again {
			retries = max(retries, w.retries)
		}
		if err := p.prepare(ctx, next, retries); err != nil {
			for _, w := range again {
				w.stop(err)
			}
			return
		}
		todo = again
	}
}

// round sends todo once. It returns the writes to attempt again, in order, and whether
// the routing has to be refreshed before.
func (p *Producer) round(ctx context.Context, todo []*write) (again []*write, refresh bool) {
	pipe := p.redis.Pipeline()
	commands := make([]appendCommand, 0, len(todo))
	sent := todo[:0:0]
	for _, w := range todo {
		cmd, err := p.route(ctx, w)
		if err != nil {
			w.failed(outcomeRejected, err, &p.opts)
			continue
		}
		_ = pipe.Process(ctx, cmd)
		commands = append(commands, cmd)
		sent = append(sent, w)
	}
	if len(sent) == 0 {
		return nil, false
	}
	_, _ = pipe.Exec(ctx) // the commands keep their errors
	return p.gather(sent, commands)
}

// gather reads the outcomes from the last to the first, so that it knows of each failed
// write whether a later one of its shard was written.
func (p *Producer) gather(sent []*write, commands []appendCommand) (again []*write, refresh bool) {
	written := make(map[int]bool)
	keep := len(sent)
	for i, w := range slices.Backward(sent) {
		next, done := w.conclude(commands[i], &p.opts)
		switch {
		case done:
			written[w.shard] = true
		case next != stepGiveUp && !written[w.shard]:
			refresh = refresh || next == stepRefresh
			keep--
			sent[keep] = w
		}
	}
	return sent[keep:], refresh
}
