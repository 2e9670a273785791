package settings

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// version is set by the linker where the toolchain sees no repository, as in an image:
//
//	go build -ldflags "-X github.com/redis-stream-coordinator/rsc/libs/settings.version=1.2.0@4c0ffee"
//
// Behind the @ is the commit; either part may be missing.
var version string

// Build says which build this is: what the linker was told, else what the Go toolchain has
// recorded.
func Build() protocol.VersionResponse { return withLinked(recorded(), version) }

// withLinked returns the build with what the linker was told, as version@commit.
func withLinked(build protocol.VersionResponse, linked string) protocol.VersionResponse {
	number, commit, _ := strings.Cut(linked, "@")
	if number != "" {
		build.Version = number
	}
	if commit != "" {
		build.Commit = commit
	}
	return build
}

func recorded() protocol.VersionResponse {
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
