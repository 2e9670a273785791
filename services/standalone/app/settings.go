package app

import (
	"reflect"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// Settings are those of the coordinator, with other defaults: it listens on the loopback
// interface, takes changes from everybody who is there, and as long as nothing is said about
// Redis, the process brings its own.
type Settings coordinator.Config

// DefaultSettings returns the settings that hold where nothing else is said.
func DefaultSettings() Settings {
	settings := Settings(coordinator.DefaultConfig())
	settings.Listen = "127.0.0.1:8080"
	settings.API.Dev = true
	settings.Redis = coordinator.Redis{}
	settings.Log.Level = "warn" // the screen belongs to the demo
	return settings
}

// Validate implements config.Validator.
func (s Settings) Validate() error { return s.coordinator().Validate() }

// WithRedis returns the settings with the Redis of a URL; user, password and TLS stay where
// the URL has none.
func (s Settings) WithRedis(url string) Settings {
	s.Redis.URL = config.Secret(url)
	return s
}

// bringsRedis tells whether nothing was said about Redis.
func (s Settings) bringsRedis() bool { return reflect.DeepEqual(s.Redis, coordinator.Redis{}) }

// coordinator returns the settings with the usual host and port where none was given.
func (s Settings) coordinator() coordinator.Config {
	usual := coordinator.DefaultConfig().Redis
	if s.Redis.URL == "" && len(s.Redis.Addresses) == 0 {
		if s.Redis.Host == "" {
			s.Redis.Host = usual.Host
		}
		if s.Redis.Port == 0 {
			s.Redis.Port = usual.Port
		}
	}
	return coordinator.Config(s)
}
