package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// console is where the process says that it is, with the login of development.
func (p *process) console(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`console on (http://127\.0\.0\.1:\d+/console), log in as admin with the password "password"`).FindStringSubmatch(p.out.String())
	require.NotNilf(t, found, "%s", p.out.String())
	return found[1]
}

// browse asks as a browser with cookies does. The caller closes the answer's body.
func browse(t *testing.T, browser *http.Client, method, target string, form url.Values) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		at, err := url.Parse(target)
		require.NoError(t, err)
		request.Header.Set("Origin", "http://"+at.Host)
	}
	answer, err := browser.Do(request)
	require.NoError(t, err)
	return answer
}

// Monitoring, Console: the suite in one process has it behind its gateway, and a page that is
// kept up to date does not hold up the end.
func TestTheConsoleIsServedAndEndsWithAViewer(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	p := start(t, nil, "--redis", redis.URL(), "--demo=false")
	p.says(t, "no demo")
	console := p.console(t)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(browser.CloseIdleConnections)

	answer := browse(t, browser, http.MethodPost, console+"/login", url.Values{"username": {"admin"}, "password": {"password"}})
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equalf(t, http.StatusOK, answer.StatusCode, "%s", page)
	require.Contains(t, string(page), "<h1>Streams and groups</h1>")

	events := browse(t, browser, http.MethodGet, console+"/live?page=overview", nil)
	defer events.Body.Close()
	require.Equal(t, "text/event-stream", events.Header.Get("Content-Type"))
	lines := bufio.NewScanner(events.Body)
	lines.Buffer(nil, 1<<20)
	require.True(t, lines.Scan(), "it is kept up to date")

	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.Zerof(t, p.ends(t), "%s", p.out.String())
}

// A program that listens on every interface is reached on the loopback interface.
func TestTheConsoleFindsAGatewayOnEveryInterface(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	p := start(t, []string{"RSC_WEB_MAX_VIEWERS=1"}, "--redis", redis.URL(), "--demo=false", "--addr", ":0")
	p.says(t, "no demo")
	answer := browse(t, http.DefaultClient, http.MethodGet, p.console(t), nil)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "/console/login", answer.Request.URL.Path)

	wrong := start(t, []string{"RSC_WEB_MAX_VIEWERS=0"}, "--demo=false")
	require.Equal(t, exitSettings, wrong.ends(t))
	require.Contains(t, wrong.out.String(), "web.max-viewers")
}
