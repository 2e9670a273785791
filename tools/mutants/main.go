// Command mutants is the mutation gate: it breaks the protocol in one named way at a time
// (reliability, section 1), in a scratch copy of the sources, and has the searches look for
// it. A mutation that no search notices is a missing test; one that does not fit the
// sources any more has to follow them.
//
//	mutants                         all mutations, with the searches proven on the sources first
//	mutants -only MUT01,MUT07      some of them
//	mutants -rotate 5              five that the commit picks
//	mutants -write docs/verification.md  all, and the table into the document
//
// The exit code is 0 when all are caught, 1 when one is not, 2 when the gate cannot work.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/gate"
	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/mutation"
	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/search"
)

//go:embed mutations/*.txt
var mutations embed.FS

// errUncaught comes when the gate is not passed.
var errUncaught = errors.New("the gate is not passed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the command's flags.
type options struct {
	root, only, write string
	rotate            int
	control, list     bool
	limit             time.Duration
}

func run(ctx context.Context, args []string, out, problems io.Writer) int {
	var o options
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(problems)
	flags.StringVar(&o.root, "root", ".", "root of the workspace, where go.work lies")
	flags.StringVar(&o.only, "only", "", "ids of the mutations to run, with commas between them")
	flags.IntVar(&o.rotate, "rotate", 0, "run that many, picked by the commit's hash")
	flags.StringVar(&o.write, "write", "", "document to write the table into, when all mutations were run")
	flags.BoolVar(&o.control, "control", true, "first show that the searches pass on the sources as they are")
	flags.BoolVar(&o.list, "list", false, "list the mutations and whether they fit the sources, and run nothing")
	flags.DurationVar(&o.limit, "limit", 5*time.Minute, "time that one search may take")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	switch err := work(ctx, o, out); {
	case errors.Is(err, errUncaught):
		fmt.Fprintln(problems, "mutants:", err)
		return 1
	case err != nil:
		fmt.Fprintln(problems, "mutants:", err)
		return 2
	}
	return 0
}

// work picks the mutations, runs them and prints the table.
func work(ctx context.Context, o options, out io.Writer) error {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	picked, err := pick(ctx, o, root)
	if err != nil {
		return err
	}
	g := gate.Gate{Tree: os.DirFS(root), Watch: watch(out)}
	if o.list {
		return list(picked, g.Tree, out)
	}
	scratch, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return fmt.Errorf("make a scratch directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	g.Searcher = search.Runner{Root: root, Scratch: scratch, Limit: o.limit}
	if o.control {
		broken, err := g.Control(ctx, picked)
		if err != nil {
			return err
		}
		if len(broken) > 0 {
			return fmt.Errorf("%w: %d searches do not pass on the sources as they are", errUncaught, len(broken))
		}
	}
	results, err := g.Mutate(ctx, picked)
	if err != nil {
		return err
	}
	return conclude(ctx, o, root, results, out)
}

// pick returns the mutations that the options ask for.
func pick(ctx context.Context, o options, root string) ([]mutation.Mutation, error) {
	dir, err := fs.Sub(mutations, "mutations")
	if err != nil {
		return nil, err
	}
	all, err := mutation.Load(dir)
	if err != nil {
		return nil, err
	}
	switch {
	case o.write != "" && (o.only != "" || o.rotate > 0):
		return nil, errors.New("only a run of all mutations is written down")
	case o.only != "":
		return mutation.Named(all, strings.Split(o.only, ","))
	case o.rotate > 0:
		commit, err := git(ctx, root, "rev-parse", "HEAD")
		if err != nil {
			return nil, err
		}
		return mutation.Rotate(all, o.rotate, commit)
	default:
		return all, nil
	}
}

// list prints the mutations, and fails when one does not fit.
func list(picked []mutation.Mutation, tree fs.FS, out io.Writer) error {
	var drift error
	for _, m := range picked {
		_, err := m.Apply(tree)
		drift = errors.Join(drift, err)
		fmt.Fprintf(out, "%s  %-55s %-30s fits: %t\n", m.ID, m.Name, m.Breaks, err == nil)
	}
	if drift != nil {
		return errors.Join(errUncaught, drift)
	}
	return nil
}

// watch prints each finding when it is there, and the output of one that is not as it
// should be.
func watch(out io.Writer) func(string, search.Finding) {
	return func(id string, f search.Finding) {
		want := search.Caught
		if id == "" {
			id, want = "control", search.Survived
		}
		fmt.Fprintf(out, "%-8s %-10s %v  %s  %s\n", id, f.Verdict, f.Took.Round(10*time.Millisecond), f.Search, f.Test)
		if f.Verdict != want {
			fmt.Fprintln(out, f.Output)
		}
	}
}

// conclude prints the table, writes it down if asked to, and tells whether all are caught.
func conclude(ctx context.Context, o options, root string, results []gate.Result, out io.Writer) error {
	commit, err := git(ctx, root, "describe", "--always", "--dirty", "--exclude=*")
	if err != nil {
		return err
	}
	table := gate.Table(results, commit)
	fmt.Fprintf(out, "\n%s", table)
	if o.write != "" {
		path := filepath.Join(root, o.write)
		document, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read the document for the table: %w", err)
		}
		text, err := gate.Insert(string(document), table)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write the table down: %w", err)
		}
	}
	var missed error
	for _, r := range results {
		switch {
		case r.Drift != nil:
			missed = errors.Join(missed, r.Drift)
		case !r.Caught():
			missed = errors.Join(missed, fmt.Errorf("%s %s is not caught by every search", r.Mutation.ID, r.Mutation.Name))
		}
	}
	if missed != nil {
		return errors.Join(errUncaught, missed)
	}
	return nil
}

// git returns what git says of the tree.
func git(ctx context.Context, root string, args ...string) (string, error) {
	// The tree may be another user's, as in a container.
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "safe.directory=*"}, args...)...)
	cmd.Dir = root
	said, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask git for the commit: %w", err)
	}
	return strings.TrimSpace(string(said)), nil
}
