package auth_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

func TestRolesGrantWhatTheDesignSays(t *testing.T) {
	t.Parallel()
	for name, granted := range map[string]auth.Roles{
		"READ": auth.Read, "MONITOR": auth.Read, "WRITE": auth.Read | auth.Write, "MEMBER": auth.Member, "ADMIN": auth.Read | auth.Write | auth.Member,
	} {
		got, err := auth.ParseRole(name)
		require.NoError(t, err)
		require.Equal(t, granted, got, name)
	}
	for _, name := range []string{"", "read", "Admin", "READ ", " READ", "READ,WRITE", "ROLE_READ", "*", "WRITE\x00"} {
		got, err := auth.ParseRole(name)
		require.Error(t, err, "%q", name)
		require.Zero(t, got)
	}
}

func TestNoRoleIsNoRight(t *testing.T) {
	t.Parallel()
	require.Zero(t, auth.RolesOf(nil))
	require.False(t, auth.Roles(0).Any(auth.Read|auth.Write|auth.Member))
	require.False(t, (auth.Read | auth.Write | auth.Member).Any(0))
	require.Equal(t, []string{}, auth.Roles(0).Names(), "as JSON it is [], not null")
	require.Empty(t, auth.Roles(0).String())
}

func names() *rapid.Generator[[]string] {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"READ", "WRITE", "MEMBER", "ADMIN", "MONITOR", "read", "", "OTHER"}), 0, 6)
}

func TestOrderAndRepetitionOfRolesDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := names().Draw(t, "names")
		all := auth.RolesOf(given)
		shuffled := rapid.Permutation(given).Draw(t, "shuffled")
		require.Equal(t, all, auth.RolesOf(append(shuffled, given...)))
		require.Equal(t, all, auth.RolesOf(all.Names()), "names and roles go both ways")
		for i := range given {
			fewer := auth.RolesOf(slices.Delete(slices.Clone(given), i, i+1))
			require.Equal(t, fewer, fewer&all, "to take a name away adds no right")
		}
		require.False(t, all.Any(auth.Write) && !all.Any(auth.Read), "who may write may read")
	})
}
