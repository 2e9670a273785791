package settings

import (
	"runtime"
	"runtime/debug"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Build says which build this is, as the Go toolchain recorded it.
func Build() protocol.VersionResponse {
	build := protocol.VersionResponse{Version: "(devel)", Commit: "unknown", GoVersion: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build
	}
	if info.Main.Version != "" {
		build.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			build.Commit = setting.Value
		}
	}
	return build
}
