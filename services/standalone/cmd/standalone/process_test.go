package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// binary is the program, built once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "standalone-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "standalone")
	text, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return path, err
})

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if path, err := binary(); err == nil {
			_ = os.RemoveAll(filepath.Dir(path))
		}
		os.Exit(code)
	}))
}

const (
	patience = 60 * time.Second
	interval = 20 * time.Millisecond
)

// process is the program as people start it.
type process struct {
	cmd  *exec.Cmd
	out  output
	done chan struct{}
}

// output is what a process writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(data)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start runs the program with an environment of its own, on a free port.
func start(t *testing.T, environ []string, args ...string) *process {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	p := &process{done: make(chan struct{})}
	p.cmd = exec.Command(path, append([]string{"--addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0"}, args...)...)
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}, environ...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

// ends waits for the end and returns the exit code.
func (p *process) ends(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		require.Failf(t, "it does not end", "%s", p.out.String())
		return -1
	}
}

func (p *process) says(t *testing.T, text string) {
	t.Helper()
	require.Eventuallyf(t, func() bool { return strings.Contains(p.out.String(), text) }, patience, interval, "%q is not said", text)
}

// number returns what the expression captures in the output.
func (p *process) number(t *testing.T, expression string) float64 {
	t.Helper()
	found := regexp.MustCompile(expression).FindStringSubmatch(p.out.String())
	require.NotNilf(t, found, "%s in\n%s", expression, p.out.String())
	value, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	return value
}

// alive tells whether the redis-server that the process started still runs.
func alive(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && strings.Contains(string(text), "redis-server")
}

// requireClean checks a demo that ran for some seconds.
func requireClean(t *testing.T, p *process) {
	t.Helper()
	require.Zerof(t, p.ends(t), "%s", p.out.String())
	require.Less(t, p.number(t, `first record handled ([0-9.]+)s after the start`), 60.0, "about 1 s on an idle machine")
	require.NotContains(t, p.out.String(), "FAULT")
	produced := p.number(t, `ended after .*: produced (\d+) `)
	require.Greater(t, produced, 20.0, "50 a second, once it runs")
	require.InDelta(t, produced, p.number(t, `ended after .* handled (\d+) `), 0)
	require.Regexp(t, `ended after .* lost 0 duplicates 0 double readers 0\n`, p.out.String())
}

func TestDemoKeepsThePromisesWhileAMemberComesAndGoes(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "--demo-cycle", "4s")
	lines := regexp.MustCompile(`(?m)^\d+s produced .* \| \d:.*$`)
	require.Eventually(t, func() bool { return comesAndGoes(lines.FindAllString(p.out.String(), -1)) }, 2*patience, interval)
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	requireClean(t, p)
	require.False(t, alive(int(p.number(t, `redis-server \(pid (\d+)\)`))))
}

// comesAndGoes tells whether the third consumer was there, away, and there again.
func comesAndGoes(lines []string) bool {
	there := 0
	for _, line := range lines {
		if strings.Contains(line, "demo-c") == (there%2 == 0) {
			there++
		}
	}
	return there >= 3
}

func TestDemoRunsOnTheImitation(t *testing.T) {
	t.Parallel()
	p := start(t, []string{"PATH=" + t.TempDir()}, "--demo-for", "10s", "--demo-cycle", "5s")
	requireClean(t, p)
	require.Contains(t, p.out.String(), "data is not kept")
}

func TestDemoRunsOnAGivenRedisAndUsesWhatIsThere(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	requireClean(t, start(t, nil, "--redis", redis.URL(), "--demo-for", "8s"))
	environ := []string{"RSC_REDIS_PORT=" + strings.TrimPrefix(redis.Addr(), "127.0.0.1:")}
	second := start(t, environ, "--demo-for", "8s")
	requireClean(t, second)
	require.NotContains(t, second.out.String(), "redis-server")
	require.NoError(t, redis.Client(t).Ping(t.Context()).Err(), "it is not ours to end")
}

// Ctrl-C: the signal goes to the process alone, as its Redis is in a group of its own.
func TestInterruptEndsTheDemoCleanly(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	p.says(t, "first record handled")
	enough := regexp.MustCompile(`(?m)^\d+s produced [1-9]\d{2,} `)
	require.Eventually(t, func() bool { return enough.MatchString(p.out.String()) }, patience, interval)
	pid := int(p.number(t, `redis-server \(pid (\d+)\)`))
	require.True(t, alive(pid))
	group, err := syscall.Getpgid(pid)
	require.NoError(t, err)
	require.Equal(t, pid, group)
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	requireClean(t, p)
	require.False(t, alive(pid))
}

func TestRedisEndsWithAProcessThatIsKilled(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "--demo=false")
	p.says(t, "no demo")
	pid := int(p.number(t, `redis-server \(pid (\d+)\)`))
	require.True(t, alive(pid))
	require.NoError(t, p.cmd.Process.Kill())
	require.Eventually(t, func() bool { return !alive(pid) }, patience, interval)
}

func TestProcessEndsWithoutItsRedis(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "--demo=false")
	p.says(t, "no demo")
	child, err := os.FindProcess(int(p.number(t, `redis-server \(pid (\d+)\)`)))
	require.NoError(t, err)
	require.NoError(t, child.Kill())
	require.Equal(t, exitFailed, p.ends(t))
	require.Contains(t, p.out.String(), "the embedded Redis has ended")
}

func TestWithoutDemoTheAPIIsServedUntilASignal(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "--demo=false")
	p.says(t, "no demo")
	require.Regexp(t, `API on http://127\.0\.0\.1:\d+/coord/v1, described at http://127\.0\.0\.1:\d+/docs\n`, p.out.String())
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Zerof(t, p.ends(t), "%s", p.out.String())
	require.NotContains(t, p.out.String(), "produced")
}

func TestMistakesAreToldPlainly(t *testing.T) {
	t.Parallel()
	for _, mistake := range []struct {
		environ []string
		args    []string
		code    int
		says    string
	}{
		{nil, []string{"--redis", "redis://u:hunter2@127.0.0.1:1"}, exitFailed, "no answer from Redis (UNREACHABLE)"},
		{[]string{"RSC_REDIS_HOST=127.0.0.1", "RSC_REDIS_PORT=1"}, nil, exitFailed, "no answer from Redis (UNREACHABLE)"},
		{nil, []string{"--redis", "http://u:hunter2@db"}, exitSettings, "redis.url"},
		{nil, []string{"--addr", "nowhere"}, exitSettings, "listen"},
		{nil, []string{"--addr", "192.0.2.1:1"}, exitFailed, "choose another address with --addr"},
		{nil, []string{"--demo-cycle", "0s"}, exitSettings, "--demo-cycle"},
		{nil, []string{"--demos"}, exitSettings, "--help"},
		{nil, []string{"surplus"}, exitSettings, "surplus"},
		{[]string{"RSC_STORE_TYP=redis"}, nil, exitSettings, "RSC_STORE_TYPE"},
	} {
		p := start(t, mistake.environ, mistake.args...)
		require.Equalf(t, mistake.code, p.ends(t), "%v\n%s", mistake.args, p.out.String())
		require.Contains(t, p.out.String(), mistake.says)
		require.NotContains(t, p.out.String(), "hunter2")
	}
}

func TestHelpTeaches(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "--help")
	require.Zero(t, p.ends(t))
	for _, word := range []string{"--redis", "--addr", "--demo", "--demo-for", "RSC_REDIS_", "FAULT", "Ctrl-C"} {
		require.Contains(t, p.out.String(), word)
	}
}
