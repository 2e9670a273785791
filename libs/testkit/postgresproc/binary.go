package postgresproc

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const (
	installHint = "PostgreSQL is not installed; get it with: apt-get install -y postgresql"
	accountHint = "PostgreSQL refuses to run as root, and there is no user postgres; get both with: apt-get install -y postgresql"
)

// places are where packages put the programs of a server, which PATH often does not name.
func places() []string {
	return []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*", "/opt/homebrew/opt/postgresql*/bin"}
}

// binaries returns the directory that holds both initdb and postgres: that of PATH, or the
// newest of those in places. It fails the test without one.
func binaries(t testing.TB) string {
	t.Helper()
	var candidates []string
	if path, err := exec.LookPath("initdb"); err == nil {
		if file, err := filepath.EvalSymlinks(path); err == nil {
			candidates = append(candidates, filepath.Dir(file))
		}
	}
	for _, pattern := range places() {
		found, _ := filepath.Glob(pattern)
		slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
		candidates = append(candidates, found...)
	}
	return search(t, candidates)
}

// search returns the first directory with both programs.
func search(t testing.TB, dirs []string) string {
	t.Helper()
	for _, dir := range dirs {
		if executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			return dir
		}
	}
	t.Fatal(installHint)
	return ""
}

// version reads the number in a directory's name; 0 where there is none.
func version(dir string) int {
	digits := strings.FieldsFunc(dir, func(r rune) bool { return r < '0' || r > '9' })
	if len(digits) == 0 {
		return 0
	}
	number, _ := strconv.Atoi(digits[len(digits)-1])
	return number
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

// account returns as whom the programs run: nil is the test's own user, the user postgres
// where that is root.
func account(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	found, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(accountHint)
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	gid, errToo := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil || errToo != nil {
		t.Fatalf("the ids of user postgres are %q and %q", found.Uid, found.Gid)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// command returns a program of the server that runs as the account, in a directory that the
// account may enter. It does not end with a thread of the test: only launch gives a process
// a thread of its own.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.account}
	return cmd
}
