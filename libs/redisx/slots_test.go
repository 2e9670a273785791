package redisx

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSlotsNameThePrimaryOfEachRange(t *testing.T) {
	t.Parallel()
	replica := []any{"10.0.0.2", int64(6379), "r"}
	got, err := ParseSlots([]any{
		[]any{int64(0), int64(5460), []any{"10.0.0.1", int64(6379), "a", []any{"hostname", "h"}}, replica},
		[]any{int64(5461), int64(5461), []any{"::1", int64(7000), "b"}},
		[]any{int64(5462), int64(16_383), []any{nil, int64(6379), "c"}, replica},
		[]any{int64(7), int64(7), []any{"?", int64(6379)}},
	})
	require.NoError(t, err)
	require.Equal(t, []SlotRange{{0, 5460, "a", "10.0.0.1:6379"}, {5461, 5461, "b", "[::1]:7000"}, {5462, 16_383, "c", ""}, {7, 7, "", ""}}, got)
}

func TestMalformedSlotsAreRefused(t *testing.T) {
	t.Parallel()
	node := []any{"h", int64(1), "a"}
	for i, reply := range []any{
		nil, "OK",
		[]any{"x"},
		[]any{[]any{}},
		[]any{[]any{int64(0), int64(1)}},
		[]any{[]any{"0", int64(1), node}},
		[]any{[]any{int64(0), nil, node}},
		[]any{[]any{int64(0), int64(1), "h"}},
		[]any{[]any{int64(0), int64(1), []any{"h"}}},
		[]any{[]any{int64(-1), int64(1), node}},
		[]any{[]any{int64(2), int64(1), node}},
		[]any{[]any{int64(0), int64(16_384), node}},
	} {
		_, err := ParseSlots(reply)
		require.ErrorIs(t, err, ErrReply, i)
	}
}
