package app

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
)

// The values of Store.Type. StoreJDBC is another name of StorePostgres.
const (
	StoreMemory   = "memory"
	StoreRedis    = "redis"
	StorePostgres = "postgres"
	StoreJDBC     = "jdbc"
)

// Config holds the settings of a coordinator. The usage tags are their documentation;
// DefaultConfig runs on one machine with a Redis on its usual port.
type Config struct {
	Listen          string        `koanf:"listen" usage:"address of the HTTP API as host:port, an empty host is every interface"`
	MetricsListen   string        `koanf:"metrics-listen" usage:"address of the metrics as host:port, away from the API; empty has none"`
	ShutdownTimeout time.Duration `koanf:"shutdown-timeout" usage:"how long requests under way may take to finish when the process ends"`
	API             API           `koanf:"api"`
	Store           Store         `koanf:"store"`
	Redis           Redis         `koanf:"redis"`
	Coordination    Coordination  `koanf:"coordination"`
	Defaults        Defaults      `koanf:"defaults"`
	Limits          Limits        `koanf:"limits"`
	Provisioning    Provisioning  `koanf:"provisioning"`
	Telemetry       Telemetry     `koanf:"telemetry"`
	Log             Log           `koanf:"log"`
}

// API is the coordinator's part of api.*; the rest of that section is the gateway's.
type API struct {
	BasePath              string `koanf:"base-path" usage:"prefix of all paths but /healthz, /readyz and /version"`
	JWKSURL               string `koanf:"jwks-url" usage:"URL of the gateway's /.well-known/jwks.json, whose keys verify callers; without it changes are refused"`
	AuthenticateMemberAPI bool   `koanf:"authenticate-member-api" usage:"heartbeats and routing reads need a token of role MEMBER too, routing reads MEMBER or READ"`
	Dev                   bool   `koanf:"dev" usage:"accept changes without a gateway, from everybody, where api.jwks-url is not set; for development"`
}

// Store says where the metadata is kept.
type Store struct {
	Type      string     `koanf:"type" usage:"memory (lost when the process ends), redis or postgres (jdbc is the same)"`
	KeyPrefix string     `koanf:"key-prefix" usage:"prefix of the coordinator's own Redis keys"`
	Redis     RedisStore `koanf:"redis"`
	Postgres  Postgres   `koanf:"postgres"`
}

// Postgres says where the database of the metadata is; it is read with store.type postgres.
type Postgres = postgres.Settings

// inPostgres tells whether the metadata is kept in PostgreSQL.
func (s Store) inPostgres() bool { return s.Type == StorePostgres || s.Type == StoreJDBC }

// RedisStore is what holds for the metadata in Redis only.
type RedisStore struct {
	WaitReplicas string `koanf:"wait-replicas" usage:"auto answers a structural change only after a replica of Redis has it, where there are replicas; off lets a failover lose what was answered"`
}

// Redis says where Redis is.
type Redis = settings.Redis

// Defaults are what a request may leave out.
type Defaults struct {
	InitialShardCount int `koanf:"initial-shard-count" usage:"shards of a stream that is created without a count"`
}

// Limits bound what one stream or group may cost.
type Limits struct {
	MaxShards  int `koanf:"max-shards" usage:"most shards of a stream"`
	MaxMembers int `koanf:"max-members" usage:"most members of a group, those that have lately gone included"`
}

// Provisioning says whether the coordinator makes shard keys and consumer groups.
type Provisioning struct {
	Enabled bool `koanf:"enabled" usage:"make shard keys and Redis consumer groups; off creates groups without touching Redis streams"`
}

// Telemetry says whether and where traces go.
type Telemetry = settings.Telemetry

// Log says how the process logs.
type Log = settings.Log

// DefaultConfig returns the settings that hold where nothing else is said.
func DefaultConfig() Config {
	return Config{
		Listen:          ":8081",
		MetricsListen:   ":9081",
		ShutdownTimeout: 10 * time.Second,
		API:             API{BasePath: protocol.BasePath},
		Store:           defaultStore(),
		Redis:           Redis{Host: "127.0.0.1", Port: 6379},
		Coordination:    defaultCoordination(),
		Defaults:        Defaults{InitialShardCount: protocol.DefaultInitialShards},
		Limits:          Limits{MaxShards: protocol.DefaultMaxShards, MaxMembers: 10_000},
		Provisioning:    Provisioning{Enabled: true},
		Telemetry:       settings.DefaultTelemetry(),
		Log:             Log{Level: "info", Format: "text"},
	}
}

func defaultStore() Store {
	return Store{
		Type: StoreRedis, KeyPrefix: protocol.DefaultKeyPrefix,
		Redis: RedisStore{WaitReplicas: string(redisstore.WaitAuto)}, Postgres: postgres.DefaultSettings(),
	}
}

// OtherSections are the sections of a file that other services of the suite read. The
// coordinator ignores what it does not know in them.
func OtherSections() []string {
	return []string{"api", "audit", "observe", "gateway", "monitor", "web"}
}

// usesRedis tells whether Redis counts for health (storage design, Failure).
func (c Config) usesRedis() bool { return c.Store.Type == StoreRedis || c.Provisioning.Enabled }
