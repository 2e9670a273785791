package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// Secrets beside those of users.
const (
	redisCanary = "canary-redis-password"
	bodyCanary  = "canary-secret-of-a-body"
)

// withPassword starts a Redis that asks for redisCanary.
func withPassword(t *testing.T) *redisproc.Server {
	t.Helper()
	server := redisproc.Start(t)
	require.NoError(t, server.Client(t).ConfigSet(t.Context(), "requirepass", redisCanary).Err())
	_, err := server.Client(t).Ping(t.Context()).Result()
	require.ErrorContains(t, err, "NOAUTH")
	return server
}

// canaries are the secrets by what they are, each in all forms in which it may show.
func (s *storm) canaries() map[string]string {
	secrets := map[string]string{
		"token secret": guardedSecret, "Redis password": redisCanary, "body": bodyCanary, "password of nobody": wrongPassword,
	}
	hashes, err := guardedHashes()
	require.NoError(s.t, err)
	for _, user := range []string{userOps, userViewer, userMember, userScoped} {
		secrets["password of "+user] = passwordOf(user)
		secrets["basic credential of "+user] = base64.StdEncoding.EncodeToString([]byte(user + ":" + passwordOf(user)))
		secrets["hash of "+user] = hashes[user][strings.LastIndex(hashes[user], "$"):]
	}
	for _, token := range s.tokens {
		secrets["signature of "+token] = token[strings.LastIndex(token, "."):]
		secrets["claims of "+token] = strings.Split(token, ".")[1]
	}
	return secrets
}

// requireNoSecrets looks for secrets in all that was said: by processes, in answers, and in
// Redis (C9).
func (s *storm) requireNoSecrets() {
	s.t.Helper()
	said := s.everythingWritten()
	for i, text := range s.left {
		said["output of a killed process "+string(rune('0'+i))] = text
	}
	for _, one := range s.came {
		if one.reply != nil {
			said["answer to "+one.id] = string(one.reply.body)
			header, err := json.Marshal(one.reply.header)
			require.NoError(s.t, err)
			said["header of the answer to "+one.id] = string(header)
		}
	}
	for _, path := range []string{"/openapi.json", "/.well-known/jwks.json", "/version", "/readyz", "/docs", api("/monitoring/session")} {
		said[path] = string(s.passes(guardedCall{path: path}, http.StatusOK).body)
	}
	said["audit"] = string(s.passes(guardedCall{path: api("/audit?limit=1000"), token: s.viewer}, http.StatusOK).body)
	said["list of rscctl"] = s.rscctl(s.viewer, "audit", "list", "--limit", "0").text
	said["Redis"] = s.everythingStored()
	require.Contains(s.t, said["audit"], `"principal":"ops"`)
	require.Contains(s.t, said["Redis"], `"principal":"ops"`)
	require.Contains(s.t, said["output of gateway-0"], "level=DEBUG")
	for what, secret := range s.canaries() {
		for where, text := range said {
			require.NotContains(s.t, text, secret, "%s in %s", what, where)
		}
	}
	delete(said, "Redis") // what is stored there is escaped where it is shown
	for where, text := range said {
		require.NotContains(s.t, text, "\x1b", where)
		require.NotContains(s.t, text, "\nforged line", where)
	}
}

// everythingStored is all that is in Redis, its keys too.
func (s *storm) everythingStored() string {
	s.t.Helper()
	db := redis.NewClient(&redis.Options{Addr: s.audited.Addr(), Password: redisCanary})
	defer func() { _ = db.Close() }()
	var text strings.Builder
	for keys := db.Scan(s.t.Context(), 0, "*", 1000).Iterator(); keys.Next(s.t.Context()); {
		fmt.Fprintln(&text, keys.Val(), valueOf(s.t, db, keys.Val()))
	}
	return text.String()
}

// valueOf is what a key holds, as text.
func valueOf(t *testing.T, db *redis.Client, key string) string {
	t.Helper()
	kind, err := db.Type(t.Context(), key).Result()
	require.NoError(t, err)
	var value any
	switch kind {
	case "string":
		value, err = db.Get(t.Context(), key).Result()
	case "hash":
		value, err = db.HGetAll(t.Context(), key).Result()
	case "stream":
		value, err = db.XRange(t.Context(), key, "-", "+").Result()
	case "zset":
		value, err = db.ZRange(t.Context(), key, 0, -1).Result()
	case "set":
		value, err = db.SMembers(t.Context(), key).Result()
	case "none": // it has ended meanwhile
	default:
		require.Fail(t, "keys of another type", "%s is a %s", key, kind)
	}
	if !errors.Is(err, redis.Nil) {
		require.NoError(t, err)
	}
	return fmt.Sprint(value)
}
