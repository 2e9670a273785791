// Command configdoc writes docs/configuration.md and docs/configuration.example.yaml: every
// setting of every service with its places, default and meaning, and a file with all of them.
// `make generate` runs it. What they say comes from the structs that the services load, so it
// cannot be forgotten there; a test loads the file into each of them.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

//go:generate go run . -out ../../docs

// The files that are written.
const (
	pageName    = "configuration.md"
	exampleName = "configuration.example.yaml"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, problems io.Writer) int {
	flags := flag.NewFlagSet("configdoc", flag.ContinueOnError)
	flags.SetOutput(problems)
	out := flags.String("out", "docs", "directory to write to")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	all := merged(services())
	for name, text := range map[string]string{pageName: page(all), exampleName: example(all)} {
		if err := os.WriteFile(filepath.Join(*out, name), []byte(text), 0o644); err != nil {
			fmt.Fprintln(problems, "configdoc:", err)
			return 1
		}
	}
	return 0
}
