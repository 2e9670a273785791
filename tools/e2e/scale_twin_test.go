package e2e_test

import (
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// twin is a second coordinator on the suite's Redis.
type twin struct {
	*process

	address string
	admin   *client.Admin
}

// startTwin starts it and waits until it answers.
func (s *suite) startTwin(settings ...string) *twin {
	s.t.Helper()
	w := &twin{address: freeAddress(s.t)}
	flags := append(append([]string{}, s.flags...), settings...)
	w.process = start(s.t, "second coordinator", "coordinator", append(flags, "--listen", w.address)...)
	c, err := client.New(client.Options{CoordinatorURL: "http://" + w.address})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	w.admin = c.Admin()
	s.eventually(func() bool {
		if w.ended() {
			return true
		}
		health, err := w.admin.Health(s.t.Context())
		return err == nil && health.Status == "UP"
	}, "the second coordinator is ready")
	require.False(s.t, w.ended(), "it has ended:\n%s", w.all.tail())
	return w
}
