package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// errModule comes when the go command tells of a module in another way than expected.
var errModule = errors.New("module cannot be read")

// module is one that is not of this workspace.
type module struct {
	path     string
	licences []string // by their SPDX names, sorted
	refused  []string // files whose licence is not taken
}

// problem says why the project cannot use the module, empty when it can.
func (m module) problem() string {
	switch {
	case len(m.refused) > 0:
		return "has a licence that is not taken, in " + strings.Join(m.refused, ", ")
	case len(m.licences) == 0:
		return "has no licence that is known; look at it, and teach tools/licences"
	default:
		return ""
	}
}

// programs are the packages of what is shipped.
func programs() []string {
	const root = "github.com/redis-stream-coordinator/rsc/"
	return []string{
		root + "services/coordinator/cmd/...", root + "services/admin-gateway/cmd/...", root + "services/monitor/cmd/...",
		root + "services/standalone/cmd/...", root + "web/cmd/...", root + "tools/rscctl",
	}
}

// modules returns those that packages are built from, sorted; those of the pattern work with
// their tests.
func modules(ctx context.Context, packages ...string) ([]module, error) {
	args := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}"}
	if slices.Equal(packages, []string{"work"}) {
		args = append(args, "-test")
	}
	var problems strings.Builder
	command := exec.CommandContext(ctx, "go", append(args, packages...)...)
	command.Stderr = &problems
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("list modules: %w\n%s", err, problems.String())
	}
	lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool { return line == "" })
	slices.Sort(lines)
	var found []module
	for _, line := range slices.Compact(lines) {
		path, dir, ok := strings.Cut(line, "\t")
		if !ok || dir == "" {
			return nil, fmt.Errorf("%w: %q", errModule, line)
		}
		one, err := look(path, dir)
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, nil
}

// look reads the licence files at the root of a module.
func look(path, dir string) (module, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return module{}, fmt.Errorf("look at %s: %w", path, err)
	}
	named := regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)`)
	m := module{path: path}
	for _, entry := range entries {
		if entry.IsDir() || !named.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return module{}, fmt.Errorf("look at %s: %w", path, err)
		}
		taken, refused := classify(string(text))
		m.licences = append(m.licences, taken...)
		if refused {
			m.refused = append(m.refused, entry.Name())
		}
	}
	slices.Sort(m.licences)
	m.licences = slices.Compact(m.licences)
	return m, nil
}
