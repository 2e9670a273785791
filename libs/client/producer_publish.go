package client

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/tracectx"
)

// Publish writes a record with the given partition key and fields, and returns where it
// is. Fields are as in Record.Fields.
//
// A stale route is refreshed and tried once more. The errors are ErrStaleRoute,
// ErrUncertain, ErrRoutingExpired, ErrNoShards, ErrPaused, ErrProducerClosed,
// ErrInvalidRecord, the error of ctx, or the reply of Redis; only with ErrUncertain may
// the record have been written.
func (p *Producer) Publish(ctx context.Context, key string, fields map[string]any) (Result, error) {
	return p.PublishRecord(ctx, Record{Key: key, Fields: fields})
}

// PublishRecord is Publish for a Record.
func (p *Producer) PublishRecord(ctx context.Context, rec Record) (Result, error) {
	w := write{key: rec.Key}
	ctx, w.span = p.spans.start(ctx)
	p.publish(ctx, &rec, &w)
	w.endSpan()
	if w.err != nil {
		return Result{}, w.err
	}
	return w.result, nil
}

func (p *Producer) publish(ctx context.Context, rec *Record, w *write) {
	if w.err = p.gate.enter(1); w.err != nil {
		return
	}
	defer p.gate.leave(1)
	if w.args, w.err = p.encode(rec, p.spans.fields(ctx)); w.err == nil {
		p.writeOne(ctx, w)
	}
}

// encode returns the XADD of rec with its trace context.
func (p *Producer) encode(rec *Record, fields tracectx.Fields) ([]any, error) {
	args, err := p.encoder.args(rec)
	if err != nil {
		return nil, err
	}
	return traceArgs(args, fields, rec), nil
}

// writeOne attempts w until it is written or nothing helps.
func (p *Producer) writeOne(ctx context.Context, w *write) {
	for {
		next, done := p.attempt(ctx, w)
		if done || next == stepGiveUp {
			return
		}
		noteRetry(nil, w)
		if err := p.prepare(ctx, next, w.retries); err != nil {
			w.stop(err)
			return
		}
	}
}

func (p *Producer) attempt(ctx context.Context, w *write) (next step, done bool) {
	cmd, err := p.route(ctx, w)
	if err != nil {
		return w.failed(outcomeRejected, err, &p.opts), false
	}
	_ = p.redis.Process(ctx, cmd) // the command keeps its error
	return w.conclude(cmd, &p.opts)
}

// route returns the XADD of w for the routing in use.
func (p *Producer) route(ctx context.Context, w *write) (appendCommand, error) {
	if err := sendable(ctx); err != nil {
		return appendCommand{}, err
	}
	table, err := p.routes.Table()
	if err != nil {
		return appendCommand{}, err
	}
	return w.command(ctx, table)
}
