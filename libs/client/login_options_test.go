package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

func TestLoginThatCannotWorkIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	source := func(context.Context) (string, error) { return "", nil }
	for want, opts := range map[string]client.Options{
		"no Username":                   {Login: client.WithLogin("", hunter)},
		"neither Password":              {Login: client.WithLogin("ops", "")},
		"neither Token nor TokenSource": {Login: client.WithLogin("ops", hunter), Token: "t"},
		"neither Token nor":             {Login: client.WithLogin("ops", hunter), TokenSource: source},
		"login: coordinator URL":        {Login: &client.Login{Username: "ops", Password: hunter, GatewayURL: "gateway"}},
	} {
		opts.CoordinatorURL = gateURL
		_, err := client.New(opts)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), hunter)
	}
}

func TestPrintedLoginHidesThePassword(t *testing.T) {
	t.Parallel()
	login := client.WithLogin("ops", hunter)
	encoded, err := json.Marshal(login)
	require.NoError(t, err)
	text := string(encoded) + fmt.Sprintf("%v %+v %s %#v %v", login, *login, login, *login, []client.Login{*login})
	require.NotContains(t, text, hunter)
	require.Contains(t, text, "ops")
}

func TestPasswordIsAskedForAtEachLoginAndSentToTheGatewayOnly(t *testing.T) {
	t.Parallel()
	var direct, logins atomic.Int32
	broken := errors.New("vault is sealed")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		logins.Add(1)
		if r.URL.Path != "/coord/v1/auth/login" || string(body) != `{"username":"ops","password":"p-2"}` {
			w.WriteHeader(http.StatusUnauthorized) // as the original service does, without a body
			return
		}
		_, _ = io.WriteString(w, `{"accessToken":"good","expiresInSeconds":60}`)
	}))
	t.Cleanup(server.Close)
	var asked atomic.Int32
	password := func(context.Context) (string, error) {
		if n := asked.Add(1); n > 1 {
			return fmt.Sprintf("p-%d", n), nil
		}
		return "", broken
	}
	again := func() *client.Client { // a Client of its own has no pause after the failure
		return coordinator(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer good" || r.Method != http.MethodGet {
				w.WriteHeader(http.StatusTeapot)
				return
			}
			direct.Add(1)
			_, _ = io.WriteString(w, `{"streams":[]}`)
		}, client.Options{Login: &client.Login{Username: "ops", PasswordFunc: password, GatewayURL: server.URL}})
	}
	require.ErrorIs(t, ask(t.Context(), again().Admin()), broken)
	require.Zero(t, logins.Load())
	require.NoError(t, ask(t.Context(), again().Admin()))
	require.ErrorIs(t, ask(t.Context(), again().Admin()), client.ErrUnauthorized)
	require.Equal(t, int32(1), direct.Load())
	require.Equal(t, int32(2), logins.Load())
}

func TestAnswersWithoutAUsableTokenAreNoLogin(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `{"accessToken":"t"}`, `{"accessToken":"t","expiresInSeconds":-1}`, `{"expiresInSeconds":9}`, `[]`, ``} {
		c := coordinator(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, body)
		}, client.Options{Login: client.WithLogin("ops", hunter)})
		require.ErrorIs(t, ask(t.Context(), c.Admin()), client.ErrUnavailable, body)
	}
	// A life beyond what the clock counts is one of many years.
	var logins atomic.Int32
	c := coordinator(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			logins.Add(1)
		}
		_, _ = io.WriteString(w, `{"accessToken":"t","expiresInSeconds":9223372036854775807}`)
	}, client.Options{Login: client.WithLogin("ops", hunter)})
	require.NoError(t, ask(t.Context(), c.Admin()))
	require.NoError(t, ask(t.Context(), c.Admin()))
	require.Equal(t, int32(1), logins.Load())
}

func TestLoginByHandSendsNoToken(t *testing.T) {
	t.Parallel()
	var paths, tokens []string
	c := coordinator(t, func(w http.ResponseWriter, r *http.Request) {
		paths, tokens = append(paths, r.Method+" "+r.URL.Path), append(tokens, r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"accessToken":"new","expiresInSeconds":60,"roles":["READ"],"username":"ops","loggedOut":true}`)
	}, client.Options{Token: "old"})
	got, err := c.Admin().Login(t.Context(), "ops", hunter)
	require.NoError(t, err)
	require.Equal(t, "new", got.AccessToken)
	session, err := c.Admin().Session(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ops", *session.Username)
	require.NoError(t, c.Admin().Logout(t.Context()))
	require.Equal(t, []string{"POST /coord/v1/auth/login", "GET /coord/v1/monitoring/session", "POST /coord/v1/auth/logout"}, paths)
	require.Equal(t, []string{"", "Bearer old", "Bearer old"}, tokens)
}
