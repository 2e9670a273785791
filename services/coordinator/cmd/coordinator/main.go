// Command coordinator runs the group coordinator of sharded Redis streams.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// The exit codes.
const (
	exitFailed   = 1 // could not start, or work was cut off at the end
	exitSettings = 2 // the command line or the settings are wrong
)

// settingsError marks what the caller has to change.
type settingsError struct{ error }

func (e settingsError) Unwrap() error { return e.error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run carries the command line out and returns the exit code.
func run(ctx context.Context, args, environ []string, out, errOut io.Writer) int {
	c := command{environ: environ, out: out, errOut: errOut}
	root := c.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.As(err, new(settingsError)):
		fmt.Fprintf(errOut, "coordinator: %v\n\nSee coordinator --help.\n", err)
		return exitSettings
	default:
		fmt.Fprintf(errOut, "coordinator: %v\n", err)
		return exitFailed
	}
}

// command is the command line.
type command struct {
	environ     []string
	out, errOut io.Writer

	file        string
	dev         bool
	printConfig bool
	version     bool
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "coordinator",
		Short:         "Coordinates the consumers and producers of sharded Redis streams",
		Long:          help(),
		Args:          noArguments,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          c.serve,
	}
	flags := root.Flags()
	flags.SortFlags = false
	flags.StringVar(&c.file, "config", "", "YAML file with settings")
	flags.BoolVar(&c.dev, "dev", false, "accept mutations without a gateway, from everybody; for development (--api-dev)")
	flags.BoolVar(&c.printConfig, "print-config", false, "print the settings that result, secrets masked, and end")
	flags.BoolVar(&c.version, "version", false, "print the version and end")
	config.Flags(flags, app.DefaultConfig())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return settingsError{err} })
	return root
}

func (c *command) serve(cmd *cobra.Command, _ []string) error {
	if c.version {
		build := app.Build()
		fmt.Fprintf(c.out, "coordinator %s (commit %s, %s)\n", build.Version, build.Commit, build.GoVersion)
		return nil
	}
	if cmd.Flags().Changed("dev") {
		if err := cmd.Flags().Set("api-dev", strconv.FormatBool(c.dev)); err != nil {
			return fmt.Errorf("take --dev: %w", err)
		}
	}
	cfg, err := config.Load(app.DefaultConfig(), config.Source{
		File: c.file, Environ: c.environ, Flags: cmd.Flags(), Ignore: app.OtherSections(),
	})
	if err != nil {
		return settingsError{err}
	}
	if c.printConfig {
		return config.Print(c.out, cfg)
	}
	log := cfg.Log.Logger(c.errOut)
	redis.SetLogger(redisx.NewClientLog(log))
	coordinator, err := app.New(cmd.Context(), cfg, app.Deps{Logger: log})
	switch {
	case errors.Is(err, app.ErrSettings):
		return settingsError{err}
	case err != nil:
		return err
	}
	return coordinator.Run(cmd.Context())
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return settingsError{fmt.Errorf("unexpected argument %q", args[0])}
}

func help() string {
	var text strings.Builder
	text.WriteString(`Coordinates the consumers and producers of sharded Redis streams: which member of a group
reads which shard, and where producers write. Records never pass through it.

  coordinator --api-jwks-url http://gateway:8080/.well-known/jwks.json
  coordinator --dev                             alone, with a Redis on 127.0.0.1:6379
  coordinator --dev --store-type memory --provisioning-enabled=false
  coordinator --config /etc/rsc.yaml --print-config

Changes are taken through the admin gateway only: who has not the gateway's token is
answered 401 UNAUTHORIZED. --api-jwks-url says where the gateway's keys are; with --dev and
without keys everybody who reaches the port may change everything. What members ask for,
heartbeats and routing, is open unless --api-authenticate-member-api asks for a token too.

Each setting has four places, and the later one wins: the default, the YAML file
(coordinator.redis.host), the environment (RSC_REDIS_HOST), the flag (--redis-host).
Secrets have no flag. They come from the file, or from these variables; with _FILE behind
its name the variable holds the path of a file with the secret:
`)
	for _, secret := range config.Secrets(app.DefaultConfig()) {
		fmt.Fprintf(&text, "\n  %-30s %s", secret[0], secret[1])
	}
	text.WriteString(`

SIGTERM and SIGINT end it: new work is answered 503 COORDINATOR_TERMINATING, work under way
finishes. It exits with 0 after that, 1 when it could not start or had to cut work off,
2 when the settings are wrong.`)
	return text.String()
}
