// Package process is the frame of the suite's binaries: signals, exit codes, and for services
// the command line with their settings.
//
// A first SIGTERM or SIGINT ends the context, so that work under way can finish; a second one
// has its usual effect.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes.
const (
	Failed   = 1 // it could not start, or work was cut off at the end
	Settings = 2 // the command line or the settings are wrong
)

// settingsError marks what the caller has to change.
type settingsError struct{ error }

func (e settingsError) Unwrap() error { return e.error }

// WrongSettings marks an error as the caller's, whose exit code is Settings.
func WrongSettings(err error) error { return settingsError{err} }

// Streams are where a command writes, and the environment it reads.
type Streams struct {
	Environ  []string
	Out, Err io.Writer
}

// Main runs a command with the process's arguments and the environment that its main reads,
// until it ends or a signal comes, and ends the process with its exit code.
func Main(environ []string, command func(Streams) *cobra.Command) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	streams := Streams{Environ: environ, Out: os.Stdout, Err: os.Stderr}
	code := Run(ctx, command, os.Args[1:], streams)
	stop()
	os.Exit(code)
}

// Run carries a command line out and returns the exit code. What went wrong is said on the
// error stream.
func Run(ctx context.Context, command func(Streams) *cobra.Command, args []string, streams Streams) int {
	root := command(streams)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return settingsError{err} })
	err := root.ExecuteContext(ctx)
	name := root.Name()
	switch {
	case err == nil:
		return 0
	case errors.As(err, new(settingsError)):
		fmt.Fprintf(streams.Err, "%s: %v\n\nSee %s --help.\n", name, err, name)
		return Settings
	default:
		fmt.Fprintf(streams.Err, "%s: %v\n", name, err)
		return Failed
	}
}

// NoArguments is the Args of a command that takes flags only.
func NoArguments(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return settingsError{fmt.Errorf("unexpected argument %q", args[0])}
}
