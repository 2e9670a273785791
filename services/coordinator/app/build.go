package app

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

// Build says which build this is, as the Go toolchain recorded it.
func Build() protocol.VersionResponse { return settings.Build() }
