package postgresproc

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// PID returns the id of the server's first process, 0 when it has ended.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil || s.proc.ended() {
		return 0
	}
	return s.proc.pid()
}

// Kill ends all processes of the server at once with SIGKILL, as a crash would. It returns
// when the first one is gone. Killing a dead server does nothing.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.kill()
	}
}

// Stop ends the server in an orderly way: sessions are ended, everything is written down.
func (s *Server) Stop() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.proc.interrupt(); err != nil {
		s.t.Errorf("stop postgres: %v\n%s", err, tail(s.dir))
	}
}

// Restart starts the server again on the same port and data, killing it first when it still
// runs.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.boot(); err != nil {
		s.t.Fatalf("restart postgres on %s: %v\n%s", s.Addr(), err, tail(s.dir))
	}
}

// Pause stops all processes of the server where they are: connections stay and nobody
// answers, until Resume.
func (s *Server) Pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.pause()
}

// Resume lets a server go on after Pause.
func (s *Server) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.resume()
}

// Backup copies the data of a server that does not run and returns where to. It is what an
// operator has who copies the volume of the database.
func (s *Server) Backup(t testing.TB) string {
	t.Helper()
	into := filepath.Join(s.dir, "backup"+strconv.FormatInt(s.made.Add(1), 10))
	s.copy(t, s.Data(), into)
	return into
}

// Restore puts the data of a Backup in the place of the server's, which must not run.
func (s *Server) Restore(t testing.TB, backup string) {
	t.Helper()
	if err := os.RemoveAll(s.Data()); err != nil {
		t.Fatalf("remove the data of postgres: %v", err)
	}
	s.copy(t, backup, s.Data())
}

// copy keeps owners and permissions, which the server insists on.
func (s *Server) copy(t testing.TB, from, to string) {
	t.Helper()
	if s.PID() != 0 {
		t.Fatal("the data of a server that runs cannot be copied; Stop or Kill it before")
	}
	output, err := exec.CommandContext(context.WithoutCancel(t.Context()), "cp", "-Rp", from, to).CombinedOutput()
	if err != nil {
		t.Fatalf("copy %s to %s: %v\n%s", from, to, err, output)
	}
}
