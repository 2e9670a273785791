package shardkey

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrNotPending comes for a record that is no longer pending for this consumer when a
// fenced acknowledgement is carried out: another one has it, or it was acknowledged before.
var ErrNotPending = errors.New("record is not pending for this consumer")

// AckMode is how records are acknowledged.
type AckMode struct {
	// Delete removes the records from the stream in the same step.
	Delete bool
	// Fenced acknowledges only what is still pending for this consumer.
	Fenced bool
}

// AckBatch is a set of acknowledgements of one shard. The zero error of an id means that
// Redis has it.
type AckBatch struct {
	Reader *Reader
	Mode   AckMode
	IDs    []string
	// Errs is filled in by Ack, one for each id.
	Errs []error
}

// Ack carries the batches out. Plain ones share a pipeline, which costs one round trip for
// each node; the others take one script each. A batch that failed may have been carried
// out; it can be repeated.
func Ack(ctx context.Context, batches []*AckBatch) {
	if len(batches) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var (
		plain   []*AckBatch
		results []*redis.Cmd
		pipe    redis.Pipeliner
	)
	for _, batch := range batches {
		batch.Errs = make([]error, len(batch.IDs))
		args := batch.command()
		if args == nil {
			batch.script(ctx)
			continue
		}
		if pipe == nil {
			pipe = batch.Reader.conns.Writes.Pipeline()
		}
		plain = append(plain, batch)
		results = append(results, pipe.Do(ctx, args...))
	}
	if pipe == nil {
		return
	}
	_, _ = pipe.Exec(ctx) // each command carries its own error
	for at, batch := range plain {
		batch.all(results[at].Err())
	}
}

// command returns the batch as one command, or nil when it needs a script.
func (b *AckBatch) command() []any {
	r := b.Reader
	var args []any
	switch {
	case b.Mode.Fenced, b.Mode.Delete && !r.conns.AckDel:
		return nil
	case b.Mode.Delete: // ACKED deletes a record once every group has acknowledged it
		args = append(args, "xackdel", r.key, r.group, "acked", "ids", len(b.IDs))
	default:
		args = append(args, "xack", r.key, r.group)
	}
	for _, id := range b.IDs {
		args = append(args, id)
	}
	return args
}

func (b *AckBatch) script(ctx context.Context) {
	r := b.Reader
	ids := make([]any, 0, len(b.IDs)+3)
	if !b.Mode.Fenced {
		ids = append(ids, r.group)
		for _, id := range b.IDs {
			ids = append(ids, id)
		}
		b.all(r.scripts.ackDel.Run(ctx, r.conns.Writes, []string{r.key}, ids...).Err())
		return
	}
	ids = append(ids, r.group, r.consumer, b.Mode.Delete)
	for _, id := range b.IDs {
		ids = append(ids, id)
	}
	done, err := r.scripts.fencedAck.Run(ctx, r.conns.Writes, []string{r.key}, ids...).Int64Slice()
	b.all(err)
	for at := range min(len(done), len(b.Errs)) {
		if done[at] == 0 {
			b.Errs[at] = fmt.Errorf("acknowledge %s of %s: %w", b.IDs[at], r.key, ErrNotPending)
		}
	}
}

func (b *AckBatch) all(err error) {
	if err == nil {
		return
	}
	for at := range b.Errs {
		b.Errs[at] = fmt.Errorf("acknowledge on %s: %w", b.Reader.key, err)
	}
}

// Drop acknowledges ids whose records are lost.
func (r *Reader) Drop(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := r.conns.Writes.XAck(ctx, r.key, r.group, ids...).Err(); err != nil {
		return fmt.Errorf("acknowledge lost records of %s: %w", r.key, err)
	}
	return nil
}

// Forget removes the names of other consumers that have nothing pending and have been idle
// for at least idle, and returns how many. Such a consumer may come back under its name.
func (r *Reader) Forget(ctx context.Context, idle time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	removed, err := r.scripts.forget.Run(ctx, r.conns.Writes, []string{r.key}, r.group, r.consumer, idle.Milliseconds()).Int()
	if err != nil {
		return 0, fmt.Errorf("remove former consumers of %s: %w", r.key, err)
	}
	return removed, nil
}
