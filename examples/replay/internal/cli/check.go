package cli

import (
	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/proof"
)

// check is the command that makes the proof.
type check struct {
	process Process
	ledgers string
	replay  proof.Replay
	json    bool
}

func (p Process) check() *cobra.Command {
	c := check{process: p}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Makes the proof from the ledgers",
		Long: `check reads the ledgers of a directory, those of the publishers and of all consumers of a
stream, and says what they prove. Consumers that still run have not yet handled all, so
wait for them. The exit code is 0 when the proof holds.`,
		Args: noArguments,
		RunE: c.do,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&c.ledgers, "ledgers", "", "directory with the ledgers")
	flags.Int64Var(&c.replay.Records, "records", 0, "records that should have been published; 0 takes those of the publishers' ledgers")
	flags.BoolVar(&c.replay.Resharded, "resharded", false, "the shard count was changed meanwhile: count keys out of order, they break nothing")
	flags.BoolVar(&c.json, "json", false, "print the report as JSON")
	return cmd
}

func (c *check) do(*cobra.Command, []string) error {
	files, err := ledger.ReadDir(c.ledgers)
	if err != nil {
		return err
	}
	report := proof.Check(files, c.replay)
	if err := c.process.print(report, c.json); err != nil {
		return err
	}
	if !report.Holds() {
		return errProof
	}
	return nil
}
