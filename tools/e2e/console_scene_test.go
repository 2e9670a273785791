package e2e_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// consoleBuilt builds the console once for all tests, beside the other programs.
var consoleBuilt = sync.OnceValue(func() error {
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binaries+string(filepath.Separator), "./cmd/console")
	build.Dir = filepath.Join("..", "..", "web")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the console: %w\n%s", err, said)
	}
	return nil
})

// consoled is a guarded suite with a monitor and a console, all processes of their own. Browsers
// come through a proxy in front of the gateway.
type consoled struct {
	*guarded

	monitor, console *guardedService
}

func startConsoled(t *testing.T, coordinatorFlags ...string) *consoled {
	t.Helper()
	return startConsoledAs(t, guardedPlan{coordinators: 1, gateways: 1, coordinatorFlags: coordinatorFlags})
}

func startConsoledAs(t *testing.T, plan guardedPlan) *consoled {
	t.Helper()
	require.NoError(t, monitorBuilt())
	require.NoError(t, consoleBuilt())
	watched, pages := freeAddress(t), freeAddress(t)
	plan.gatewayFlags = append(
		plan.gatewayFlags, "--gateway-monitor", "http://"+watched, "--gateway-web", "http://"+pages,
		"--api-secure-cookies=false", "--gateway-trusted-proxies", "127.0.0.0/8",
	)
	s := &consoled{guarded: startGuarded(t, plan)}
	file := filepath.Join(t.TempDir(), "monitor.yaml")
	writeSettings(t, file, redisSettings(t, s.audited, plan.redisPassword))
	s.monitor = s.service(watched, "monitor", "monitor", []string{
		"--config", file, "--monitor-listen", watched, "--monitor-metrics-listen=", "--monitor-coordinator", s.coordinators[0].url(),
		"--observe-interval", "1s", "--api-jwks-url", s.gateways[0].url() + "/.well-known/jwks.json", "--log-level", "warn",
	})
	s.console = s.service(pages, "console", "console", []string{
		"--web-listen", pages, "--web-metrics-listen=", "--web-gateway", s.gateways[0].url(), "--log-level", "info",
	})
	s.ready(s.monitor)
	s.ready(s.console)
	return s
}

// browser is a person's, with cookies, who does not follow where an answer leads.
type browser struct {
	t       *testing.T
	http    *http.Client
	base    string
	address string // as the proxy in front says; the peer's where it is empty
}

func newBrowser(t *testing.T, base, address string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{t: t, base: base, address: address, http: &http.Client{
		Transport: transport, Jar: jar, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// page is what a browser was answered.
type page struct {
	status int
	header http.Header
	text   string
}

// leadsTo is the address that the answer sends the browser on to.
func (p page) leadsTo() string { return p.header.Get("Location") }

// field returns the value of a form's hidden field.
func (p page) field(t *testing.T, name string) string {
	t.Helper()
	found := regexp.MustCompile(`<input type="hidden" name="` + name + `" value="([^"]*)"`).FindStringSubmatch(p.text)
	require.NotNilf(t, found, "no field %s in\n%s", name, p.text)
	return html.UnescapeString(found[1])
}

// forms counts the forms that change something; that to log out is one.
func (p page) forms() int { return strings.Count(p.text, `method="post"`) }

// send sends a request; form nil is a GET.
func (b *browser) send(path string, form url.Values, header ...string) page {
	b.t.Helper()
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(body))
	require.NoError(b.t, err)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", b.base)
	}
	if b.address != "" {
		request.Header.Set("X-Forwarded-For", b.address)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer, err := b.http.Do(request)
	require.NoError(b.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(b.t, err)
	return page{answer.StatusCode, answer.Header, string(text)}
}

func (b *browser) get(path string) page { b.t.Helper(); return b.send(path, nil) }

// shows asks for a page that is there.
func (b *browser) shows(path string) page {
	b.t.Helper()
	got := b.get(path)
	require.Equal(b.t, http.StatusOK, got.status, "%s: %s", path, got.text)
	return got
}

// login logs in by the form, and returns where it leads.
func (b *browser) login(user, password, next string) string {
	b.t.Helper()
	got := b.send("/console/login", url.Values{"username": {user}, "password": {password}, "next": {next}})
	require.Equal(b.t, http.StatusSeeOther, got.status, got.text)
	return got.leadsTo()
}

// csrf is the token of the forms of this browser's session.
func (b *browser) csrf() string { b.t.Helper(); return b.shows("/console").field(b.t, "csrf") }
