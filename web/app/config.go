package app

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

// Config holds the settings of a console. The usage tags are their documentation; DefaultConfig
// runs beside a gateway on its usual port.
type Config struct {
	Web Web          `koanf:"web"`
	API API          `koanf:"api"`
	Log settings.Log `koanf:"log"`
}

// Web says where the console listens, and which gateway it is behind.
type Web struct {
	Listen          string        `koanf:"listen" usage:"address of the pages as host:port, an empty host is every interface; browsers reach them through the gateway only"`
	Gateway         string        `koanf:"gateway" usage:"URL of the gateway, whose API the console asks in the name of who looks at it"`
	ShutdownTimeout time.Duration `koanf:"shutdown-timeout" usage:"how long requests under way may take to finish when the process ends"`
	MetricsListen   string        `koanf:"metrics-listen" usage:"address of the metrics port as host:port; empty is none"`
	MaxViewers      int           `koanf:"max-viewers" usage:"most pages at once that are kept up to date"`
}

// API is the console's part of api.*; the rest of that section is the gateway's.
type API struct {
	BasePath string `koanf:"base-path" usage:"prefix of the paths of the gateway's API"`
	JWKSURL  string `koanf:"jwks-url" usage:"URL of the gateway's /.well-known/jwks.json, whose keys verify callers; empty takes that of web.gateway"`
}

// metricsKey is the key of the metrics port's address.
const metricsKey = "web.metrics-listen"

// DefaultConfig returns the settings that hold where nothing else is said.
func DefaultConfig() Config {
	return Config{
		Web: Web{
			Listen: ":8083", Gateway: "http://127.0.0.1:8080", ShutdownTimeout: 10 * time.Second, MetricsListen: ":9083", MaxViewers: 256,
		},
		API: API{BasePath: protocol.BasePath},
		Log: settings.Log{Level: "info", Format: "text"},
	}
}

// OtherSections are the sections and keys of a file that other services of the suite read.
func OtherSections() []string {
	return []string{
		"api", "audit", "store", "redis", "coordination", "defaults", "limits", "provisioning", "gateway", "monitor", "observe", "telemetry",
		"listen", "shutdown-timeout", "metrics-listen",
	}
}
