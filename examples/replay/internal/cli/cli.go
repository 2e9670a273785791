// Package cli is the command line of replay: flags, help, progress and the printed report.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitHolds       = 0
	exitFails       = 1 // the proof does not hold, or something failed on the way
	exitUsage       = 2
	exitInterrupted = 130
)

var (
	errProof       = errors.New("the proof does not hold")
	errInterrupted = errors.New("interrupted")
)

// usageError marks what the caller has to write differently.
type usageError struct{ error }

// Unwrap returns what is wrong.
func (e usageError) Unwrap() error { return e.error }

// Process is what the command line acts on.
type Process struct {
	// In tells an attached consumer by its end to stop.
	In io.Reader
	// Out gets the report, Err progress and messages.
	Out, Err io.Writer
	// Terminal tells that Err is a terminal, where a progress bar can be drawn.
	Terminal bool
	// Executable starts replay once more, for consumers in processes of their own.
	Executable string
}

// Run carries the command line out and returns the exit code: 0 when the proof holds, 1
// when it does not or something failed, 2 when the command line is wrong, 130 when ctx
// ended.
func Run(ctx context.Context, args []string, p Process) int {
	root := p.root()
	root.SetArgs(args)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitHolds
	case errors.As(err, new(usageError)):
		fmt.Fprintf(p.Err, "replay: %v\n\nSee replay --help.\n", err)
		return exitUsage
	case errors.Is(err, errInterrupted):
		fmt.Fprintf(p.Err, "replay: %v\n", err)
		return exitInterrupted
	default:
		fmt.Fprintf(p.Err, "replay: %v\n", err)
		return exitFails
	}
}

const rootHelp = `replay publishes the records of a file into a sharded stream, reads them with several
consumers, and proves afterwards that every record was handled, that none was lost, and
that the records of each key were handled first in the order in which they were published.
Records that were handled more than once are counted: delivery is at least once.

It needs a coordinator and the Redis that this coordinator uses. "make run" at the root of
the repository starts both and prints the address of the Redis.

  Generated records, all in one process:
    replay run --generate 20000

  A file with a record a line, the second word is the key:
    replay run --file access.log --key 2

  NDJSON with consumers in processes of their own, three of which are killed:
    replay run --file events.ndjson --key userId --processes --kill 3 --join 1

  By hand, each in a terminal of its own, and killed as you like:
    replay publish --create --stream try --generate 100000 --rate 2000 --ledgers l
    replay consume --stream try --ledgers l
    replay consume --stream try --ledgers l
    replay check --ledgers l

Every process writes what it does into a ledger, an append-only file with an entry a line.
The proof is made from the ledgers alone, so it also sees what a killed process did.

Exit codes: 0 the proof holds, 1 it does not or something failed, 2 the command line is
wrong, 130 interrupted. Ctrl-C ends in good order, a second one at once.`

func (p Process) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "replay",
		Short:         "Publishes a file, consumes it, and proves that nothing was lost",
		Long:          rootHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(p.run(), p.publish(), p.consume(), p.check())
	return root
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument %q", cmd.CommandPath(), args[0])}
	}
	return nil
}

// makeLedgers makes the directory of the ledgers.
func makeLedgers(dir string) error {
	if dir == "" {
		return usageError{errors.New("--ledgers names no directory")}
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("make directory of ledgers: %w", err)
	}
	return nil
}
