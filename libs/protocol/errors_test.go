package protocol_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// codes returns the values of all Code constants of the package.
func codes(t *testing.T) []protocol.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var list []protocol.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || len(spec.Values) != 1 {
			return true
		}
		kind, named := spec.Type.(*ast.Ident)
		text, literal := spec.Values[0].(*ast.BasicLit)
		if named && literal && kind.Name == "Code" {
			value, err := strconv.Unquote(text.Value)
			require.NoError(t, err)
			list = append(list, protocol.Code(value))
		}
		return true
	})
	require.Greater(t, len(list), 20)
	return list
}

// TestEveryCodeHasItsLineInTheTable: the internal error is what is left when none fits.
func TestEveryCodeHasItsLineInTheTable(t *testing.T) {
	t.Parallel()
	internal := protocol.Fault{Status: http.StatusInternalServerError, Retriable: true}
	var seen []protocol.Code
	for _, code := range codes(t) {
		require.NotContains(t, seen, code, "it stands twice")
		seen = append(seen, code)
		require.Regexp(t, `^[A-Z]+(_[A-Z]+)*$`, code)
		if code != protocol.CodeInternal {
			require.NotEqual(t, internal, protocol.FaultOf(code), code)
			require.GreaterOrEqual(t, protocol.FaultOf(code).Status, 400)
		}
	}
	require.Contains(t, seen, protocol.CodeInternal)
	require.Equal(t, internal, protocol.FaultOf(protocol.CodeInternal))
	require.Equal(t, internal, protocol.FaultOf("NEVER_HEARD_OF"))
}

// TestOnlyFaultsThatPassAreRetriable: of the client's faults none but conflicts with what
// is under way and a rate limit; of 502 and 503 all but those that an operator has to end.
func TestOnlyFaultsThatPassAreRetriable(t *testing.T) {
	t.Parallel()
	passing := []protocol.Code{
		protocol.CodeActiveMigrationExists, protocol.CodeMetadataSyncInProgress, protocol.CodeStateVersionConflict,
		protocol.CodeRateLimitExceeded, protocol.CodeProvisioningFailed, protocol.CodeStateMutexUnavailable,
		protocol.CodeTerminating, protocol.CodeStoreUnavailable, protocol.CodeInternal, protocol.CodeIdempotencyKeyInUse,
		protocol.CodeAuditUnavailable, protocol.CodeOverloaded, protocol.CodeUpstreamUnavailable, protocol.CodeUpstreamFailed,
	}
	for _, code := range codes(t) {
		require.Equal(t, slices.Contains(passing, code), protocol.FaultOf(code).Retriable, code)
		require.Equal(t, slices.Contains(passing, code), protocol.Errorf(code, "x").Retriable(), code)
	}
}

// TestCodesOfTheContractKeepTheirStatus compares with the original service.
func TestCodesOfTheContractKeepTheirStatus(t *testing.T) {
	t.Parallel()
	known := codes(t)
	lines := shapes(t).ErrorCodes
	require.NotEmpty(t, lines)
	for _, line := range lines {
		require.Contains(t, known, protocol.Code(line.Code))
		require.Equal(t, line.Status, protocol.FaultOf(protocol.Code(line.Code)).Status, line.Code)
		require.Equal(t, line.StatusName, strings.ReplaceAll(strings.ToUpper(http.StatusText(line.Status)), " ", "_"))
	}
}

func TestErrorTellsCodeTextAndCause(t *testing.T) {
	t.Parallel()
	plain := protocol.Errorf(protocol.CodeGroupNotFound, "group %q", "a")
	require.EqualError(t, plain, `GROUP_NOT_FOUND: group "a"`)
	require.NoError(t, errors.Unwrap(plain))

	caused := plain.Because(io.ErrUnexpectedEOF)
	require.EqualError(t, caused, `GROUP_NOT_FOUND: group "a": unexpected EOF`)
	require.ErrorIs(t, caused, io.ErrUnexpectedEOF)
	require.NoError(t, plain.Cause, "the copy was given the cause")
	var refusal *protocol.Error
	require.ErrorAs(t, error(caused), &refusal)
	require.Equal(t, protocol.CodeGroupNotFound, refusal.Code)
}
