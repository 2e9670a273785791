package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/feed"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/trial"
)

// publish is the command of the publisher.
type publish struct {
	process Process
	connection
	target
	input
	create          bool
	ledgers, ledger string
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
	flags.StringVar(&c.ledgers, "ledgers", "", "directory for the ledger, which gets the name publisher")
	flags.StringVar(&c.ledger, "ledger", "", "path of the ledger, instead of --ledgers")
	c.connection.flags(flags)
	return cmd
}

func (c *publish) do(cmd *cobra.Command, _ []string) error {
	ctx := cmd.Context()
	if err := errors.Join(c.target.check(), c.input.check()); err != nil {
		return err
	}
	if c.ledger == "" {
		if err := makeLedgers(c.ledgers); err != nil {
			return err
		}
		c.ledger = filepath.Join(c.ledgers, "publisher"+ledger.Extension)
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
	f := feed.Feed{Log: link.log, Batch: c.batch, Rate: c.rate, Pause: feed.RepeatPause}
	to := feed.Target{Client: link.client, Stream: c.stream, Group: c.group, Ledger: c.ledger}
	published, err := f.Into(ctx, to, records.Records())
	fmt.Fprintf(c.process.Out, "published %s records\n", grouped(published))
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", errInterrupted, err)
	}
	return err
}
