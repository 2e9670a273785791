package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// root is the directory of the workspace.
const root = "../.."

// binaries is where the programs of the images are.
var binaries string

func TestMain(m *testing.M) { os.Exit(built(m)) }

// built builds the programs that the Dockerfile names, once.
func built(m *testing.M) int {
	dir, err := os.MkdirTemp("", "rsc-smoke-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	all, err := builds()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, one := range all {
		build := exec.Command("go", append([]string{"build", "-buildvcs=false", "-o", dir + string(filepath.Separator)}, one.packages...)...)
		build.Dir = filepath.Join(root, filepath.FromSlash(one.module))
		if text, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", one.module, err, text)
			return 1
		}
	}
	binaries = dir
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
