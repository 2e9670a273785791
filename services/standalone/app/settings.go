package app

import (
	"errors"
	"reflect"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
	monitor "github.com/redis-stream-coordinator/rsc/services/monitor/app"
	console "github.com/redis-stream-coordinator/rsc/web/app"
)

// Settings are those of the parts, with other defaults: everything listens on the loopback
// interface, the gateway is in development mode, and as long as nothing is said about Redis,
// the process brings its own.
type Settings struct {
	Coordinator coordinator.Config
	Gateway     gateway.Config
	Monitor     monitor.Config
	Console     console.Config
}

// LoadSettings reads the settings of all parts from one file and environment. The error
// lists every problem.
func LoadSettings(file string, environ []string) (Settings, error) {
	defaults := DefaultSettings()
	inner, err := config.Load(inner(defaults.Coordinator), config.Source{File: file, Environ: environ, Ignore: coordinator.OtherSections()})
	outer, err2 := config.Load(outer(defaults.Gateway), config.Source{File: file, Environ: environ, Ignore: gateway.OtherSections()})
	watcher, err3 := config.Load(watcher(defaults.Monitor), config.Source{File: file, Environ: environ, Ignore: monitor.OtherSections()})
	pages, err4 := config.Load(defaults.Console, config.Source{File: file, Environ: environ, Ignore: console.OtherSections()})
	return Settings{
		Coordinator: coordinator.Config(inner), Gateway: gateway.Config(outer), Monitor: monitor.Config(watcher), Console: pages,
	}, errors.Join(err, err2, err3, err4)
}

// inner, outer and watcher are settings in which nothing need be said about Redis.
type (
	inner   coordinator.Config
	outer   gateway.Config
	watcher monitor.Config
)

// Validate implements config.Validator.
func (i inner) Validate() error {
	i.Redis = usual(i.Redis)
	return coordinator.Config(i).Validate()
}

// Validate implements config.Validator.
func (o outer) Validate() error {
	o.Redis = usual(o.Redis)
	return gateway.Config(o).Validate()
}

// Validate implements config.Validator.
func (w watcher) Validate() error {
	w.Redis = usual(w.Redis)
	return monitor.Config(w).Validate()
}

// DefaultSettings returns the settings that hold where nothing else is said.
func DefaultSettings() Settings {
	s := Settings{
		Coordinator: coordinator.DefaultConfig(), Gateway: gateway.DefaultConfig(), Monitor: monitor.DefaultConfig(), Console: console.DefaultConfig(),
	}
	s.Coordinator.Listen = "127.0.0.1:0"
	s.Monitor.Monitor.Listen, s.Console.Web.Listen = "127.0.0.1:0", "127.0.0.1:0"
	s.Monitor.Observe.Interval = time.Second // one small Redis does not mind, and people look at it
	s.Gateway.Gateway.Listen = "127.0.0.1:8080"
	// All parts have one metrics port; see Options.
	s.Coordinator.MetricsListen, s.Gateway.Gateway.MetricsListen = "", ""
	s.Monitor.Monitor.MetricsListen, s.Console.Web.MetricsListen = "", ""
	s.Gateway.API.Dev = true
	s.Gateway.API.SecureCookies = false
	s.Gateway.Audit.Sink = gateway.SinkRedis
	s.Coordinator.Redis, s.Gateway.Redis, s.Monitor.Redis = settings.Redis{}, settings.Redis{}, settings.Redis{}
	// The screen belongs to the demo.
	s.Coordinator.Log.Level, s.Gateway.Log.Level, s.Monitor.Log.Level, s.Console.Log.Level = "warn", "warn", "warn", "warn"
	return s
}

// Validate reports every problem of all parts.
func (s Settings) Validate() error {
	s = s.resolved()
	return errors.Join(s.Coordinator.Validate(), s.Gateway.Validate(), s.Monitor.Validate(), s.Console.Validate())
}

// WithRedis returns the settings with the Redis of a URL; user, password and TLS stay where
// the URL has none.
func (s Settings) WithRedis(url string) Settings {
	secret := config.Secret(url)
	s.Coordinator.Redis.URL, s.Gateway.Redis.URL, s.Monitor.Redis.URL = secret, secret, secret
	return s
}

// bringsRedis tells whether nothing was said about Redis.
func (s Settings) bringsRedis() bool {
	return reflect.DeepEqual(s.Coordinator.Redis, settings.Redis{})
}

// resolved returns the settings with the usual host and port of Redis where none was given.
func (s Settings) resolved() Settings {
	s.Coordinator.Redis = usual(s.Coordinator.Redis)
	s.Gateway.Redis, s.Monitor.Redis = s.Coordinator.Redis, s.Coordinator.Redis
	return s
}

func usual(redis settings.Redis) settings.Redis {
	known := coordinator.DefaultConfig().Redis
	if redis.URL == "" && len(redis.Addresses) == 0 {
		if redis.Host == "" {
			redis.Host = known.Host
		}
		if redis.Port == 0 {
			redis.Port = known.Port
		}
	}
	return redis
}
