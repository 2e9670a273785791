package demo

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// work is how long a handler pretends to work: long enough that two on one shard would meet.
const work = 2 * time.Millisecond

// consume runs one member until ctx ends and it has left.
func (d *Demo) consume(ctx context.Context, member string) {
	err := d.Client.Consume(ctx, client.Subscription{Stream: Stream, Group: Group, MemberID: member, MemberName: "demo"},
		func(ctx context.Context, m *client.Message) error { return d.handle(ctx, member, m) })
	if err != nil {
		d.ledger.fault(fmt.Sprintf("%s did not end well: %v", member, err))
	}
}

// comeAndGo runs a member that is there for two thirds of each cycle.
func (d *Demo) comeAndGo(ctx context.Context, member string) {
	for ctx.Err() == nil {
		stay, leave := context.WithTimeout(ctx, d.Cycle*2/3)
		d.consume(stay, member)
		leave()
		_ = clock.Sleep(ctx, d.Cycle/3) // ended early, the loop ends too
	}
}

// handle works on a record and acknowledges it, and tells the ledger.
func (d *Demo) handle(ctx context.Context, member string, m *client.Message) (err error) {
	got := delivery{Number: d.numberOf(m), Shard: m.Shard, Member: member, Token: m.FenceToken}
	d.ledger.begin(got)
	defer func() { d.ledger.end(got, err == nil) }()
	if err := clock.Sleep(ctx, work); err != nil {
		return err
	}
	if err := m.Ack(ctx); err != nil {
		return err
	}
	d.first.Do(func() { d.say("demo: first record handled %.1fs after the start", d.since().Seconds()) })
	return nil
}

// numberOf returns the number of a record of this run, and -1 for others.
func (d *Demo) numberOf(m *client.Message) int {
	number, err := strconv.Atoi(m.Fields[fieldNumber])
	if err != nil || m.Fields[fieldRun] != d.run {
		return -1
	}
	return number
}
