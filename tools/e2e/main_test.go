package e2e_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// binaries is where the programs under test are.
var binaries string

// together is how many tests run at the same time where there are fewer processors: most of
// them wait for leases most of the time.
const together = 3

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
	flag.Parse()
	if runtime.GOMAXPROCS(0) < together && flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		if err := flag.Set("test.parallel", strconv.Itoa(together)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}
