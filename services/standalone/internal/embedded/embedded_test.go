package embedded

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = time.Minute

func connect(t *testing.T, to *Redis) redis.UniversalClient {
	t.Helper()
	rdb, err := redisx.New(redisx.Options{Addrs: []string{to.Address}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

func TestServerFromPathEndsWithItsDirectory(t *testing.T) {
	dirs := t.TempDir()
	t.Setenv("TMPDIR", dirs)
	own, err := Start(t.Context())
	require.NoError(t, err)
	require.Contains(t, own.About, "redis-server (pid ")
	require.Empty(t, own.Limits)
	rdb := connect(t, own)
	require.NoError(t, rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: "s", Values: []string{"a", "1"}}).Err())
	made, err := filepath.Glob(filepath.Join(dirs, "*"))
	require.NoError(t, err)
	require.Len(t, made, 1)

	require.NoError(t, own.Close())
	<-own.Ended()
	require.Error(t, rdb.Ping(t.Context()).Err())
	made, err = filepath.Glob(filepath.Join(dirs, "*"))
	require.NoError(t, err)
	require.Empty(t, made)
}

func TestServerThatDiesIsNoticed(t *testing.T) {
	t.Parallel()
	own, err := Start(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, own.Close()) }()
	_ = connect(t, own).ShutdownNoSave(t.Context()) // it ends without an answer
	select {
	case <-own.Ended():
	case <-time.After(patience):
		require.Fail(t, "its end was not noticed")
	}
}

func TestProgramThatIsNoServerIsAnError(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "redis-server"), []byte("#!/bin/sh\necho it is broken\n"), 0o700))
	t.Setenv("PATH", dir)
	_, err := Start(t.Context())
	require.ErrorContains(t, err, "it ended while starting")
	require.ErrorContains(t, err, "it is broken", "the end of its log is shown")
}

func TestImitationStandsInWhereThereIsNoServer(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	own, err := Start(t.Context())
	require.NoError(t, err)
	require.Contains(t, own.About, "imitation")
	require.NotEmpty(t, own.Limits)
	rdb := connect(t, own)
	require.NoError(t, rdb.Set(t.Context(), "k", "v", 150*time.Millisecond).Err())
	require.Eventually(t, func() bool { return rdb.Exists(t.Context(), "k").Val() == 0 }, patience, 10*time.Millisecond)
	require.NoError(t, own.Close())
	<-own.Ended()
}
