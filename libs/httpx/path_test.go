package httpx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Wire contract, Rules.
func TestCheckPathRefusesWhatTwoReadersTakeDifferently(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "*", "/a", "/a/b:c", "/a%3Ab", "/%61", "/a;b", "/...", "/a../b"} {
		require.NoError(t, httpx.CheckPath(path), path)
	}
	for _, path := range []string{
		"", "a", "//", "/a/", "/a//b", "/.", "/..", "/a/../b", "/%2e", "/%2E%2e", "/a%2fb", "/a%2Fb", "/a%252Fb", "/a%5cb", `/a\b`,
		"/a%00", "/%", "/%2", "/%zz", "/100%25", "**",
	} {
		var refusal *protocol.Error
		require.ErrorAs(t, httpx.CheckPath(path), &refusal, path)
		require.Equal(t, protocol.CodeInvalidRequest, refusal.Code)
	}
}
