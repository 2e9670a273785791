// Command licences looks at the licence of every module that the workspace uses, in its files as
// the module cache has them, and fails where one is not among those that the project takes: MIT,
// BSD, ISC, Apache 2.0 and MPL 2.0. It writes docs/licences.md, which lists what is built into the
// programs that are shipped; `make generate` runs it.
//
// The exit code is 0 when all are taken, 1 when one is not, 2 when it could not be found out.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
)

//go:generate go run . -out ../../docs/licences.md

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stderr)) }

func run(ctx context.Context, args []string, problems io.Writer) int {
	flags := flag.NewFlagSet("licences", flag.ContinueOnError)
	flags.SetOutput(problems)
	out := flags.String("out", "docs/licences.md", "file to write")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	used, err := modules(ctx, "work")
	if err != nil {
		fmt.Fprintln(problems, "licences:", err)
		return 2
	}
	shipped, err := modules(ctx, programs()...)
	if err == nil {
		err = os.WriteFile(*out, []byte(page(shipped)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(problems, "licences:", err)
		return 2
	}
	code := 0
	for _, one := range used {
		if problem := one.problem(); problem != "" {
			fmt.Fprintf(problems, "licences: %s: %s\n", one.path, problem)
			code = 1
		}
	}
	return code
}
