package browser_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

const (
	// patience is how long a condition may take that should come soon.
	patience = 2 * time.Minute
	// often is how often a condition is looked at.
	often = 50 * time.Millisecond

	// lastWords is how much of what the suite has written is shown when a test fails.
	lastWords = 2_000

	userOps    = "ops"    // WRITE, MEMBER
	userViewer = "viewer" // READ
)

func passwordOf(user string) string { return "password-of-" + user }

// settings is the file of a suite. Its users are made once for all tests: each hash takes 64 MiB.
var settings = sync.OnceValues(func() (string, error) {
	text := "coordinator:\n  api:\n    users:\n"
	for _, user := range [][2]string{{userOps, "WRITE, MEMBER"}, {userViewer, "READ"}} {
		hash, err := auth.HashPassword(passwordOf(user[0]))
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("      - {username: %s, password-hash: %q, roles: [%s]}\n", user[0], hash, user[1])
	}
	return text, nil
})

// suite is the suite in one process, which ends with its test.
type suite struct {
	redis   *redisproc.Server
	gateway string // URL
	admin   *client.Admin
}

// startSuite starts one on a Redis of its own and waits until it serves. Flags that are settings,
// NAME=value, become its environment.
func startSuite(t *testing.T, flags ...string) *suite {
	t.Helper()
	isSetting := func(flag string) bool { return strings.HasPrefix(flag, "RSC_") }
	environment := slices.DeleteFunc(slices.Clone(flags), func(flag string) bool { return !isSetting(flag) })
	flags = slices.DeleteFunc(slices.Clone(flags), isSetting)
	text, err := settings()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "rsc.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	s := &suite{redis: redisproc.Start(t)}
	var said output
	cmd := exec.Command(program, append([]string{
		"--redis", s.redis.URL(), "--config", file, "--addr", "127.0.0.1:0", "--metrics-addr", "",
	}, flags...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, environment...)
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			text := said.String()
			t.Logf("the suite wrote:\n%s", text[max(0, len(text)-lastWords):])
		}
	})
	where := regexp.MustCompile(`console on (http://\S+)/console`)
	require.Eventually(t, func() bool { return where.MatchString(said.String()) }, patience, often, "the suite serves")
	s.gateway = where.FindStringSubmatch(said.String())[1]
	c, err := client.New(client.Options{CoordinatorURL: s.gateway, Login: client.WithLogin(userOps, passwordOf(userOps))})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	s.admin = c.Admin()
	return s
}

// console returns the URL of a page of the console, "" is the first one.
func (s *suite) console(path string) string { return s.gateway + "/console" + path }

// output collects what a process writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.ToValidUTF8(o.text.String(), "?")
}
