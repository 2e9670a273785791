package app_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

const ordersCreate = "/coord/v1/streams/orders"

// keyring makes the keys of a gateway of secrets, the first of which signs.
func keyring(t *testing.T, secrets ...string) *auth.Keyring {
	t.Helper()
	var keys []auth.Key
	for _, secret := range secrets {
		key, err := auth.KeyFromSecret(secret)
		require.NoError(t, err)
		keys = append(keys, key)
	}
	ring, err := auth.NewKeyring(keys[0], keys[1:]...)
	require.NoError(t, err)
	return ring
}

func sign(t *testing.T, ring *auth.Keyring) string {
	t.Helper()
	now := time.Now()
	token, err := ring.Sign(auth.Claims{
		ID: "j", Subject: "ops", Audience: []string{auth.AudienceCoordinator}, Roles: auth.Read | auth.Write,
		IssuedAt: now, ExpiresAt: now.Add(time.Minute),
	})
	require.NoError(t, err)
	return token
}

// inMemory returns settings that need no Redis and no driver.
func inMemory() app.Config {
	cfg := app.DefaultConfig()
	cfg.Store.Type, cfg.Provisioning.Enabled = app.StoreMemory, false
	return cfg
}

// repair sends a change that may be sent again, with a token.
func (c *coordinator) repair(token string) int {
	c.t.Helper()
	c.token = token
	status, _ := c.call("POST", "/coord/v1/admin/repair-index", protocol.RepairIndexRequest{RequestedBy: "t", Reason: "t"}, nil)
	return status
}

// Gateway, Authentication: other services verify with the JWKS and hold no secret.
func TestKeysComeFromAGatewayThatStartsLaterAndRotates(t *testing.T) {
	t.Parallel()
	var published atomic.Pointer[auth.Keyring]
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys := published.Load()
		if keys == nil {
			panic(http.ErrAbortHandler) // nobody answers yet
		}
		if r.URL.Path == "/.well-known/jwks.json" {
			_, _ = w.Write(keys.JWKS())
		}
	}))
	t.Cleanup(gateway.Close)
	var log lines
	cfg := inMemory()
	cfg.API.JWKSURL = gateway.URL + "/.well-known/jwks.json"
	c := start(t, cfg, app.Deps{Logger: log.logger()})
	said := ""
	require.Eventually(t, func() bool {
		said += log.take()
		return strings.Contains(said, "keys of the gateway could not be fetched")
	}, patience, interval)
	first, second := keyring(t, "one"), keyring(t, "two", "one")
	require.Equal(t, 401, c.repair(sign(t, first)))
	require.Equal(t, 401, c.repair(""))
	require.NotContains(t, log.take(), "eyJ", "no token in the log")

	published.Store(first)
	require.Eventually(t, func() bool { return c.repair(sign(t, first)) == 200 }, patience, interval)

	require.Equal(t, 401, c.repair(sign(t, second)))
	published.Store(second)
	require.Eventually(t, func() bool { return c.repair(sign(t, second)) == 200 }, patience, interval)
	require.Equal(t, 200, c.repair(sign(t, first)), "the previous key is still published")
	require.Equal(t, 401, c.repair(sign(t, keyring(t, "three"))))
}

func TestKeysOfTheSurroundingProgramNeedNoURL(t *testing.T) {
	t.Parallel()
	var log lines
	ring := keyring(t, "one")
	cfg := inMemory()
	cfg.API.Dev, cfg.API.AuthenticateMemberAPI = true, true
	c := start(t, cfg, app.Deps{Keys: ring, Logger: log.logger()})
	require.Contains(t, log.take(), "api.dev has no effect")
	require.Equal(t, 401, c.repair(""))
	require.Equal(t, 200, c.repair(sign(t, ring)))
}

func TestStartSaysWhoseChangesAreTaken(t *testing.T) {
	t.Parallel()
	var log lines
	c := start(t, inMemory(), app.Deps{Logger: log.logger()})
	said := log.take()
	require.Contains(t, said, "mutations are refused")
	require.Contains(t, said, "api.jwks-url")
	require.Contains(t, said, "--dev")
	require.Equal(t, protocol.CodeUnauthorized, c.refused("POST", ordersCreate, protocol.CreateStreamRequest{RequestedBy: "t"}, 401))

	cfg := inMemory()
	cfg.API.Dev = true
	c = start(t, cfg, app.Deps{Logger: log.logger()})
	require.Contains(t, log.take(), "mutations are accepted from everybody")
	require.Equal(t, 200, c.repair(""))
}

func TestAccessThatCannotBeHadRefusesTheStart(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"gateway:8080": "api.jwks-url", "ftp://gateway/keys": "http or https", "http://": "http or https",
		"http://u:hunter2@gateway/keys": "user or password", "http://u:hunter2@gate way": "not a URL",
	} {
		cfg := inMemory()
		cfg.API.JWKSURL = url
		_, err := app.New(t.Context(), cfg, app.Deps{})
		require.ErrorIs(t, err, app.ErrSettings, url)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hunter2")
	}
	cfg := inMemory()
	cfg.API.AuthenticateMemberAPI = true
	_, err := app.New(t.Context(), cfg, app.Deps{})
	require.ErrorIs(t, err, app.ErrSettings)
	require.ErrorContains(t, err, "api.authenticate-member-api needs api.jwks-url")
}
