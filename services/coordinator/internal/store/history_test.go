package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func TestCursorsAreOrderedByTimeThenSequence(t *testing.T) {
	t.Parallel()
	ordered := []store.Cursor{{}, {Sequence: 2}, {Millis: 9, Sequence: 7}, {Millis: 10}, {Millis: 10, Sequence: 10}}
	for i, a := range ordered {
		read, err := store.ParseCursor(a.String())
		require.NoError(t, err)
		require.Equal(t, a, read)
		for j, b := range ordered {
			require.Equal(t, i < j, a.Before(b), "%s %s", a, b)
		}
	}
}

func FuzzParseCursor(f *testing.F) {
	for _, seed := range []string{"", "1-0", "01-0", "-", "1--1", "18446744073709551615-18446744073709551615", "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cursor, err := store.ParseCursor(text)
		switch {
		case err != nil:
			require.ErrorIs(t, err, store.ErrInvalid)
		case text != "":
			require.Equal(t, text, cursor.String(), "a cursor has one form")
		}
	})
}
