// Command dashboards writes the dashboards of grafana/dashboards, one file each, named after
// its uid. `make generate` runs it; what it writes is committed, so that Grafana needs no Go.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/redis-stream-coordinator/rsc/tools/dashboards/internal/pages"
)

//go:generate go run . -out ../../grafana/dashboards

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

func run(args []string, problems io.Writer) int {
	flags := flag.NewFlagSet("dashboards", flag.ContinueOnError)
	flags.SetOutput(problems)
	out := flags.String("out", "grafana/dashboards", "directory to write to, which must exist")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := write(*out); err != nil {
		fmt.Fprintln(problems, "dashboards:", err)
		return 1
	}
	return 0
}

// write writes every dashboard into dir.
func write(dir string) error {
	for _, page := range pages.All() {
		text, err := page.Text()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, page.UID+".json"), text, 0o644); err != nil {
			return fmt.Errorf("write dashboard: %w", err)
		}
	}
	return nil
}
