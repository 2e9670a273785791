package users_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/users"
)

func TestReplacedTableCountsFromThen(t *testing.T) {
	t.Parallel()
	directory := users.NewDirectory(table(t, []users.User{{Name: "ops", Hash: cheap("old"), Roles: auth.Read}, {Name: "gone", Hash: cheap("x")}}))
	before := directory.Generation()
	directory.Replace(table(t, []users.User{{Name: "ops", Hash: cheap("new"), Roles: auth.Write}}))
	require.NotEqual(t, before, directory.Generation())

	_, passes, err := directory.Check(t.Context(), "ops", "old")
	require.NoError(t, err)
	require.False(t, passes)
	who, passes, err := directory.Check(t.Context(), "ops", "new")
	require.NoError(t, err)
	require.True(t, passes)
	require.Equal(t, auth.Write, who.Roles)
	_, known := directory.Principal("gone")
	require.False(t, known)
}

func TestEveryReplacementHasItsOwnGeneration(t *testing.T) {
	t.Parallel()
	made := table(t, nil)
	directory := users.NewDirectory(made)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 100 {
				directory.Replace(made)
			}
		})
	}
	all.Wait()
	require.Equal(t, uint64(1001), directory.Generation())
}
