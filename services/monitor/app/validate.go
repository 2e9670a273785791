package app

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
)

// minInterval keeps the looks at Redis from being a load of their own.
const minInterval = 100 * time.Millisecond

// Validate reports every problem at once and names the keys.
func (c Config) Validate() error {
	return errors.Join(c.Monitor.validate(), c.Observe.validate(), c.API.validate(), c.Store.validate(),
		c.Redis.Validate(), c.Telemetry.Validate(), c.Log.Validate())
}

func (m Monitor) validate() error {
	problems := []error{
		positive("monitor.shutdown-timeout", m.ShutdownTimeout),
		telemetry.Place{Key: metricsKey, Address: m.MetricsListen}.Validate(),
	}
	if _, _, err := net.SplitHostPort(m.Listen); err != nil {
		problems = append(problems, fmt.Errorf("monitor.listen is %q, it must be host:port", m.Listen))
	}
	if m.MaxFollowers < 1 {
		problems = append(problems, fmt.Errorf("monitor.max-followers is %d, it must be at least 1", m.MaxFollowers))
	}
	for _, text := range urlsOf(m.Coordinator) {
		problems = append(problems, absolute("monitor.coordinator", text, "http://coordinator:8081"))
	}
	return errors.Join(problems...)
}

func (o Observe) validate() error {
	problems := []error{positive("observe.round-timeout", o.RoundTimeout)}
	if o.Interval < minInterval {
		problems = append(problems, fmt.Errorf("observe.interval is %v, it must be at least %v", o.Interval, minInterval))
	}
	if o.StructureInterval < minInterval {
		problems = append(problems, fmt.Errorf("observe.structure-interval is %v, it must be at least %v", o.StructureInterval, minInterval))
	}
	if o.History < o.Interval {
		problems = append(problems, fmt.Errorf("observe.history is %v, it must be at least observe.interval (%v)", o.History, o.Interval))
	}
	for key, every := range map[string]int{"observe.memory-every": o.MemoryEvery, "observe.consumers-every": o.ConsumersEvery} {
		if every < 1 {
			problems = append(problems, fmt.Errorf("%s is %d, it must be at least 1", key, every))
		}
	}
	return errors.Join(problems...)
}

func (api API) validate() error {
	var problems []error
	if !strings.HasPrefix(api.BasePath, "/") {
		problems = append(problems, fmt.Errorf("api.base-path is %q, it must begin with a slash", api.BasePath))
	}
	if api.JWKSURL != "" {
		problems = append(problems, absolute("api.jwks-url", api.JWKSURL, "http://gateway:8080/.well-known/jwks.json"))
	}
	return errors.Join(problems...)
}

func (s Store) validate() error {
	if err := protocol.CheckStreamPrefix(s.KeyPrefix, ""); err != nil {
		return fmt.Errorf("store.key-prefix: %w", err)
	}
	return nil
}

// absolute checks the URL of another service, whose text is not repeated: it may hold a
// password.
func absolute(key, text, example string) error {
	parsed, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("%s is not a URL", key)
	case parsed.Scheme != "http" && parsed.Scheme != "https", parsed.Host == "":
		return fmt.Errorf("%s is not an absolute http or https URL, for example %s", key, example)
	case parsed.User != nil:
		return fmt.Errorf("%s holds a user or password, none is needed", key)
	}
	return nil
}

func positive(key string, d time.Duration) error {
	if d > 0 {
		return nil
	}
	return fmt.Errorf("%s is %v, it must be above 0", key, d)
}
