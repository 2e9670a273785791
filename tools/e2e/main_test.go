package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// binaries is where the programs under test are.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run builds the programs once, without the race detector whatever the tests have.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "rsc-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for module, pkg := range map[string]string{
		"services/coordinator": "./cmd/coordinator", "services/admin-gateway": "./cmd/admin-gateway",
		"services/standalone": "./cmd/standalone", "examples": "./replay", "tools": "./rscctl",
	} {
		build := exec.Command("go", "build", "-buildvcs=false", "-o", dir+string(filepath.Separator), pkg)
		build.Dir = filepath.Join("..", "..", filepath.FromSlash(module))
		if output, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s of %s: %v\n%s", pkg, module, err, output)
			return 1
		}
	}
	binaries = dir
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}
