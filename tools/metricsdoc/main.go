// Command metricsdoc writes docs/metrics.md: every metric that a service registers, with its
// type, labels and meaning. `make generate` runs it. What the page says comes from the code that
// counts, so it cannot be forgotten there; tests hold it against a running suite.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
)

//go:generate go run . -out ../../docs/metrics.md

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stderr))
}

func run(ctx context.Context, args []string, problems io.Writer) int {
	flags := flag.NewFlagSet("metricsdoc", flag.ContinueOnError)
	flags.SetOutput(problems)
	out := flags.String("out", "docs/metrics.md", "file to write")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	found, err := services(ctx)
	if err == nil {
		err = os.WriteFile(*out, []byte(page(found)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(problems, "metricsdoc:", err)
		return 1
	}
	return 0
}
