package browser_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Widths of windows, in CSS pixels.
const (
	narrow = 390
	wide   = 1280
)

//go:embed testdata/begin.js
var begin string

// window is one of the browser with cookies of its own. What a page must never do is noted: a
// dialog, an error on the console, a request to another host, a breach of the content policy.
type window struct {
	t     *testing.T
	ctx   context.Context
	suite *suite

	mu    sync.Mutex
	wrong []string
}

// open opens a window with nothing in it, which is closed with the test.
func (s *suite) open(t *testing.T) *window {
	t.Helper()
	w := &window{t: t, suite: s}
	ctx, cancel := chromedp.NewContext(chromium(), chromedp.WithNewBrowserContext(), chromedp.WithListener(w.notice))
	t.Cleanup(cancel)
	w.ctx = ctx
	require.NoError(t, chromedp.Do(ctx)) // the context of the first lasts as long as the window
	command(w, log.Enable, cdp.Empty{})
	command(w, network.Enable, network.EnableParams{})
	command(w, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	command(w, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: begin})
	w.wears(wide, "light")
	return w
}

// command has the browser carry out one command of its protocol.
func command[P, R any](w *window, is cdp.Command[P, R], params P) R {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	result, err := chromedp.Call(ctx, is, params)
	require.NoError(w.t, err)
	return result
}

// notice is told everything by the browser. It must not wait for the browser.
func (w *window) notice(event any) {
	switch event := event.(type) {
	case *runtime.EventExceptionThrown:
		said, _ := json.Marshal(event.ExceptionDetails)
		w.blame("an exception: %s", said)
	case *runtime.EventConsoleAPICalled:
		if event.Type == runtime.ConsoleAPICalledTypeError || event.Type == runtime.ConsoleAPICalledTypeWarning {
			said, _ := json.Marshal(event.Args)
			w.blame("on the console: %s", said)
		}
	case *log.EventEntryAdded:
		if event.Entry.Level == log.EntryLevelError || event.Entry.Level == log.EntryLevelWarning {
			w.blame("in the log: %s %s", event.Entry.Text, event.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		at, err := url.Parse(event.Request.URL)
		if err != nil || (at.Scheme != "data" && "http://"+at.Host != w.suite.gateway) {
			w.blame("a request to %s", event.Request.URL)
		}
	}
}

func (w *window) blame(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// blameless fails the test when a page did what none may.
func (w *window) blameless() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Empty(w.t, w.wrong, "what no page may do")
}

// do has the browser do something, for as long as patience lasts.
func (w *window) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	require.NoError(w.t, chromedp.Do(ctx, steps...))
}

// visit goes to a page of the console and waits until it is loaded.
func (w *window) visit(path string) {
	w.t.Helper()
	w.do(chromedp.Navigate(w.suite.console(path)))
}

// eval returns the value of an expression on the page.
func eval[T any](w *window, expression string) T {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	require.NoError(w.t, err)
	return value
}

// text returns what an expression says.
func (w *window) text(expression string) string {
	w.t.Helper()
	return eval[string](w, "String("+expression+")")
}

// until waits for a condition on the page, also over a change of page.
func (w *window) until(condition string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		holds, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool]("Boolean("+condition+")"))
		return err == nil && holds // a page that is just changing has no answer
	}, patience, often, "until %s\non %s", condition, &lazy{w})
}

// at waits for a page with this path and query, and for its whole document.
func (w *window) at(path string) {
	w.t.Helper()
	w.until(fmt.Sprintf("location.pathname + location.search === %q && document.readyState === 'complete'", "/console"+path))
}

// lazy tells of a page only when a test has failed.
type lazy struct{ w *window }

// String implements fmt.Stringer.
func (l *lazy) String() string {
	text, _ := chromedp.Run(l.w.ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body?.innerText"))
	return text
}

// signIn fills the form of the page that the window is on, and sends it.
func (w *window) signIn(user, password string) {
	w.t.Helper()
	w.do(chromedp.SetValue(chromedp.ID("username"), user), chromedp.SetValue(chromedp.ID("password"), password),
		chromedp.Click(chromedp.CSS("main button[type=submit]")))
}

// signedIn opens a window of a user who has signed in, on the first page.
func (s *suite) signedIn(t *testing.T, user string) *window {
	t.Helper()
	w := s.open(t)
	w.visit("/login")
	w.signIn(user, passwordOf(user))
	w.at("")
	return w
}

// wears has the window be so wide and light or dark.
func (w *window) wears(width int64, theme string) {
	w.t.Helper()
	command(w, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width == narrow,
	})
	command(w, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// withoutScripts lets no page run any from now on.
func (w *window) withoutScripts() {
	w.t.Helper()
	command(w, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// forgive takes back what was noted and is meant, all of it must be.
func (w *window) forgive(meant func(string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = slices.DeleteFunc(w.wrong, meant)
}
