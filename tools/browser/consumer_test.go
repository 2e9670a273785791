package browser_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Stream, group and shards of create, and the path of the group's page.
const (
	payments, booking = "payments", "booking"
	paymentShards     = 4
	bookingRoom       = "/streams/" + payments + "/groups/" + booking
)

// consumes starts a consumer of the group booking in a process of its own, and returns what kills
// it. It is killed at the end of the test at the latest.
func (s *suite) consumes(t *testing.T, member string) (kill func()) {
	t.Helper()
	var said output
	cmd := exec.Command(replay, "consume", "--stream", payments, "--group", booking, "--member", member,
		"--ledger", filepath.Join(t.TempDir(), member+".ledger"), "--coordinator", s.gateway, "--redis", s.redis.URL())
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(func() {
		kill()
		if t.Failed() {
			text := said.String()
			t.Logf("%s wrote:\n%s", member, text[max(0, len(text)-lastWords):])
		}
	})
	return kill
}
