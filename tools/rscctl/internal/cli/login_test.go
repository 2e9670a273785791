package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	hunter  = "hunter2 secret"
	toLogin = "POST /auth/login"
	toAll   = "GET /streams"
)

// token returns the answer to a login that ends after life.
func token(text string, life time.Duration) protocol.LoginResponse {
	return protocol.LoginResponse{
		AccessToken: text, TokenType: "Bearer", ExpiresInSeconds: max(1, int64(life/time.Second)),
		ExpiresAt: protocol.Timestamp{Time: time.Now().Add(life)}, Roles: []string{"READ", "WRITE"},
	}
}

// home returns a scene of somebody with a folder for logins.
func home(t *testing.T) scene {
	t.Helper()
	return scene{env: map[string]string{"XDG_CONFIG_HOME": t.TempDir()}}
}

// files returns what is kept in the home of a scene.
func (s scene) files(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.env["XDG_CONFIG_HOME"], "rsc", "logins", "*"))
	require.NoError(t, err)
	return found
}

func TestALoginIsUsedByLaterCommandsAndNeverShown(t *testing.T) {
	t.Parallel()
	f, url := serve(t, answers{
		toLogin: {token("t-1", time.Hour)}, toAll: {protocol.StreamsResponse{}}, "POST /auth/logout": {protocol.LogoutResponse{LoggedOut: true}},
	})
	other, otherURL := serve(t, answers{toAll: {protocol.StreamsResponse{}}})
	s := home(t)
	s.in = hunter + "\n"
	got := rscctl(t, s, url, "login --user ops --password-stdin")
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.out, "Logged in as ops at "+url)
	require.Contains(t, got.out, "READ, WRITE")
	require.Contains(t, got.out, s.files(t)[0])
	require.Equal(t, []string{`POST /auth/login {"username":"ops","password":"` + hunter + `"}`}, f.changes())
	file, err := os.Stat(s.files(t)[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), file.Mode().Perm())
	text, err := os.ReadFile(s.files(t)[0])
	require.NoError(t, err)
	require.NotContains(t, string(text), hunter)

	require.Zero(t, rscctl(t, s, url, "streams list").code)
	require.Zero(t, rscctl(t, s, strings.ToUpper(url[:4])+url[4:]+"/", "streams list").code)
	require.Equal(t, []string{"", "Bearer t-1", "Bearer t-1"}, f.auths)
	require.Zero(t, rscctl(t, s, otherURL, "streams list").code)
	require.Equal(t, []string{""}, other.auths, "another server does not get the token")

	got = rscctl(t, s, url, "logout")
	require.Equal(t, outcome{out: "Logged out at " + url + ".\n"}, got)
	require.Equal(t, "Bearer t-1", f.auths[3])
	require.Empty(t, s.files(t))
	require.Zero(t, rscctl(t, s, url, "streams list").code)
	require.Empty(t, f.auths[4])
	got = rscctl(t, s, url, "logout")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.err, "nobody is logged in at "+url)
}

func TestLoginForProgramsHoldsNoToken(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{toLogin: {token("t-1", time.Hour)}})
	s := home(t)
	s.in = hunter
	got := rscctl(t, s, url, "login --user ops --password-stdin --output json")
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.out, `"username": "ops"`)
	require.NotContains(t, got.out+got.err, "t-1")
	require.NotContains(t, got.out+got.err, hunter)
}

func TestAPersonIsAskedForThePassword(t *testing.T) {
	t.Parallel()
	f, url := serve(t, answers{toLogin: {token("t-1", time.Hour)}})
	s := home(t)
	s.person, s.secrets = true, []string{hunter}
	got := rscctl(t, s, url, "login --user ops")
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.err, "Password of ops at "+url+": ")
	require.Contains(t, f.changes()[0], hunter)
	s.secrets = nil
	got = rscctl(t, s, url, "login --user ops")
	require.Equal(t, outcome{code: 1, err: "rscctl: interrupted; nothing was changed\n"}, got)
}

func TestLoginsThatCannotWorkAskNothing(t *testing.T) {
	t.Parallel()
	for line, s := range map[string]scene{
		"login":                              {in: hunter},
		"login --password-stdin":             {in: hunter},
		"login --user ops":                   {in: hunter},
		"login --user ops --password-stdin":  {in: "\n"},
		"login --user o --password-stdin":    {in: "one\ntwo\n"},
		"login --user p --password-stdin":    {in: strings.Repeat("x", 20_000)},
		"login ops":                          {},
		"streams list --token-file /no/file": {},
	} {
		f := &fake{}
		got := inBubble(t.Context(), s, f, line)
		require.Equal(t, 2, got.code, "%s: %s", line, got.err)
		require.Empty(t, f.asked, line)
	}
}

func TestLoginThatIsRefusedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for want, refusal := range map[string]any{
		"next: check the user name and the password": refused{protocol.CodeUnauthorized, "user or password is wrong"},
		"coordinators have no logins":                refused{protocol.CodeNotFound, "there is no such endpoint"},
		"name another one with --coordinator":        cutOff{},
	} {
		_, url := serve(t, answers{toLogin: {refusal}})
		s := home(t)
		s.in = hunter
		got := rscctl(t, s, url, "login --user ops --password-stdin")
		require.Equal(t, 1, got.code)
		require.Contains(t, got.err, want)
		require.Contains(t, got.err, "log in as ops at "+url)
		require.NotContains(t, got.err, hunter)
		require.Empty(t, s.files(t))
	}
}

func TestTokensOfScriptsComeBeforeALogin(t *testing.T) {
	t.Parallel()
	f, url := serve(t, answers{toLogin: {token("t-login", time.Hour)}, toAll: {protocol.StreamsResponse{}}})
	s := home(t)
	s.in = hunter
	require.Zero(t, rscctl(t, s, url, "login --user ops --password-stdin").code)
	s.env["RSC_TOKEN"] = "t-env\n"
	require.Zero(t, rscctl(t, s, url, "streams list").code)
	path := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(path, []byte("t-file\n"), 0o600))
	require.Zero(t, rscctl(t, s, url, "streams list --token-file "+path).code)
	require.Equal(t, []string{"", "Bearer t-env", "Bearer t-file"}, f.auths)
}

func TestRefusalsOfAccessSayHowToGetIt(t *testing.T) {
	t.Parallel()
	unknown := refused{protocol.CodeUnauthorized, "who are you"}
	forbidden := refused{protocol.CodeForbidden, "this needs WRITE"}
	f, url := serve(t, answers{
		toLogin: {token("t-1", time.Hour)}, toAll: {unknown},
		"POST /admin/repair-index": {unknown, forbidden}, "GET /monitoring/groups": {forbidden},
	})
	s := home(t)
	said := func(line string) string {
		got := rscctl(t, s, url, line)
		require.Equal(t, 1, got.code)
		return got.err
	}
	require.Contains(t, said("streams list"), "next: log in with: rscctl login --user NAME\n")
	require.Contains(t, said("repair index --reason r"), "where a coordinator was asked, name the gateway with --coordinator")
	require.Contains(t, said("repair index --reason r"), "a user with the role WRITE")
	require.Contains(t, said("groups list"), "a user with the role READ")
	s.env["RSC_TOKEN"] = "t-env"
	require.Contains(t, said("streams list"), "the token in $RSC_TOKEN is not taken")
	delete(s.env, "RSC_TOKEN")
	s.in = hunter
	require.Zero(t, rscctl(t, s, url, "login --user ops --password-stdin").code)
	require.Contains(t, said("streams list"), "log in again with: rscctl login --user ops")
	require.Equal(t, "Bearer t-1", f.auths[len(f.auths)-1])
}

func TestALoginThatHasEndedIsNotSent(t *testing.T) {
	t.Parallel()
	f, url := serve(t, answers{toLogin: {token("t-1", -time.Minute)}, toAll: {refused{protocol.CodeUnauthorized, "who are you"}}})
	s := home(t)
	s.in = hunter
	require.Zero(t, rscctl(t, s, url, "login --user ops --password-stdin").code)
	got := rscctl(t, s, url, "streams list")
	require.Contains(t, got.err, "the login of ops is over")
	require.Equal(t, []string{"", ""}, f.auths)
}

func TestRateLimitSaysHowLongToWait(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "17")
		refuse(w, refused{protocol.CodeRateLimitExceeded, "too many changes"})
	}))
	t.Cleanup(server.Close)
	got := rscctl(t, scene{}, server.URL, "repair index --reason r")
	require.Contains(t, got.err, "next: wait 17s, then try again\n")
}

func TestRefusalsWithoutACodeAreUnderstood(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized) // as the original service does
	}))
	t.Cleanup(server.Close)
	require.Contains(t, rscctl(t, scene{}, server.URL, "streams list").err, "next: log in with: rscctl login --user NAME\n")
	got := rscctl(t, scene{in: hunter, env: home(t).env}, server.URL, "login --user ops --password-stdin")
	require.Contains(t, got.err, "next: check the user name and the password\n")
}

func TestLogoutForgetsAlsoWhereTheGatewayIsAway(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{toLogin: {token("t-1", time.Hour)}, "POST /auth/logout": {cutOff{}, refused{protocol.CodeUnauthorized, "over"}}})
	s := home(t)
	s.in = hunter
	for range 2 {
		require.Zero(t, rscctl(t, s, url, "login --user ops --password-stdin").code)
		require.NotEmpty(t, s.files(t))
		_ = rscctl(t, s, url, "logout")
		require.Empty(t, s.files(t))
	}
	require.Zero(t, rscctl(t, s, url, "login --user ops --password-stdin").code)
	require.NoError(t, os.WriteFile(s.files(t)[0], []byte("{"), 0o600))
	got := rscctl(t, s, url, "streams list")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.err, "rscctl logout")
	require.Zero(t, rscctl(t, s, url, "logout").code, "a damaged login is forgotten")
}
