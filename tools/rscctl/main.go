// Command rscctl is the operator's command line of the Redis Stream Coordinator: it
// shows streams, groups, members and shards, changes the shard count, follows
// reshardings, and repairs. Everything it does goes through the coordinator's HTTP API.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal has its usual effect
	code := cli.Run(ctx, os.Args[1:], cli.Terminal{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv,
		InTerminal: isTerminal(os.Stdin), OutTerminal: isTerminal(os.Stdout), Secret: secret, Size: size,
	})
	stop()
	os.Exit(code)
}

func isTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }

// size returns the columns and lines of the terminal at the output, 0 without one.
func size() (columns, lines int) {
	columns, lines, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, lines
}
