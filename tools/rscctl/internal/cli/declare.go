package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/manifest"
)

// inputFile is the name of the file that stands for the input.
const inputFile = "-"

const declareHelp = `
The file says which streams there should be:

  prune: false                      # the default: what is not in the file is left alone
  streams:
    - name: orders
      shardCount: 8
      initialPosition: earliest     # of its groups; the default
      groups:
        - name: billing
        - name: search
          initialPosition: latest   # matters only when the group is made

It is read strictly: a key that is unknown or there twice, or a value of a wrong type, is told
with its line, the exit code is 2, and nothing is changed. "-" reads the input.

Streams and groups that exist and are not in the file are shown and left alone; --prune, or
prune: true, deletes them, with their records left in Redis, unless members live.
`

const planHelp = `Compares the file with what exists and shows what apply --execute would change, with the
plan that the coordinator makes for each change. Nothing is changed.
` + declareHelp + `
The exit code is 0, and 1 when a change would be refused. With --detailed-exitcode it is 4 when
there is something to change.`

const applyHelp = `Makes streams and groups as the file says: makes those that are missing, and scales streams
that have another shard count. Without --execute it shows the plan only, as rscctl plan does.

Nothing is begun when the coordinator says that a change would be refused. The changes are
made one after the other; the first that is refused ends it, and it is told what was done and
what was not. Running it again goes on from there: what is as the file says is not touched.
` + declareHelp + `
Pruning needs --yes, or the word typed in. --wait follows the reshardings to their end; the
exit code is 3 when one was rolled back.`

// declaration is what plan and apply are asked for.
type declaration struct {
	file                                   string
	prune, detailed, execute, wait, assent bool
}

func (d *declaration) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&d.file, "file", "f", "", "`file` that says which streams there should be; - reads the input")
	cmd.Flags().BoolVar(&d.prune, "prune", false, "delete streams and groups that are not in the file")
	cmd.Flags().BoolVar(&d.detailed, "detailed-exitcode", false, fmt.Sprintf("exit with %d when a plan has changes", exitChanges))
	_ = cmd.MarkFlagFilename("file", "yaml", "yml")
}

