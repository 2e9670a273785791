package app

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/address"
)

// DefaultPassword is the password of the original service's examples, which everybody knows.
// In development it is that of api.admin-username where the settings name no users.
const DefaultPassword = "password"

// defaultUser is the user of those examples.
const defaultUser = "admin"

// Validate reports every problem at once and names the keys. Outside of development it
// refuses what is weak: plain or default passwords, a missing or short secret, no users
// (gateway, Authentication).
func (c Config) Validate() error {
	problems := []error{c.Gateway.validate(), c.API.validate(), c.Audit.validate(), c.Telemetry.Validate(), c.Log.Validate()}
	if err := protocol.CheckStreamPrefix(c.Store.KeyPrefix, ""); err != nil {
		problems = append(problems, fmt.Errorf("store.key-prefix: %w", err))
	}
	if c.usesRedis() {
		problems = append(problems, c.Redis.Validate())
	}
	if weak := c.API.weaknesses(); !c.API.Dev && len(weak) > 0 {
		problems = append(append(problems, weak...), errors.New("for development, --dev takes all of this"))
	}
	return errors.Join(problems...)
}

func (g Gateway) validate() error {
	problems := []error{
		positive("gateway.shutdown-timeout", g.ShutdownTimeout), atLeastOne("gateway.max-connections", g.MaxConnections),
		atLeastOne("gateway.max-connections-per-address", g.MaxConnectionsPerAddress), atLeastOne("gateway.max-in-flight", g.MaxInFlight),
	}
	if _, _, err := net.SplitHostPort(g.Listen); err != nil {
		problems = append(problems, fmt.Errorf("gateway.listen is %q, it must be host:port", g.Listen))
	}
	problems = append(problems, g.metrics().Validate())
	if len(g.Coordinators) == 0 {
		problems = append(problems, errors.New("gateway.coordinators is empty, it must name at least one URL"))
	}
	for _, given := range g.Coordinators {
		problems = append(problems, checkURL("gateway.coordinators", given))
	}
	if g.Monitor != "" {
		problems = append(problems, checkURL("gateway.monitor", g.Monitor))
	}
	if g.Web != "" {
		problems = append(problems, checkURL("gateway.web", g.Web))
	}
	if _, err := address.New(g.TrustedProxies); err != nil {
		problems = append(problems, fmt.Errorf("gateway.trusted-proxies: %w", err))
	}
	return errors.Join(problems...)
}

// checkURL takes a URL of host and port only. It never repeats one, which may hold a
// password.
func checkURL(key, given string) error {
	u, err := url.Parse(given)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%s: entries must be like http://host:port", key)
	case u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%s: entries must have nothing but scheme, host and port", key)
	}
	return nil
}

func (a API) validate() error {
	problems := []error{positive("api.token-ttl", a.TokenTTL)}
	if !strings.HasPrefix(a.BasePath, "/") {
		problems = append(problems, fmt.Errorf("api.base-path is %q, it must begin with a slash", a.BasePath))
	}
	if a.TokenTTL > 0 && a.TokenTTL < time.Minute {
		problems = append(problems, fmt.Errorf("api.token-ttl is %v, it must be at least 1m", a.TokenTTL))
	}
	if a.TokenKeyFile != "" && a.TokenSecret == "" {
		problems = append(problems, errors.New("api.token-secret is empty; sessions need one beside api.token-key-file"))
	}
	return errors.Join(append(problems, a.validateUsers(), a.RateLimit.validate())...)
}

func (l RateLimit) validate() error {
	var problems []error
	if l.Store != StoreLocal && l.Store != StoreRedis {
		problems = append(problems, fmt.Errorf("api.rate-limit.store is %q, it must be %s or %s", l.Store, StoreLocal, StoreRedis))
	}
	if l.Enabled {
		problems = append(problems, positive("api.rate-limit.window", l.Window), atLeastOne("api.rate-limit.max-requests", l.MaxRequests))
	}
	return errors.Join(problems...)
}

func (a Audit) validate() error {
	problems := []error{atLeastOne("audit.buffer", a.Buffer), atLeastOne("audit.max-records", a.MaxRecords)}
	switch a.Sink {
	case SinkLog, SinkRedis:
	case SinkPostgres:
		problems = append(problems, a.Postgres.Validate("audit.postgres"))
	default:
		problems = append(problems, fmt.Errorf("audit.sink is %q, it must be %s, %s or %s", a.Sink, SinkLog, SinkRedis, SinkPostgres))
	}
	if a.OnFailure != OnFailureRefuse && a.OnFailure != OnFailureBuffer {
		problems = append(problems, fmt.Errorf("audit.on-failure is %q, it must be %s or %s", a.OnFailure, OnFailureRefuse, OnFailureBuffer))
	}
	return errors.Join(problems...)
}

// weaknesses lists what production refuses and development takes.
func (a API) weaknesses() []error {
	var found []error
	if len(a.TokenSecret) < auth.MinSecret {
		found = append(found, fmt.Errorf("api.token-secret has %d bytes, it must have at least %d", len(a.TokenSecret), auth.MinSecret))
	}
	if a.PreviousTokenSecret != "" && len(a.PreviousTokenSecret) < auth.MinSecret {
		found = append(found, fmt.Errorf("api.previous-token-secret has %d bytes, it must have at least %d",
			len(a.PreviousTokenSecret), auth.MinSecret))
	}
	if a.AdminPassword != "" {
		found = append(found, errors.New("api.admin-password is a plain password; put the user under api.users with a password-hash"))
	}
	for i, user := range a.Users {
		switch {
		case user.Password == "":
		case user.Username == defaultUser && user.Password == DefaultPassword:
			found = append(found, fmt.Errorf("api.users[%d] has the password that everybody knows; use password-hash (rscctl hash-password)", i))
		default:
			found = append(found, fmt.Errorf("api.users[%d] has a plain password; use password-hash (rscctl hash-password)", i))
		}
	}
	if len(a.Users) == 0 {
		found = append(found, errors.New("api.users is empty; nobody could log in"))
	}
	return found
}

// relaxed lists what development mode lets be, for the operator to read.
func (a API) relaxed() []string {
	var list []string
	switch {
	case a.TokenSecret == "":
		list = append(list, "the token secret is made up: tokens end with this process, and no other gateway takes them")
	case len(a.TokenSecret) < auth.MinSecret:
		list = append(list, "the token secret is short enough to be guessed")
	}
	if admin, is := a.admin(); is {
		list = append(list, fmt.Sprintf("user %q has all roles and a password that is plain or known to everybody", admin.Username))
	}
	for _, user := range a.Users {
		if user.Password != "" {
			list = append(list, fmt.Sprintf("user %q has a plain password", user.Username))
		}
	}
	return list
}

func positive(key string, d time.Duration) error {
	if d > 0 {
		return nil
	}
	return fmt.Errorf("%s is %v, it must be above 0", key, d)
}

func atLeastOne(key string, n int) error {
	if n >= 1 {
		return nil
	}
	return fmt.Errorf("%s is %d, it must be at least 1", key, n)
}
