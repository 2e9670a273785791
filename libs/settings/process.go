package settings

import (
	"os"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Instance returns a name that is unique for every start of a process, also of two on one host:
// the host, or the service where the host has no name, and a ULID.
func Instance(service string) string {
	host, err := os.Hostname()
	if err != nil {
		host = service
	}
	return host + "-" + strings.ToLower(ulid.Make().String())
}

// Process returns what a process tells of itself (monitoring, Console: System): its build, and
// the settings that hold, a struct as config.Load returns it, with secrets masked.
func Process(service, instance string, started time.Time, hold any) protocol.SystemProcess {
	listed := config.List(hold)
	process := protocol.SystemProcess{
		Service: service, Instance: instance, Version: Build(), StartedAt: protocol.Timestamp{Time: started},
		Configuration: make([]protocol.SystemSetting, len(listed)),
	}
	for i, entry := range listed {
		process.Configuration[i] = protocol.SystemSetting(entry)
	}
	return process
}
