package app

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
)

// Validate reports every problem at once and names the keys.
func (c Config) Validate() error {
	return errors.Join(c.Web.validate(), c.API.validate(), c.Log.Validate())
}

func (w Web) validate() error {
	problems := []error{
		absolute("web.gateway", w.Gateway, "http://gateway:8080"),
		telemetry.Place{Key: metricsKey, Address: w.MetricsListen}.Validate(),
	}
	if _, _, err := net.SplitHostPort(w.Listen); err != nil {
		problems = append(problems, fmt.Errorf("web.listen is %q, it must be host:port", w.Listen))
	}
	if w.ShutdownTimeout <= 0 {
		problems = append(problems, fmt.Errorf("web.shutdown-timeout is %v, it must be above 0", w.ShutdownTimeout))
	}
	if w.MaxViewers < 1 {
		problems = append(problems, fmt.Errorf("web.max-viewers is %d, it must be at least 1", w.MaxViewers))
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
