// Command modcheck measures the numbers that this codebase keeps (CONTRIBUTING.md lists
// them) and prints them as one table: number, bound, measured, ok. Under the table it
// says where to look for each number that is out of bounds.
//
// The exit code is 0 when all are kept, 1 when one is not, 2 when the tree cannot be
// read.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/gauge"
	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/source"
	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/workspace"
)

// maxFaults is how many places are printed for one number.
const maxFaults = 15

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, problems io.Writer) int {
	flags := flag.NewFlagSet("modcheck", flag.ContinueOnError)
	flags.SetOutput(problems)
	root := flags.String("root", ".", "root of the workspace, where go.work lies")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	readings, err := measure(ctx, *root)
	if err == nil {
		err = report(out, readings)
	}
	if err != nil {
		fmt.Fprintln(problems, "modcheck:", err)
		return 2
	}
	for _, reading := range readings {
		if !reading.OK {
			return 1
		}
	}
	return 0
}

// measure takes all readings of the tree at root.
func measure(ctx context.Context, root string) ([]gauge.Reading, error) {
	files, err := source.Walk(root)
	if err != nil {
		return nil, err
	}
	modules, err := workspace.Load(ctx, root)
	if err != nil {
		return nil, err
	}
	core := []string{"services/coordinator/internal/group", "services/coordinator/internal/assign"}
	readings := gauge.Sizes(files)
	readings = append(readings, gauge.Comments(files)...)
	readings = append(readings, gauge.Core(files, core)...)
	return append(readings, gauge.Modules(modules)...), nil
}