func (s *session) planFile() *cobra.Command {
	var d declaration
	cmd := &cobra.Command{
		Use: "plan -f FILE", Short: "Show what a file of streams would change", Args: cobra.NoArgs,
		Long: planHelp,
		Example: `  rscctl plan -f streams.yaml
  rscctl plan -f streams.yaml --detailed-exitcode -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.declare(cmd.Context(), d) },
	}
	d.flags(cmd)
	return cmd
}

func (s *session) applyFile() *cobra.Command {
	var d declaration
	cmd := &cobra.Command{
		Use: "apply -f FILE", Short: "Make streams as a file says", Args: cobra.NoArgs,
		Long: applyHelp,
		Example: `  rscctl apply -f streams.yaml
  rscctl apply -f streams.yaml --execute --wait --reason "change 4711"
  rscctl apply -f streams.yaml --execute --prune --yes --reason "clean up"`,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.declare(cmd.Context(), d) },
	}
	d.flags(cmd)
	cmd.Flags().BoolVar(&d.execute, "execute", false, "make the changes; without it nothing is changed")
	cmd.Flags().BoolVarP(&d.wait, "wait", "w", false, "follow the reshardings to their end")
	cmd.Flags().BoolVarP(&d.assent, "yes", "y", false, "prune without asking")
	return cmd
}

// declare compares the file with what exists, and makes the changes when that is asked for.
func (s *session) declare(ctx context.Context, d declaration) error {
	sign, err := s.signFor(!d.execute)
	if err != nil {
		return err
	}
	wanted, err := s.readManifest(d.file)
	if err != nil {
		return err
	}
	report, err := s.compare(ctx, wanted, d, sign)
	if err != nil {
		return err
	}
	refusal := s.foreseen(report)
	if d.execute && refusal == nil {
		return s.carryOut(ctx, report, d, sign)
	}
	if err := s.emitPlan(report, d); err != nil {
		return err
	}
	switch {
	case refusal != nil:
		return refusal
	case d.detailed && len(report.Changes) > 0:
		return endedError{code: exitChanges}
	}
	return nil
}

func (s *session) readManifest(file string) (manifest.Manifest, error) {
	if file == "" {
		return manifest.Manifest{}, usage("--file names the file that says which streams there should be")
	}
	text, err := s.readBounded(file)
	if err != nil {
		return manifest.Manifest{}, usage("the file: %v", err)
	}
	return manifest.Parse(file, text)
}

func (s *session) readBounded(name string) ([]byte, error) {
	from := s.In
	if name != inputFile {
		file, err := os.Open(filepath.Clean(name))
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	return io.ReadAll(io.LimitReader(from, manifest.MaxSize+1))
}

// compare asks what exists, and for the coordinator's plan of each change.
func (s *session) compare(ctx context.Context, wanted manifest.Manifest, d declaration, sign signature) (*declared, error) {
	streams, err := s.existing(ctx, wanted, d.prune || wanted.Prune)
	if err != nil {
		return nil, err
	}
	exists := map[string]bool{}
	for _, stream := range streams {
		exists[stream.StreamPrefix] = true
	}
	difference := manifest.Diff(wanted, streams, d.prune || wanted.Prune)
	report := &declared{
		File: d.file, Streams: len(wanted.Streams), Changes: []changeReport{},
		Unmanaged: append([]manifest.Unmanaged{}, difference.Unmanaged...),
		UnderWay:  append([]manifest.UnderWay{}, difference.UnderWay...),
		pruned:    d.prune || wanted.Prune,
	}
	for _, change := range difference.Changes {
		one := reportOf(change)
		// A group of a stream that is made before it has no plan yet.
		if change.New || exists[change.Stream] {
			if one.Plan, err = s.planOf(ctx, change, sign); err != nil {
				return nil, s.cannot(err, placeOf(change), "plan to %s", doingOf(change))
			}
		}
		report.Changes = append(report.Changes, one)
	}
	return report, nil
}

// existing returns the streams that there are. Who may not list all is shown those of the file;
// what else there is, and so what is to be pruned, cannot be told then.
func (s *session) existing(ctx context.Context, wanted manifest.Manifest, prune bool) ([]protocol.StreamResponse, error) {
	all, err := s.admin.Streams(ctx)
	if codeIn(err) != protocol.CodeForbidden || prune {
		return all, s.cannot(err, place{}, "list the streams")
	}
	s.notes().Line("rscctl: this user may not list all streams, so only those of the file are looked at")
	var found []protocol.StreamResponse
	for _, want := range wanted.Streams {
		stream, err := s.admin.Stream(ctx, want.Name)
		switch {
		case codeIn(err) == protocol.CodeStreamNotFound:
		case err != nil:
			return nil, s.cannot(err, place{stream: want.Name}, "look at stream %s", want.Name)
		default:
			found = append(found, *stream)
		}
	}
	return found, nil
}

// codeIn is the code of a refusal, empty for all else.
func codeIn(err error) protocol.Code {
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return refused.Code
	}
	return ""
}

// foreseen returns the first refusal that the plans foresee.
func (s *session) foreseen(report *declared) error {
	for _, one := range report.Changes {
		if one.Plan == nil {
			continue
		}
		t := task{placeOf(one.change), doingOf(one.change)}
		if err := s.refusedBy(one.Plan, t); err != nil {
			return err
		}
	}
	return nil
}

// explainFile tells what is wrong with a file, one line each.
func (s *session) explainFile(wrong *manifest.Error) int {
	notes := s.notes()
	notes.Line("rscctl: the file cannot be taken; nothing was changed")
	const most = 50
	for _, problem := range wrong.Problems[:min(most, len(wrong.Problems))] {
		one := manifest.Error{File: wrong.File, Problems: []manifest.Problem{problem}}
		notes.Line("  %s", one.Error())
	}
	if more := len(wrong.Problems) - most; more > 0 {
		notes.Line("  and %d more", more)
	}
	notes.Line("  next: correct the file; rscctl plan --help shows what it may say")
	return exitUsage
}

// wrongFile returns what is wrong with a file, where that is what failed.
func wrongFile(err error) (*manifest.Error, bool) { return errors.AsType[*manifest.Error](err) }

// deletes tells whether something would be deleted.
func (r *declared) deletes() bool {
	return slices.ContainsFunc(r.Changes, func(one changeReport) bool {
		return placeOf(one.change).pruned
	})
}
