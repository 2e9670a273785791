package settings

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestWhatTheLinkerWasToldComesBeforeWhatWasRecorded(t *testing.T) {
	t.Parallel()
	recorded := protocol.VersionResponse{Version: "(devel)", Commit: "unknown", GoVersion: runtime.Version()}
	for linked, want := range map[string][2]string{
		"":              {"(devel)", "unknown"},
		"@":             {"(devel)", "unknown"},
		"1.2.0":         {"1.2.0", "unknown"},
		"1.2.0@4c0ffee": {"1.2.0", "4c0ffee"},
		"@4c0ffee":      {"(devel)", "4c0ffee"},
	} {
		got := withLinked(recorded, linked)
		require.Equal(t, want, [2]string{got.Version, got.Commit}, linked)
		require.Equal(t, runtime.Version(), got.GoVersion)
	}
}
