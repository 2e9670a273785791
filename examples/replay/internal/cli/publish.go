package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/feed"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/source"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/trial"
	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// publish is the command of the publisher.
type publish struct {
	process Process
	connection
	target
	input
	create                bool
	name, ledgers, ledger string
	after                 int64
	refreshEvery          time.Duration
	patient, attached     bool
}

func (p Process) publish() *cobra.Command {
	c := publish{process: p}
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Publishes the records and writes their ledger",
		Long: `publish publishes the records of a file, or generated ones, in their order. Before a batch
it writes what it is about to do into its ledger, afterwards what came of it. A batch of
which it is not known whether Redis has it is published again: its records may be in the
stream twice then, but never after a later record of their key.`,
		Args: noArguments,
		RunE: c.do,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	c.target.flags(flags)
	flags.BoolVar(&c.create, "create", false, "create the stream first")
	c.target.creation(flags)
	c.input.flags(flags)
	flags.StringVar(&c.name, "name", "publisher", "name of the publisher")
	flags.Int64Var(&c.after, "after", 0, "number the records from here on; publishers of one stream must not share numbers")
	flags.DurationVar(&c.refreshEvery, "refresh-every", 0, "how often the routing is asked for; 0 is half of its lease")
	flags.BoolVar(&c.patient, "patient", false, "wait while the stream has no shards")
	flags.StringVar(&c.ledgers, "ledgers", "", "directory for the ledger, which gets the name of the publisher")
	flags.StringVar(&c.ledger, "ledger", "", "path of the ledger, instead of --ledgers")
	c.connection.flags(flags)
	flags.BoolVar(&c.attached, "attached", false,
		"carry out pause, refresh and resume, a word a line on the standard input, and stop at its end")
	return cmd
}

func (c *publish) do(cmd *cobra.Command, _ []string) error {
	ctx := cmd.Context()
	if err := errors.Join(c.target.check(), c.input.check()); err != nil {
		return err
	}
	if c.after < 0 || c.refreshEvery < 0 {
		return usageError{errors.New("--after and --refresh-every cannot be negative")}
	}
	if c.ledger == "" {
		if err := makeLedgers(c.ledgers); err != nil {
			return err
		}
		c.ledger = filepath.Join(c.ledgers, c.name+ledger.Extension)
	}
	records, err := c.input.source()
	if err != nil {
		return err
	}
	link, err := c.connection.open(c.process.Err)
	if err != nil {
		return err
	}
	defer link.close()
	if c.create {
		if err := trial.Create(ctx, link.client, c.stream, c.group, c.shards); err != nil {
			return err
		}
	}
	return c.publish(ctx, link, records)
}

func (c *publish) publish(ctx context.Context, l *link, records source.Source) error {
	f := feed.Feed{Log: l.log, Batch: c.batch, Rate: c.rate, Pause: feed.RepeatPause, Patient: c.patient}
	to := feed.Target{
		Client: l.client, Stream: c.stream, Group: c.group, Name: c.name, Ledger: c.ledger,
		Options: client.ProducerOptions{RefreshEvery: c.refreshEvery},
	}
	if c.attached {
		ctx = context.WithoutCancel(ctx)
		to.Orders, to.Answers = c.process.In, c.process.Out
	}
	published, err := f.Into(ctx, to, source.After(c.after, records.Records()))
	fmt.Fprintf(c.process.Out, "published %s records\n", grouped(published))
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", errInterrupted, err)
	}
	return err
}
