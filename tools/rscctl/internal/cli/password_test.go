package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

func TestHashedPasswordIsTheGateways(t *testing.T) {
	t.Parallel()
	for _, s := range []scene{{in: "correct horse\n"}, {in: "correct horse\r\n"}, {person: true, secrets: []string{"correct horse", "correct horse"}}} {
		f := &fake{}
		got := inBubble(t.Context(), s, f, "hash-password")
		require.Zero(t, got.code, got.err)
		require.Equal(t, 1, strings.Count(got.out, "\n"))
		hash, err := auth.ParseHash(strings.TrimSpace(got.out))
		require.NoError(t, err)
		require.True(t, hash.Matches("correct horse"))
		require.False(t, hash.Matches("correct horse\n"))
		require.NotContains(t, got.out+got.err, "correct horse")
		require.Empty(t, f.asked)
	}
}

func TestASlipMakesNoHash(t *testing.T) {
	t.Parallel()
	for _, s := range []scene{
		{person: true, secrets: []string{"one", "two"}},
		{person: true, secrets: []string{""}},
		{person: true, secrets: []string{"one"}},
		{in: ""},
		{in: "one\ntwo"},
		{in: strings.Repeat("x", auth.MaxPassword+1)},
	} {
		got := inBubble(t.Context(), s, &fake{}, "hash-password")
		require.NotZero(t, got.code)
		require.Empty(t, got.out)
	}
}
