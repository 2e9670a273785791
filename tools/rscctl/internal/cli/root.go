package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const (
	// defaultCoordinator is where a gateway listens without settings.
	defaultCoordinator = "http://127.0.0.1:8080"
	// defaultTimeout is as long as a coordinator works on one change.
	defaultTimeout = time.Minute
)

const rootHelp = `rscctl shows and changes what a Redis Stream Coordinator coordinates.

A stream such as "orders" is split into shards, each a Redis stream of its own: orders:0,
orders:1, … Consumer groups read it: the members of a group share the shards, and at any
moment at most one member of a group may read a shard. A change of the shard count, a
resharding, is one for all groups of the stream. The coordinators carry it out by
themselves, so rscctl may be stopped at any time.

Ask the gateway, which knows who may do what: rscctl login makes you known to it. A
coordinator that is asked directly shows what it knows, and takes changes from the gateway
only. $RSC_TOKEN or --token-file bring a token along without a login.

What changes something needs --reason. It is kept in the history of the group with the
name in --requested-by. Changes that move or remove shards show their plan first and
need --yes, or the name typed in when a person is at the terminal; --dry-run shows the
plan only.

Where a command takes STREAM [GROUP], the group may be left out when the stream has one.

The exit code is 0 when all went well, 1 when something was refused or failed, 2 when the
command line or a file is wrong, 3 when a resharding that was followed ended ROLLED_BACK, and
4 when a plan has changes and --detailed-exitcode is given.`

const rootExamples = `  rscctl streams create orders --shards 4 --group billing --reason "new service"
  rscctl streams scale orders 8 --reason "more load" --watch
  rscctl shards orders billing
  rscctl lag orders billing --watch
  rscctl plan -f streams.yaml
  rscctl events orders billing --follow
  rscctl login --user ops
  RSC_COORDINATOR=https://gateway.example.com rscctl streams list --output json`

// root returns the command line with all its commands.
func (s *session) root() *cobra.Command {
	root := &cobra.Command{
		Use: "rscctl", Short: "Operate a Redis Stream Coordinator", Long: rootHelp, Example: rootExamples,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: s.open,
		Args:              noSuchCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := root.PersistentFlags()
	flags.StringVarP(&s.coordinator, "coordinator", "c", "",
		"`URL` of the gateway or coordinator; default $RSC_COORDINATOR, else "+defaultCoordinator)
	flags.StringVar(&s.tokenFile, "token-file", "", "`file` with a token; default $RSC_TOKEN, else the login that is kept")
	flags.StringVarP(&s.output, "output", "o", outputTable, "table for people, json or yaml for programs: the API's answer")
	flags.DurationVar(&s.timeout, "timeout", defaultTimeout, "how long one request may take")
	flags.StringVar(&s.requestedBy, "requested-by", "", "`name` of who asks for a change; default $USER")
	flags.StringVar(&s.key, "idempotency-key", "",
		"`key` under which a gateway makes a change once, however often it is asked; default a new one")
	flags.StringVar(&s.reason, "reason", "", "why a change is made; every change needs one")
	root.AddCommand(
		s.streams(), s.groups(), s.members(), s.shards(), s.lag(), s.messages(), s.pending(), s.events(), s.migrations(), s.repair(), s.audit(), s.planFile(), s.applyFile(),
		s.health(), s.system(), s.version(), s.login(), s.logout(), s.hashPassword(),
	)
	s.completions(root)
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs(), cobra.ShellCompDirectiveNoFileComp))
	return root
}

// family returns a command that only holds others.
func family(use, short, long string, members ...*cobra.Command) *cobra.Command {
	parent := &cobra.Command{
		Use: use, Short: short, Long: long, Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	parent.AddCommand(members...)
	return parent
}

// noSuchCommand refuses arguments of a command that only holds others.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usage("%s has no command %q; did you mean %s?", cmd.CommandPath(), args[0], strings.Join(near, ", "))
	}
	return usage("%s has no command %q", cmd.CommandPath(), args[0])
}
