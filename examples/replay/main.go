// Command replay publishes the records of a file, reads them with several consumers, and
// proves from the ledgers of all of them that nothing was lost. It is also an example of
// how an application uses libs/client.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0]
	}
	code := cli.Run(ctx, os.Args[1:], cli.Process{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Terminal: term.IsTerminal(int(os.Stderr.Fd())), Executable: executable,
	})
	stop()
	os.Exit(code)
}
