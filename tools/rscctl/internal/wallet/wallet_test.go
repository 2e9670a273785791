package wallet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/wallet"
)

func in(variables map[string]string) wallet.Wallet {
	return wallet.Open(func(name string) string { return variables[name] })
}

// login returns one for a server as the wallet gives it back.
func login(server string) wallet.Login {
	return wallet.Login{Server: server, Username: "ops", Token: "t-" + server, ExpiresAt: time.Unix(1_800_000_000, 0).UTC(), Roles: []string{"READ"}}
}

func TestALoginIsForItsServerAndForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := in(map[string]string{"XDG_CONFIG_HOME": dir})
	for _, server := range []string{"http://gateway:8080", "http://gateway:8081", "https://gateway:8080", "http://gateway:8080/a", "http://other", "http://[::1]:8080"} {
		path, err := w.Save(login(server))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(path, filepath.Join(dir, "rsc", "logins")+string(filepath.Separator)), path)
		file, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), file.Mode().Perm())
		folder, err := os.Stat(filepath.Dir(path))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), folder.Mode().Perm())
	}
	for written, server := range map[string]string{
		"http://gateway:8080": "http://gateway:8080", "HTTP://Gateway:8080//": "http://gateway:8080", "https://gateway:8080": "https://gateway:8080",
		"http://gateway:8080/a/": "http://gateway:8080/a", "http://other:80": "http://other", "http://[::1]:8080": "http://[::1]:8080",
	} {
		got, err := w.Load(written)
		require.NoError(t, err, written)
		require.Equal(t, login(server), got)
	}
	for _, server := range []string{"http://gateway", "http://gateway:8080/b", "http://gateway:80801", "https://other"} {
		_, err := w.Load(server)
		require.ErrorIs(t, err, wallet.ErrNone, server)
	}
	require.NoError(t, w.Remove("http://gateway:8080/"))
	_, err := w.Load("http://gateway:8080")
	require.ErrorIs(t, err, wallet.ErrNone)
	require.NoError(t, w.Remove("http://gateway:8080"), "twice is as good")
	_, err = w.Load("http://gateway:8081")
	require.NoError(t, err)
}

func TestANewLoginTakesThePlaceOfTheOldOne(t *testing.T) {
	t.Parallel()
	w := in(map[string]string{"HOME": t.TempDir()})
	old := login("http://gateway")
	path, err := w.Save(old)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, 0o644))
	next := old
	next.Token = "next"
	again, err := w.Save(next)
	require.NoError(t, err)
	require.Equal(t, path, again)
	file, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), file.Mode().Perm())
	got, err := w.Load("http://gateway")
	require.NoError(t, err)
	require.Equal(t, next, got)
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing half-written stays")
}

func TestAFileOfAnotherServerIsNotUsed(t *testing.T) {
	t.Parallel()
	w := in(map[string]string{"HOME": t.TempDir()})
	mine, err := w.Save(login("http://mine"))
	require.NoError(t, err)
	theirs, err := w.Save(login("http://theirs"))
	require.NoError(t, err)
	require.NoError(t, os.Rename(mine, theirs))
	_, err = w.Load("http://theirs")
	require.ErrorIs(t, err, wallet.ErrNone)
}

func TestADamagedFileIsSaidWithoutItsContent(t *testing.T) {
	t.Parallel()
	w := in(map[string]string{"HOME": t.TempDir()})
	path, err := w.Save(login("http://gateway"))
	require.NoError(t, err)
	for _, text := range []string{"", "{", `{"token":`, `{"token":7777777}`, strings.Repeat("7777777", 10_000)} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err = w.Load("http://gateway")
		require.Error(t, err)
		require.NotErrorIs(t, err, wallet.ErrNone)
		require.NotContains(t, err.Error(), "7777777")
	}
	require.NoError(t, w.Remove("http://gateway"))
}

func TestWithoutAFolderNothingIsKept(t *testing.T) {
	t.Parallel()
	for _, variables := range []map[string]string{{}, {"XDG_CONFIG_HOME": "relative"}} {
		w := in(variables)
		_, err := w.Load("http://gateway")
		require.ErrorIs(t, err, wallet.ErrNone)
		require.NoError(t, w.Remove("http://gateway"))
		_, err = w.Save(login("http://gateway"))
		require.ErrorContains(t, err, "XDG_CONFIG_HOME")
	}
	_, err := in(map[string]string{"HOME": t.TempDir()}).Save(login("gateway"))
	require.ErrorContains(t, err, "absolute URL")
}
