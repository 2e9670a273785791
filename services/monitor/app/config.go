package app

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

// Config holds the settings of a monitor. The usage tags are their documentation;
// DefaultConfig runs on one machine with a Redis and a coordinator on their usual ports.
type Config struct {
	Monitor   Monitor            `koanf:"monitor"`
	Observe   Observe            `koanf:"observe"`
	API       API                `koanf:"api"`
	Store     Store              `koanf:"store"`
	Redis     settings.Redis     `koanf:"redis"`
	Telemetry settings.Telemetry `koanf:"telemetry"`
	Log       settings.Log       `koanf:"log"`
}

// Monitor says where the monitor listens, and whom it asks about groups.
type Monitor struct {
	Listen          string        `koanf:"listen" usage:"address of the HTTP API as host:port, an empty host is every interface"`
	ShutdownTimeout time.Duration `koanf:"shutdown-timeout" usage:"how long requests under way may take to finish when the process ends"`
	Coordinator     string        `koanf:"coordinator" usage:"URL of the coordinator, which tells of groups and members, or several after commas, of which one that answers is asked"`
	MaxFollowers    int           `koanf:"max-followers" usage:"most streams of events at once"`
	MetricsListen   string        `koanf:"metrics-listen" usage:"address of the metrics port as host:port; empty is none"`
	MemberSeries    bool          `koanf:"member-series" usage:"metrics of every single member, not only of groups and shards"`
}

// Observe says how often Redis is looked at, however many look at the monitor.
type Observe struct {
	Interval          time.Duration `koanf:"interval" usage:"time from one look at Redis to the next"`
	StructureInterval time.Duration `koanf:"structure-interval" usage:"time from one question to the coordinator what has become of groups to the next, between looks at Redis; longer where its answers take long"`
	RoundTimeout      time.Duration `koanf:"round-timeout" usage:"how long one look may take; what has not answered by then is shown as unreachable"`
	MemoryEvery       int           `koanf:"memory-every" usage:"every how many looks the memory of shards is sampled"`
	ConsumersEvery    int           `koanf:"consumers-every" usage:"every how many looks the consumers of Redis are listed"`
	History           time.Duration `koanf:"history" usage:"how long samples are kept in memory"`
}

// API is the monitor's part of api.*; the rest of that section is the gateway's.
type API struct {
	BasePath string `koanf:"base-path" usage:"prefix of all paths but /healthz, /readyz and /version"`
	JWKSURL  string `koanf:"jwks-url" usage:"URL of the gateway's /.well-known/jwks.json, whose keys verify callers; without it everybody is refused"`
	Dev      bool   `koanf:"dev" usage:"answer everybody where api.jwks-url is not set; for development"`
}

// Store is the monitor's part of store.*.
type Store struct {
	KeyPrefix string `koanf:"key-prefix" usage:"prefix of the suite's own Redis keys"`
}

// DefaultConfig returns the settings that hold where nothing else is said.
func DefaultConfig() Config {
	return Config{
		Monitor: Monitor{
			Listen: ":8082", ShutdownTimeout: 10 * time.Second, Coordinator: "http://127.0.0.1:8081", MaxFollowers: 256,
			MetricsListen: ":9082", MemberSeries: true,
		},
		Observe: Observe{
			Interval: 5 * time.Second, StructureInterval: time.Second, RoundTimeout: 4 * time.Second, MemoryEvery: 10, ConsumersEvery: 10, History: 15 * time.Minute,
		},
		API:       API{BasePath: protocol.BasePath},
		Store:     Store{KeyPrefix: protocol.DefaultKeyPrefix},
		Redis:     settings.Redis{Host: "127.0.0.1", Port: 6379},
		Telemetry: settings.DefaultTelemetry(),
		Log:       settings.Log{Level: "info", Format: "text"},
	}
}

// OtherSections are the sections and keys of a file that other services of the suite read.
func OtherSections() []string {
	return []string{
		"api", "audit", "store", "coordination", "defaults", "limits", "provisioning", "gateway", "web",
		"listen", "shutdown-timeout", "metrics-listen",
	}
}
