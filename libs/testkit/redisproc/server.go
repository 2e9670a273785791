package redisproc

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/freeport"
)

const startTries = 5

// Server is one Redis of a test. Its methods may be called from several
// goroutines, but those that can fail the test only from the test's own.
type Server struct {
	t        testing.TB
	settings settings
	dir      string
	port     string

	mu   sync.Mutex
	proc *process
	mini *miniredis.Miniredis
	// container is set once, before Start returns.
	container *container
}

// Start runs a Redis for the test and returns when it answers PING. It keeps no
// data on disk unless an Option says so, and ends with the test.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s := &Server{t: t, settings: collect(opts), dir: t.TempDir()}
	switch SelectedMode(t) {
	case ModeMini:
		s.startMini()
	case ModeContainer:
		s.startContainer()
	case ModeProcess:
		s.startProcess()
	}
	return s
}

// Addr returns host:port. It stays the same over Restart.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", s.port) }

// URL returns the address in the form redis://host:port/0.
func (s *Server) URL() string { return "redis://" + s.Addr() + "/0" }

// Dir returns the working directory of the server.
func (s *Server) Dir() string { return s.dir }

// Mode returns what stands behind the server.
func (s *Server) Mode() Mode {
	switch {
	case s.mini != nil:
		return ModeMini
	case s.container != nil:
		return ModeContainer
	default:
		return ModeProcess
	}
}

// PID returns the process id of the running server, 0 where it is no process of this machine.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return 0
	}
	return s.proc.pid()
}

// Client returns a new client of the server, closed when the test t ends.
func (s *Server) Client(t testing.TB) *redis.Client {
	t.Helper()
	rdb := s.newClient()
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// newClient returns a client without the maintenance handshake, which only some
// hosted servers know and which would show in the command counts of tests.
func (s *Server) newClient() *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr:                     s.Addr(),
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// Kill ends the server at once with SIGKILL, as a crash would. It returns when
// the process is gone. Killing a dead server does nothing.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.mini != nil:
		s.mini.Close()
	case s.container != nil:
		s.container.end()
	case s.proc != nil:
		s.proc.kill()
	}
}

// Stop ends the server in an orderly way with SIGTERM and waits for it.
func (s *Server) Stop() {
	s.t.Helper()
	if s.mini != nil || s.container != nil {
		s.Kill()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.proc.terminate(); err != nil {
		s.t.Errorf("stop redis-server: %v\n%s", err, tail(s.dir))
	}
}

// Restart starts the server again on the same port and directory, killing it
// first when it still runs. Without WithAOF the data is gone, as in Redis.
func (s *Server) Restart() {
	s.t.Helper()
	if s.container != nil {
		s.t.Fatalf("a restart needs %s=%s", ModeVariable, ModeProcess)
	}
	s.Kill()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mini != nil {
		if s.settings.aof == "" {
			s.mini.FlushAll()
		}
		if err := s.mini.Restart(); err != nil {
			s.t.Fatalf("restart miniredis: %v", err)
		}
		return
	}
	if err := s.boot(binary(s.t)); err != nil {
		s.t.Fatalf("restart redis-server on %s: %v\n%s", s.Addr(), err, tail(s.dir))
	}
}

func (s *Server) startMini() {
	s.t.Helper()
	if len(s.settings.args) > 0 {
		s.t.Fatalf("server arguments %q need %s=%s", s.settings.args, ModeVariable, ModeProcess)
	}
	s.mini = miniredis.NewMiniRedis()
	if err := s.mini.Start(); err != nil {
		s.t.Fatalf("start miniredis: %v", err)
	}
	s.port = s.mini.Port()
	s.t.Cleanup(s.Kill)
}

func (s *Server) startProcess() {
	s.t.Helper()
	path := binary(s.t)
	s.t.Cleanup(s.Kill)
	for try := 1; ; try++ {
		s.port = freeport.Take(s.t)
		err := s.boot(path)
		if err == nil {
			return
		}
		log := tail(s.dir)
		if try == startTries || !strings.Contains(log, "Address already in use") {
			s.t.Fatalf("start redis-server on %s: %v\n%s", s.Addr(), err, log)
		}
	}
}

// boot starts the process and waits until it answers.
func (s *Server) boot(path string) error {
	proc, err := launch(path, s.dir, s.settings.commandLine(s.port, s.dir))
	if err != nil {
		return err
	}
	s.proc = proc
	return s.awaitReady()
}
