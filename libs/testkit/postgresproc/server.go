package postgresproc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/freeport"
)

const (
	startTries = 5
	superuser  = "postgres"
	// Owner is the user that owns every Database: an ordinary one, which may do in it what it
	// likes and nothing else, as an operator would set it up.
	Owner = "rsc"
)

// Server is one PostgreSQL of a test. Its methods may be called from several goroutines, but
// those that can fail the test only from the test's own.
type Server struct {
	t        testing.TB
	settings settings
	bin, dir string
	account  *syscall.Credential
	port     string
	made     atomic.Int64

	mu   sync.Mutex
	proc *process
}

// Start makes a cluster for the test and returns when its server takes sessions. Both end
// with the test.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s := &Server{t: t, settings: collect(opts), bin: binaries(t), account: account(t)}
	s.makeDirectory()
	s.makeCluster()
	t.Cleanup(s.Kill)
	for try := 1; ; try++ {
		s.port = freeport.Take(t)
		err := s.boot()
		if err == nil {
			break
		}
		log := tail(s.dir)
		if try == startTries || !strings.Contains(log, "Address already in use") {
			t.Fatalf("start postgres on %s: %v\n%s", s.Addr(), err, log)
		}
	}
	s.Exec(t, "postgres", "CREATE ROLE "+Owner+" LOGIN")
	return s
}

// makeDirectory makes the directory of the server, which its account may enter: those of
// testing.TB may be entered by the test's own user only.
func (s *Server) makeDirectory() {
	s.t.Helper()
	dir, err := os.MkdirTemp("", "postgres-")
	if err == nil {
		s.t.Cleanup(func() { _ = os.RemoveAll(dir) })
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil && s.account != nil {
		err = os.Chown(dir, int(s.account.Uid), int(s.account.Gid))
	}
	if err != nil {
		s.t.Fatalf("make the directory of postgres: %v", err)
	}
	s.dir = dir
}

// makeCluster fills the data directory. Everybody on this machine may log in.
func (s *Server) makeCluster() {
	s.t.Helper()
	output, err := s.command("initdb", "-D", s.Data(), "-U", superuser, "-A", "trust", "-E", "UTF8",
		"--locale=C", "--no-sync", "--no-instructions").CombinedOutput()
	if err != nil {
		s.t.Fatalf("make a cluster of postgres in %s, which its user must be able to enter: %v\n%s", s.dir, err, output)
	}
}

// boot starts the server and waits until it takes sessions. Processes of a server that was
// killed hold the memory that they share until the kernel has ended them all; then it starts.
func (s *Server) boot() error {
	ctx, cancel := context.WithTimeout(context.Background(), readyBudget)
	defer cancel()
	for {
		before := len(read(s.dir))
		proc, err := launch(s.command("postgres", s.settings.commandLine(s.port, s.Data())...), s.dir)
		if err != nil {
			return err
		}
		s.proc = proc
		err = s.awaitReady(ctx)
		inUse := errors.Is(err, errEnded) && strings.Contains(read(s.dir)[before:], "pre-existing shared memory block")
		if !inUse || clock.Sleep(ctx, readyPoll) != nil {
			return err
		}
	}
}

// Addr returns host:port. It stays the same over Restart.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", s.port) }

// Data returns the data directory of the server.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// Database makes an empty database that belongs to Owner and returns its URL, with which
// Owner logs in. It stays until the server ends.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := "test" + strconv.FormatInt(s.made.Add(1), 10)
	s.Exec(t, "postgres", "CREATE DATABASE "+name+" OWNER "+Owner)
	return s.url(Owner, name)
}

// Admin returns the URL with which the superuser logs in to the database that the URL names.
func (s *Server) Admin(url string) string {
	return strings.Replace(url, "//"+Owner+"@", "//"+superuser+"@", 1)
}

// Exec runs a statement in the named database as the superuser.
func (s *Server) Exec(t testing.TB, database, statement string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	err := s.session(ctx, database, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement)
		return err
	})
	if err != nil {
		t.Fatalf("run %q: %v", statement, err)
	}
}

func (s *Server) url(user, database string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", user, s.Addr(), database)
}
