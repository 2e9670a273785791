package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/source"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/trial"
)

var errTimeout = errors.New("time is over")

// run is the command that does everything.
type run struct {
	process Process
	connection
	target
	input
	consumption
	consumers, kills, joins int
	processes, keep, json   bool
	timeout                 time.Duration
	ledgers                 string
}

func (p Process) run() *cobra.Command {
	c := run{process: p}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Creates a stream, publishes, consumes, checks, deletes the stream",
		Long: `run does a whole replay: it creates a new stream, starts consumers, publishes the records,
waits until Redis has nothing left to deliver and nothing unacknowledged, has the consumers
leave, makes the proof, and deletes the stream.`,
		Args: noArguments,
		RunE: c.do,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	c.input.flags(flags)
	c.target.flags(flags)
	c.target.creation(flags)
	flags.Lookup("stream").Usage = "stream prefix; empty makes a new one"
	flags.IntVar(&c.consumers, "consumers", 3, "consumers at the beginning")
	c.consumption.flags(flags)
	flags.BoolVar(&c.processes, "processes", false, "run each consumer in a process of its own")
	flags.IntVar(&c.kills, "kill", 0, "consumers to kill on the way with SIGKILL, each replaced at once; needs --processes")
	flags.IntVar(&c.joins, "join", 0, "consumers to add on the way")
	flags.DurationVar(&c.timeout, "timeout", 10*time.Minute, "give up after this time")
	flags.StringVar(&c.ledgers, "ledgers", "",
		"new or empty directory for the ledgers; empty makes one, which goes when the proof holds")
	flags.BoolVar(&c.keep, "keep", false, "do not delete the stream at the end")
	flags.BoolVar(&c.json, "json", false, "print the report as JSON")
	c.connection.flags(flags)
	return cmd
}

func (c *run) check() error {
	switch {
	case c.consumers < 1 || c.shards < 1 || c.kills < 0 || c.joins < 0:
		return usageError{errors.New("--consumers and --shards are at least 1, --kill and --join not negative")}
	case c.kills > 0 && !c.processes:
		return usageError{errors.New("--kill needs --processes")}
	}
	return errors.Join(c.input.check(), c.consumption.check())
}

func (c *run) do(cmd *cobra.Command, _ []string) error {
	ctx := cmd.Context()
	if err := c.check(); err != nil {
		return err
	}
	if c.stream == "" {
		c.stream = "replay-" + strings.ToLower(ulid.Make().String())
	}
	records, err := c.input.source()
	if err != nil {
		return err
	}
	sum, err := records.Scan()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.process.Err, "%s: %s records, %s keys, %s bytes, sha256 %s\n", records.Name,
		grouped(sum.Records), grouped(sum.Keys), grouped(sum.Bytes), sum.SHA256)
	remove, err := c.directory()
	if err != nil {
		return err
	}
	link, err := c.connection.open(c.process.Err)
	if err != nil {
		return err
	}
	defer link.close()
	err = c.try(ctx, link, records, sum.Records)
	if err == nil {
		return remove()
	}
	fmt.Fprintf(c.process.Err, "the ledgers are in %s\n", c.ledgers)
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

// directory makes the directory of the ledgers; remove removes it if nobody has named it.
func (c *run) directory() (remove func() error, err error) {
	if c.ledgers == "" {
		if c.ledgers, err = os.MkdirTemp("", "replay-"); err != nil {
			return nil, fmt.Errorf("make directory of ledgers: %w", err)
		}
		return func() error { return os.RemoveAll(c.ledgers) }, nil
	}
	if err := makeLedgers(c.ledgers); err != nil {
		return nil, err
	}
	others, err := ledger.ReadDir(c.ledgers)
	if err == nil && len(others) > 0 {
		err = usageError{fmt.Errorf("--ledgers: %s has ledgers of another replay", c.ledgers)}
	}
	return func() error { return nil }, err
}

// try does the replay and prints its report.
func (c *run) try(ctx context.Context, l *link, records source.Source, count int64) error {
	limited, cancel := context.WithTimeoutCause(ctx, c.timeout, errTimeout)
	defer cancel()
	show, end := c.process.show(count)
	t := trial.Trial{
		Client: l.client, Redis: l.redis, Log: l.log, Source: records, Records: count,
		Stream: c.stream, Group: c.group, Shards: c.shards, Consumers: c.consumers, Kills: c.kills, Joins: c.joins,
		PublishBatch: c.input.batch, Rate: c.rate, Ledgers: c.ledgers, Keep: c.keep, Show: show, Crew: c.local(l),
	}
	if c.processes {
		t.Crew = c.spawn
	}
	report, err := t.Run(limited)
	end()
	if report == nil || err != nil && ctx.Err() != nil { // nothing is proven by half a replay
		return err
	}
	if printed := c.process.print(report, c.json); printed != nil || err != nil {
		return errors.Join(err, printed)
	}
	if !report.Holds() {
		return errProof
	}
	return nil
}

// local returns a Crew of consumers in this process.
func (c *run) local(l *link) trial.Crew {
	return func(ctx context.Context, member, path string) (trial.Worker, error) {
		sub := subscription(&c.target, &c.consumption, member)
		return trial.Local(ctx, func(ctx context.Context) error { return read(ctx, l, sub, c.work, path) }), nil
	}
}

// spawn is a Crew of consumers in processes of their own.
func (c *run) spawn(ctx context.Context, member, path string) (trial.Worker, error) {
	args := append([]string{
		"consume", "--attached", "--stream", c.stream, "--group", c.group, "--member", member, "--ledger", path,
		"--coordinator", c.coordinator, "--redis", c.connection.redis, fmt.Sprintf("--verbose=%t", c.verbose),
	}, c.consumption.args()...)
	// The process ends with its input, in good order, not with the context.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.process.Executable, args...)
	return trial.Spawn(cmd, filepath.Join(c.ledgers, member+".log"))
}
