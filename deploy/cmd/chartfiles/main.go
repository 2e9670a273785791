// Command chartfiles writes what the Helm chart has of other places: the alert rules and
// dashboards, which a chart must have in its own directory, the part of the schema that says
// which settings the services know, and the table of values in the chart's README.
// `make generate` runs it; tests refuse what was changed by hand.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

//go:generate go run . -root ../../..

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

func run(args []string, problems io.Writer) int {
	flags := flag.NewFlagSet("chartfiles", flag.ContinueOnError)
	flags.SetOutput(problems)
	root := flags.String("root", ".", "root of the repository")
	out := flags.String("out", "", "directory to write into, empty is that of the chart")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	chart := filepath.Join(*root, "deploy", "helm", "redis-stream-coordinator")
	if *out == "" {
		*out = chart
	}
	for _, write := range []func() error{
		func() error {
			return copyFiles(filepath.Join(*root, "prometheus", "rules"), ".yml", filepath.Join(*out, "files", "rules"))
		},
		func() error {
			return copyFiles(filepath.Join(*root, "grafana", "dashboards"), ".json", filepath.Join(*out, "files", "dashboards"))
		},
		func() error { return writeSchema(chart, *out) },
		func() error { return writeReadme(chart, *out) },
	} {
		if err := write(); err != nil {
			fmt.Fprintln(problems, "chartfiles:", err)
			return 1
		}
	}
	return 0
}

// copyFiles makes the files of a directory that end in suffix the only ones of to.
func copyFiles(from, suffix, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("clear %s: %w", to, err)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", to, err)
	}
	paths, err := filepath.Glob(filepath.Join(from, "*"+suffix))
	if err != nil {
		return fmt.Errorf("list %s: %w", from, err)
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s has no file *%s", from, suffix)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("copy %s: %w", path, err)
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(path)), content, 0o644); err != nil {
			return fmt.Errorf("copy %s: %w", path, err)
		}
	}
	return nil
}
