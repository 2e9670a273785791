package storetest

import (
	"context"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func malformedClaims() []claim {
	return []claim{
		{"bad names of records are refused everywhere", malformedKeys},
		{"bad member ids are refused and nothing is written", malformedMembers},
		{"a version needs a token of its own", malformedTokens},
		{"an ended context is unavailable", malformedContext},
	}
}

func invalid(t trial, err error) {
	t.Helper()
	require.ErrorIs(t, err, store.ErrInvalid)
	require.ErrorIs(t, err, protocol.ErrInvalidName)
}

func malformedKeys(t trial) {
	for _, key := range []store.Key{
		{},
		{Group: "g"},
		{Stream: "a:"},
		{Stream: "{a}", Group: "g"},
		{Stream: "a", Group: "b:c"},
		{Stream: "a", Group: "}"},
		{Stream: "a b"},
		{Stream: "a\n"},
		{Stream: "é"},
		{Stream: ".a"},
		{Stream: "a*"},
		{Stream: "[a]"},
		{Stream: "a", Group: strings.Repeat("g", 201)},
		{Stream: strings.Repeat("s", 201)},
		{Stream: "a\x00"},
		{Stream: "a", Group: "%2F"},
	} {
		_, err := t.Store.Load(t.Context(), key, store.Version{})
		invalid(t, err)
		_, err = t.Store.Create(t.Context(), store.Create{Key: key, Token: "t"})
		invalid(t, err)
		_, err = t.Store.Commit(t.Context(), store.Commit{Key: key, Token: "t"})
		invalid(t, err)
		_, err = t.Store.Touch(t.Context(), store.Touch{Key: key})
		invalid(t, err)
		_, err = t.Store.Delete(t.Context(), key, store.Version{}, nil)
		invalid(t, err)
		_, err = t.Store.Lease(t.Context(), key, lifetime)
		invalid(t, err)
		_, err = t.Store.History(t.Context(), key, "", 1)
		invalid(t, err)
	}
	require.Empty(t, listed(t))
}

func malformedMembers(t trial) {
	version := heard(t, "m1")
	for _, member := range []string{"", " ", "a b", "é", "{m}", "m\x00", strings.Repeat("m", 251)} {
		unchanged(t, func() {
			_, err := t.Store.Touch(t.Context(), store.Touch{
				Key: orders(), Version: version, Beats: []store.Beat{beat("m1", 2), beat(member, 1)},
			})
			invalid(t, err)
			newcomers := []store.Newcomer{{Member: member}}
			_, err = t.Store.Touch(t.Context(), store.Touch{Key: orders(), Version: version, Newcomers: newcomers})
			invalid(t, err)
			change := commit(version)
			change.Newcomers = newcomers
			_, err = t.Store.Commit(t.Context(), change)
			invalid(t, err)
			change = commit(version)
			change.Forget = []string{member}
			_, err = t.Store.Commit(t.Context(), change)
			invalid(t, err)
			change = commit(version)
			change.Unmoved = map[string]store.Observed{member: {}}
			_, err = t.Store.Commit(t.Context(), change)
			invalid(t, err)
		})
	}
}

func malformedTokens(t trial) {
	_, err := t.Store.Create(t.Context(), store.Create{Key: orders()})
	require.ErrorIs(t, err, store.ErrInvalid)
	change := commit(created(t))
	for _, token := range []string{"", change.Prev.Token} {
		change.Token = token
		_, err = t.Store.Commit(t.Context(), change)
		require.ErrorIs(t, err, store.ErrInvalid)
	}
}

func malformedContext(t trial) {
	version := created(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := t.Store.Load(ctx, orders(), store.Version{})
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.NotErrorIs(t, err, store.ErrNotFound)
	_, err = t.Store.Touch(ctx, store.Touch{Key: orders(), Version: version})
	require.ErrorIs(t, err, store.ErrUnavailable)
	_, err = t.Store.Lease(ctx, orders(), lifetime)
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.ErrorIs(t, err, context.Canceled)
}
