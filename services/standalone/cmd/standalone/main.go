// Command standalone runs the suite in one process, with traffic to look at.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/standalone/app"
)

// The exit codes.
const (
	exitFailed   = 1 // it could not run, or the demo has found a broken promise
	exitSettings = 2 // the command line or the settings are wrong
)

const help = `Runs the suite in one process: the gateway on 127.0.0.1:8080, behind it a coordinator,
a monitor and the web console (at /console), a Redis, and a demo that checks itself. The demo publishes 50 records a second to a stream of 4 shards, which three
consumers read; one of them leaves and comes back every 30 seconds. Once a second it prints

  12s produced 600 handled 598 lag 2 | 0:demo-a 1:demo-b 2:demo-c 3:demo-a

and a line that begins with FAULT when a record was not handled in time or a shard had two
readers.

The Redis is the one of --redis, or of the RSC_REDIS_… variables that the coordinator reads
too; else a redis-server from PATH, started on a free port and stopped at the end; else an
imitation inside this process. The last two keep no data.

  standalone                                          with its own Redis
  standalone --redis redis://localhost:6379           with yours
  standalone --redis redis://localhost:6379 --demo=false --addr :8080

The gateway is in development mode: log in as admin with the password "password", or name
users under api.users. Other settings of the parts come from --config and the RSC_… variables. Ctrl-C ends it:
the producer stops, what is left is handled, the consumers leave, and a summary is printed.
A second Ctrl-C ends it at once. It exits with 0 when no promise was broken, 1 when one was
or it could not run, 2 when the settings are wrong.`

// settingsError marks what the caller has to change.
type settingsError struct{ error }

func (e settingsError) Unwrap() error { return e.error }

func main() {
	started := time.Now()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal has its usual effect
	code := run(ctx, started, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run carries the command line out and returns the exit code.
func run(ctx context.Context, started time.Time, args, environ []string, out, errOut io.Writer) int {
	c := command{environ: environ, errOut: errOut, options: app.Options{Started: started, Out: out}}
	root := c.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.As(err, new(settingsError)):
		fmt.Fprintf(errOut, "standalone: %v\n\nSee standalone --help.\n", err)
		return exitSettings
	default:
		fmt.Fprintf(errOut, "standalone: %v\n", err)
		return exitFailed
	}
}

// command is the command line.
type command struct {
	environ []string
	errOut  io.Writer
	options app.Options

	file, redis, addr string
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "standalone",
		Short:         "Runs the suite in one process, with traffic to look at",
		Long:          help,
		Args:          noArguments,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          c.serve,
	}
	flags := root.Flags()
	flags.SortFlags = false
	flags.StringVar(&c.redis, "redis", "", "Redis to use, for example redis://localhost:6379 (default: bring one along)")
	flags.StringVar(&c.addr, "addr", "", "address of the API, port 0 takes a free one (default 127.0.0.1:8080)")
	flags.StringVar(&c.options.MetricsAddr, "metrics-addr", "127.0.0.1:9080", "address of the metrics of all parts, empty has none")
	flags.BoolVar(&c.options.Demo, "demo", true, "run the demo")
	flags.DurationVar(&c.options.DemoFor, "demo-for", 0, "end after so long, 0 runs until Ctrl-C")
	flags.DurationVar(&c.options.DemoCycle, "demo-cycle", 30*time.Second, "how often the third consumer leaves and comes back")
	flags.StringVar(&c.file, "config", "", "YAML file with settings of all parts")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return settingsError{err} })
	return root
}

func (c *command) serve(cmd *cobra.Command, _ []string) error {
	if c.options.DemoCycle <= 0 || c.options.DemoFor < 0 {
		return settingsError{errors.New("--demo-cycle must be above 0 and --demo-for not negative")}
	}
	settings, err := app.LoadSettings(c.file, c.environ)
	if err != nil {
		return settingsError{err}
	}
	if c.addr != "" {
		settings.Gateway.Gateway.Listen = c.addr
	}
	if c.redis != "" {
		settings = settings.WithRedis(c.redis)
	}
	if err := settings.Validate(); err != nil {
		return settingsError{err}
	}
	c.options.Settings = settings
	c.options.Log = settings.Coordinator.Log.Logger(c.errOut)
	redis.SetLogger(redisx.NewClientLog(c.options.Log))
	return app.Run(cmd.Context(), c.options)
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return settingsError{fmt.Errorf("unexpected argument %q", args[0])}
}
