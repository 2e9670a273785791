package main_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/freeport"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// binaries is where rscctl and the coordinator are.
var binaries string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "rscctl-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for module, pkg := range map[string]string{"tools": "./rscctl", "services/coordinator": "./cmd/coordinator"} {
		build := exec.Command("go", "build", "-buildvcs=false", "-o", dir+string(filepath.Separator), pkg)
		build.Dir = filepath.Join("..", "..", filepath.FromSlash(module))
		if output, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s of %s: %v\n%s", pkg, module, err, output)
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

// operator is somebody with rscctl, a coordinator, and a Redis.
type operator struct {
	t     *testing.T
	url   string
	redis *redisproc.Server
}

// outcome is what a command line led to.
type outcome struct {
	code     int
	out, err string
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	redis := redisproc.Start(t)
	host, port, err := net.SplitHostPort(redis.Addr())
	require.NoError(t, err)
	address := net.JoinHostPort("127.0.0.1", freeport.Take(t))

	// The shell ends the coordinator when its input ends, so also when the tests are killed.
	coordinator := exec.Command("sh", "-c", `"$@" & read -r _; kill $!; wait`, "sh", filepath.Join(binaries, "coordinator"),
		"--dev", "--listen", address, "--metrics-listen", "", "--redis-host", host, "--redis-port", port, "--log-level", "warn")
	var log bytes.Buffer
	coordinator.Stdout, coordinator.Stderr = &log, &log
	leash, err := coordinator.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, coordinator.Start())
	t.Cleanup(func() {
		_ = leash.Close()
		_ = coordinator.Wait()
		if t.Failed() {
			t.Logf("the coordinator wrote:\n%s", log.String())
		}
	})
	o := &operator{t, "http://" + address, redis}
	require.Eventually(t, o.ready, time.Minute, 25*time.Millisecond, "the coordinator is ready")
	return o
}

func (o *operator) ready() bool {
	request, err := http.NewRequestWithContext(o.t.Context(), http.MethodGet, o.url+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

func (o *operator) command(args ...string) *exec.Cmd {
	command := exec.CommandContext(o.t.Context(), filepath.Join(binaries, "rscctl"), args...)
	command.Env = []string{"RSC_COORDINATOR=" + o.url, "USER=ann"}
	return command
}

// does runs a command line and returns what came of it.
func (o *operator) does(args ...string) outcome {
	o.t.Helper()
	command := o.command(args...)
	var out, err bytes.Buffer
	command.Stdout, command.Stderr = &out, &err
	code := exitCode(o.t, command.Run())
	return outcome{code, out.String(), err.String()}
}

// succeeds runs a command line that has to succeed, and returns its output.
func (o *operator) succeeds(args ...string) string {
	o.t.Helper()
	got := o.does(args...)
	require.Zero(o.t, got.code, "%v\n%s%s", args, got.out, got.err)
	return got.out
}

// interrupts runs a command line until its first line, and interrupts it then.
func (o *operator) interrupts(args ...string) outcome {
	o.t.Helper()
	command := o.command(args...)
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.StdoutPipe()
	require.NoError(o.t, err)
	require.NoError(o.t, command.Start())
	lines := bufio.NewScanner(out)
	require.True(o.t, lines.Scan())
	first := lines.Text()
	require.NoError(o.t, command.Process.Signal(os.Interrupt))
	for lines.Scan() { // the output has to be read before Wait
	}
	return outcome{exitCode(o.t, command.Wait()), first, problems.String()}
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	require.NoError(t, err)
	return 0
}
