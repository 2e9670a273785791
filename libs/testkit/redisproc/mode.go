package redisproc

import (
	"os"
	"os/exec"
	"testing"
)

// ModeVariable is the environment variable that chooses what Start runs.
const ModeVariable = "RSC_TEST_REDIS"

// Mode is what stands behind a Server.
type Mode string

// The allowed values of ModeVariable.
const (
	// ModeProcess is a real redis-server from PATH; it is the default.
	ModeProcess Mode = "process"
	// ModeMini is miniredis inside the test process. It has no cluster and takes
	// no server arguments, and its stream lag is not that of Redis.
	ModeMini Mode = "mini"
	// ModeContainer is a real Redis in a container of the image that ImageVariable names,
	// redis:7 when that is empty, on the engine of DOCKER_HOST. It has no cluster and no
	// process that a test could stop or restart.
	ModeContainer Mode = "container"
)

const installHint = "redis-server is not on PATH; install it with: apt-get install -y redis-server"

// SelectedMode returns the mode that ModeVariable names, ModeProcess when it is
// empty. An unknown value fails the test.
func SelectedMode(t testing.TB) Mode {
	t.Helper()
	switch mode := Mode(os.Getenv(ModeVariable)); mode {
	case "", ModeProcess:
		return ModeProcess
	case ModeMini, ModeContainer:
		return mode
	default:
		t.Fatalf("%s is %q; allowed are %q, %q and %q", ModeVariable, mode, ModeProcess, ModeMini, ModeContainer)
		return mode
	}
}

// binary returns the path of redis-server and fails the test without one.
func binary(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal(installHint)
	}
	return path
}
