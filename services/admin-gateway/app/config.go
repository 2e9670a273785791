package app

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

// The values of api.rate-limit.store.
const (
	StoreLocal = "local"
	StoreRedis = "redis"
)

// The values of audit.sink.
const (
	SinkLog      = "log"
	SinkRedis    = "redis"
	SinkPostgres = "postgres"
)

// The values of audit.on-failure.
const (
	OnFailureRefuse = "refuse"
	OnFailureBuffer = "buffer"
)

// Config holds the settings of a gateway. The usage tags are their documentation. The
// defaults are for development on one machine: without api.dev a gateway starts only with
// users, hashed passwords and a secret.
type Config struct {
	Gateway   Gateway            `koanf:"gateway"`
	API       API                `koanf:"api"`
	Audit     Audit              `koanf:"audit"`
	Store     Store              `koanf:"store"`
	Redis     settings.Redis     `koanf:"redis"`
	Telemetry settings.Telemetry `koanf:"telemetry"`
	Log       settings.Log       `koanf:"log"`
}

// Gateway says where the gateway listens, who is behind it, and how much it takes.
type Gateway struct {
	Listen                   string        `koanf:"listen" usage:"address of the API as host:port, an empty host is every interface"`
	MetricsListen            string        `koanf:"metrics-listen" usage:"address of the metrics as host:port, away from the API; empty has none"`
	ShutdownTimeout          time.Duration `koanf:"shutdown-timeout" usage:"how long requests under way may take to finish when the process ends"`
	Coordinators             []string      `koanf:"coordinators" usage:"URLs of the coordinators"`
	Monitor                  string        `koanf:"monitor" usage:"URL of the monitor, empty has none"`
	Web                      string        `koanf:"web" usage:"URL of the web console, empty has none"`
	TrustedProxies           []string      `koanf:"trusted-proxies" usage:"addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-For is believed"`
	MaxConnections           int           `koanf:"max-connections" usage:"most connections at once"`
	MaxConnectionsPerAddress int           `koanf:"max-connections-per-address" usage:"most connections of one address at once, trusted proxies excepted"`
	MaxInFlight              int           `koanf:"max-in-flight" usage:"most requests at once, heartbeats have as many of their own"`
}

// API is the gateway's part of api.*.
type API struct {
	BasePath              string        `koanf:"base-path" usage:"prefix of the API's paths"`
	Dev                   bool          `koanf:"dev" usage:"development: plain and default passwords are taken, the token secret may be missing"`
	TokenSecret           config.Secret `koanf:"token-secret" usage:"secret of the keys that sign tokens and sessions, at least 32 bytes"`
	PreviousTokenSecret   config.Secret `koanf:"previous-token-secret" usage:"secret of before a rotation; tokens signed with it are still taken"`
	TokenKeyFile          string        `koanf:"token-key-file" usage:"PEM file with the Ed25519 key that signs tokens, empty derives it from the secret"`
	TokenTTL              time.Duration `koanf:"token-ttl" usage:"how long the token of a login is good"`
	AdminUsername         string        `koanf:"admin-username" usage:"name of a user with all roles, who exists when admin-password is set, or in development when there are no users"`
	AdminPassword         config.Secret `koanf:"admin-password" usage:"password of admin-username, development only"`
	Users                 []User        `koanf:"users" usage:"users with their roles"`
	AuthenticateMemberAPI bool          `koanf:"authenticate-member-api" usage:"heartbeats and routing need a credential with the role MEMBER"`
	LegacyRetry           bool          `koanf:"legacy-retry" usage:"old clients get 200 RETRY in place of 429 and 5xx for heartbeats, since they give up on those"`
	RateLimit             RateLimit     `koanf:"rate-limit"`
	SecureCookies         bool          `koanf:"secure-cookies" usage:"cookies are for https only; switch it off where there is no TLS in front"`
}

// User is one who may log in.
type User struct {
	Username     string        `koanf:"username" usage:"name"`
	PasswordHash config.Secret `koanf:"password-hash" usage:"argon2id hash, as rscctl hash-password makes it"`
	Password     config.Secret `koanf:"password" usage:"plain password, development only"`
	Roles        []string      `koanf:"roles" usage:"READ, WRITE, MEMBER, ADMIN (all) or MONITOR (READ)"`
	Scopes       []string      `koanf:"scopes" usage:"stream prefixes that the roles hold for, orders* for all that begin so; none is every stream"`
}

// RateLimit bounds the mutations of one user on one stream or group.
type RateLimit struct {
	Enabled     bool          `koanf:"enabled" usage:"bound mutations"`
	Window      time.Duration `koanf:"window" usage:"length of a window"`
	MaxRequests int           `koanf:"max-requests" usage:"most mutations of a user on a stream or group in a window"`
	Store       string        `koanf:"store" usage:"local counts in this process, redis counts for all gateways together; idempotency keys and logouts are kept in the same place"`
}

// Audit says where the audit goes.
type Audit struct {
	Sink       string            `koanf:"sink" usage:"log (one JSON line a record on standard output, cannot be queried), redis, or postgres, which keeps all records"`
	OnFailure  string            `koanf:"on-failure" usage:"refuse lets no mutation through that cannot be recorded, buffer keeps records in memory until the sink is back"`
	Buffer     int               `koanf:"buffer" usage:"most records in memory; beyond them mutations are refused"`
	MaxRecords int               `koanf:"max-records" usage:"about how many records Redis keeps, of all groups and of each one"`
	Postgres   postgres.Settings `koanf:"postgres"`
}

// Store is the gateway's part of store.*.
type Store struct {
	KeyPrefix string `koanf:"key-prefix" usage:"prefix of the suite's own Redis keys"`
}

// DefaultConfig returns the settings that hold where nothing else is said.
func DefaultConfig() Config {
	return Config{
		Gateway: Gateway{
			Listen: ":8080", MetricsListen: ":9080", ShutdownTimeout: 10 * time.Second, Coordinators: []string{"http://127.0.0.1:8081"},
			MaxConnections: 4096, MaxConnectionsPerAddress: 256, MaxInFlight: 1024,
		},
		API: API{
			BasePath: protocol.BasePath, TokenTTL: 7 * 24 * time.Hour, AdminUsername: "admin", LegacyRetry: true, SecureCookies: true,
			RateLimit: RateLimit{Enabled: true, Window: time.Minute, MaxRequests: 60, Store: StoreLocal},
		},
		Audit:     Audit{Sink: SinkLog, OnFailure: OnFailureRefuse, Buffer: 1000, MaxRecords: 100_000, Postgres: postgres.DefaultSettings()},
		Store:     Store{KeyPrefix: protocol.DefaultKeyPrefix},
		Redis:     settings.Redis{Host: "127.0.0.1", Port: 6379},
		Telemetry: settings.DefaultTelemetry(),
		Log:       settings.Log{Level: "info", Format: "text"},
	}
}

// OtherSections are the sections and keys of a file that other services of the suite read.
func OtherSections() []string {
	return []string{
		"api", "audit", "store", "coordination", "defaults", "limits", "provisioning", "observe", "monitor", "web",
		"listen", "metrics-listen", "shutdown-timeout",
	}
}

// usesRedis tells whether the gateway needs a Redis of its own.
func (c Config) usesRedis() bool {
	return c.Audit.Sink == SinkRedis || c.API.RateLimit.Store == StoreRedis
}
