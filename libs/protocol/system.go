package protocol

// The services of the suite, as SystemProcess and SystemPart name them.
const (
	ServiceGateway     = "gateway"
	ServiceCoordinator = "coordinator"
	ServiceMonitor     = "monitor"
	ServiceConsole     = "console"
)

// SystemResponse tells what runs and with which settings (monitoring, Console: System). Like
// all that is about every stream it is kept from users who are bound to some (gateway, Roles).
type SystemResponse struct {
	// Parts are the gateway that answers, and every part that its settings name: the
	// coordinators, the monitor and the console, in this order.
	Parts []SystemPart `json:"parts"`
}

// SystemPart is one part of the suite, as the gateway sees it. One of Process and Problem is
// there.
type SystemPart struct {
	// Service is one of the Service constants.
	Service string `json:"service"`
	// Address is the URL by which the gateway asks the part; null for the gateway itself. Where
	// a load balancer is behind it, Process is the one that it has chosen.
	Address *string `json:"address"`
	// Problem says for people why nothing is known of the part; null where something is.
	Problem *string `json:"problem"`
	// Process is what the part tells of itself; null where it does not.
	Process *SystemProcess `json:"process"`
}

// SystemProcess is what one process of the suite tells of itself.
type SystemProcess struct {
	// Service is one of the Service constants.
	Service string `json:"service"`
	// Instance names this start of the process: the host and a ULID.
	Instance  string          `json:"instance"`
	Version   VersionResponse `json:"version"`
	StartedAt Timestamp       `json:"startedAt"`
	// Configuration are all settings that hold, in the order of the configuration reference.
	Configuration []SystemSetting `json:"configuration"`
}

// SystemSetting is one setting that holds, whatever place it came from.
type SystemSetting struct {
	// Key is the setting's key, for example redis.host.
	Key string `json:"key"`
	// Value is written as in the environment; empty where nothing is set.
	Value string `json:"value"`
	// Masked tells that Value, or a part of it, is not shown: a secret that is set.
	Masked bool `json:"masked"`
}
