package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/reading"
	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// consume is the command of one consumer.
type consume struct {
	process Process
	connection
	target
	consumption
	member, ledgers, ledger string
	attached                bool
}

func (p Process) consume() *cobra.Command {
	c := consume{process: p}
	cmd := &cobra.Command{
		Use:   "consume",
		Short: "Runs one consumer and writes its ledger",
		Long: `consume runs one consumer until it is interrupted, then leaves the group in good order. It
writes the beginning and the end of every handling into its ledger, where replay check
finds it. Kill it with SIGKILL to see others take over what it had in hand.`,
		Args: noArguments,
		RunE: c.do,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	c.target.flags(flags)
	flags.StringVar(&c.member, "member", "", "name of the consumer; empty makes one of host and process id")
	flags.StringVar(&c.ledgers, "ledgers", "", "directory for the ledger, which gets the name of the consumer")
	flags.StringVar(&c.ledger, "ledger", "", "path of the ledger, instead of --ledgers")
	c.consumption.flags(flags)
	c.connection.flags(flags)
	flags.BoolVar(&c.attached, "attached", false, "stop at the end of the standard input instead of at Ctrl-C")
	_ = flags.MarkHidden("attached") // the flag is there
	return cmd
}

func (c *consume) do(cmd *cobra.Command, _ []string) error {
	ctx := cmd.Context()
	if err := errors.Join(c.target.check(), c.consumption.check()); err != nil {
		return err
	}
	if c.member == "" {
		c.member = fmt.Sprintf("%s-%d", client.DefaultMemberID(""), os.Getpid())
	}
	if c.ledger == "" {
		if err := makeLedgers(c.ledgers); err != nil {
			return err
		}
		c.ledger = filepath.Join(c.ledgers, c.member+ledger.Extension)
	}
	link, err := c.connection.open(c.process.Err)
	if err != nil {
		return err
	}
	defer link.close()
	if c.attached {
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		go func() {
			_, _ = io.Copy(io.Discard, c.process.In)
			stop()
		}()
	}
	return read(ctx, link, subscription(&c.target, &c.consumption, c.member), c.work, c.ledger)
}

// subscription returns what the consumer of the given name reads.
func subscription(t *target, c *consumption, member string) client.Subscription {
	return client.Subscription{
		Stream: t.stream, Group: t.group, MemberID: member, Concurrency: c.concurrency, Workers: c.workers,
		BatchSize: c.batch, AckMode: client.AckAfterHandler,
	}
}

// read runs a consumer with a ledger at path until ctx ends.
func read(ctx context.Context, l *link, sub client.Subscription, work time.Duration, path string) (err error) {
	written, err := ledger.Create(path, ledger.Consumer, sub.MemberID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, written.Close(err)) }()
	reader := reading.Reader{Client: l.client, Subscription: sub, Ledger: written, Work: work}
	return reader.Run(ctx)
}
