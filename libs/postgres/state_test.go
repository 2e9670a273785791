package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/postgres"
)

func TestErrorsHaveNamesAndTellWhetherTheStatementWasUndone(t *testing.T) {
	t.Parallel()
	for _, known := range []struct {
		err    error
		state  postgres.State
		undone bool
	}{
		{nil, postgres.StateOK, false},
		{pgx.ErrNoRows, postgres.StateOK, false},
		{code("25006"), postgres.StateReadOnly, true},
		{code("57P03"), postgres.StateLoading, true},
		{code("57P01"), postgres.StateShutdown, false},
		{code("53300"), postgres.StateConnections, true},
		{code("53100"), postgres.StateDisk, true},
		{code("53200"), postgres.StateOOM, true},
		{code("40001"), postgres.StateConflict, true},
		{code("40P01"), postgres.StateConflict, true},
		{code("40003"), postgres.StateOther, false},
		{code("57014"), postgres.StateTimeout, true},
		{code("42501"), postgres.StateNoPerm, true},
		{code("28P01"), postgres.StateNoPerm, true},
		{code("42883"), postgres.StateNoSchema, true},
		{code("08006"), postgres.StateUnreachable, false},
		{code("XX000"), postgres.StateOther, true},
		{io.ErrUnexpectedEOF, postgres.StateUnreachable, false},
		{syscall.ECONNRESET, postgres.StateUnreachable, false},
		{context.DeadlineExceeded, postgres.StateTimeout, false},
		{context.Canceled, postgres.StateOther, false},
		{errors.New("something"), postgres.StateOther, false},
	} {
		require.Equal(t, known.state, postgres.StateOf(known.err), "%v", known.err)
		require.Equal(t, known.undone, postgres.Undone(known.err), "%v", known.err)
		if known.err != nil {
			require.Equal(t, known.state, postgres.StateOf(fmt.Errorf("wrapped: %w", known.err)))
		}
	}
}

func code(state string) error { return &pgconn.PgError{Code: state, Message: "message"} }

func TestWhatNeedsAHandIsNotTransient(t *testing.T) {
	t.Parallel()
	for _, state := range []postgres.State{postgres.StateOK, postgres.StateNoPerm, postgres.StateNoSchema, postgres.StateOther} {
		require.False(t, state.Transient(), state)
	}
	require.True(t, postgres.StateReadOnly.Transient())
	require.True(t, postgres.StateShutdown.Transient())
}
