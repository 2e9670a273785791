package redisx

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCountIsUnknownUntilSomebodySaysOtherwise(t *testing.T) {
	t.Parallel()
	var never Count
	for name, c := range map[string]Count{"zero value": never, "minus one": KnownCount(-1), "F03 (a)": KnownCount(-99)} {
		_, known := c.Value()
		require.False(t, known, name)
		require.False(t, c.IsZero(), name)
		require.Equal(t, "unknown", c.String(), name)
	}
	require.True(t, KnownCount(0).IsZero())
	require.False(t, KnownCount(1).IsZero())
	require.Equal(t, "7", KnownCount(7).String())
}

func TestGroupsWithoutNameOrPendingAreRefused(t *testing.T) {
	t.Parallel()
	whole := func() map[any]any {
		return map[any]any{"name": "g", "consumers": int64(1), "pending": int64(2), "last-delivered-id": "3-0", "new-field": []any{}}
	}
	groups, err := ParseGroups([]any{whole()})
	require.NoError(t, err)
	require.Equal(t, []Group{{Name: "g", Consumers: 1, Pending: 2, LastDeliveredID: "3-0"}}, groups)
	for _, field := range []string{"name", "consumers", "pending", "last-delivered-id"} {
		broken := whole()
		delete(broken, field)
		_, err := ParseGroups([]any{broken})
		require.ErrorIs(t, err, ErrReply, field)
		require.ErrorContains(t, err, field)
		broken[field] = 1.5
		_, err = ParseGroups([]any{whole(), broken})
		require.ErrorIs(t, err, ErrReply, field)
	}
	broken := whole()
	broken["lag"] = "0"
	_, err = ParseGroups([]any{broken})
	require.ErrorIs(t, err, ErrReply, "a lag that is no number is neither 0 nor unknown")
}

func TestNoReplyMakesTheParserPanicOrInventAZeroLag(t *testing.T) {
	t.Parallel()
	scalar := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Int64(), asAny), rapid.Map(rapid.Float64(), asAny),
		rapid.Map(rapid.SampledFrom([]string{"name", "pending", "lag", "0", ""}), asAny))
	item := rapid.OneOf(scalar, rapid.Map(rapid.SliceOfN(scalar, 0, 12), func(s []any) any { return s }),
		rapid.Map(rapid.MapOf(rapid.SampledFrom([]string{"name", "consumers", "pending", "last-delivered-id", "lag", "entries-read"}), scalar), asReply))
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(item).Draw(t, "reply")
		groups, err := ParseGroups(list)
		if err != nil {
			require.ErrorIs(t, err, ErrReply)
			return
		}
		for i, group := range groups {
			fields, err := fieldsOf(list[i])
			require.NoError(t, err)
			require.Equal(t, fields["lag"] == int64(0), group.Lag.IsZero())
		}
	})
}

func asAny[T any](v T) any { return v }

func asReply(fields map[string]any) any {
	reply := map[any]any{}
	for name, value := range fields {
		reply[name] = value
	}
	return reply
}
