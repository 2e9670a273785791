package browser_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// stops are what a page has for the keyboard to reach, as an expression; reached is the one that
// the keyboard is at, in the same words.
const (
	words = `((one) => [one.tagName, one.id, one.getAttribute("href"), one.name, one.dataset.copy, one.getAttribute("aria-label"), one.type === "submit" ? one.textContent : ""].join(" "))`
	stops = `[...new Set([...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
		.filter((one) => one.getClientRects().length > 0).map(` + words + `))]`
	reached = words + `(document.activeElement)`
)

// Monitoring, Console: usable with the keyboard only.
func TestTheKeyboardIsEnough(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo-cycle", "10m")
	w := s.open(t)
	w.visit("/login")
	w.press(userOps, kb.Tab, passwordOf(userOps), kb.Enter)
	w.at("")
	w.until(`document.querySelector("a[href$='/orders-consumer']")`)
	command(w, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Text: "/"})
	w.press("orders", kb.Enter)
	w.until(`location.search.includes("q=orders")`)
	w.reachesAll()
	w.until(`document.querySelector("a[href$='/orders-consumer']")`)
	w.focus("a[href$='/orders-consumer']")
	w.press(kb.Enter)
	w.at("/streams/orders/groups/orders-consumer")
	w.until(`document.querySelector("#live").textContent === "live"`)
	w.reachesAll()
	w.visit("/streams/orders/groups/orders-consumer/scale?to=6")
	w.reachesAll()
	w.visit("/audit")
	w.reachesAll()
	w.blameless()
}

// A piece that is replaced takes nobody's place away, also where elements look the same.
func TestFocusStaysWhereItWasOnAPageThatChanges(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo-cycle", "10m")
	s.flows(t)
	w := s.signedIn(t, userOps)
	w.visit("/streams/orders/groups/orders-consumer")
	w.until(`document.querySelector("#live").textContent === "live"`)
	const copies = `[...document.querySelectorAll("button[data-copy]")]`
	w.until(copies + ".length >= 5")
	for _, target := range []string{copies + ".at(-1)", copies + ".at(-2)", `[...document.querySelectorAll(".scroll")][1]`} {
		before := w.text("(" + target + ".focus(), " + reached + ")")
		w.text(`window.changed = false, window.held = document.activeElement,
			new MutationObserver(() => window.changed = true).observe(document.querySelector("#memberlist"), { childList: true, subtree: true }), ""`)
		// What is around rows stays where only those change.
		w.until(`!window.held.isConnected || window.changed && window.held.matches(".scroll")`)
		require.Equal(t, before, w.text(reached))
		require.NotContains(t, before, "BODY")
	}
	w.blameless()
}

// focus focuses an element at once: on a page that changes, one that was found may be gone.
func (w *window) focus(selector string) {
	w.t.Helper()
	w.text(fmt.Sprintf("document.querySelector(%q).focus()", selector))
}

// press types texts and keys.
func (w *window) press(keys ...string) {
	w.t.Helper()
	for _, each := range keys {
		w.do(chromedp.KeyEvent(each))
	}
}

// reachesAll goes round the page with the Tab key until it has been at all that is there, a few
// times at most: what changes meanwhile begins anew, and a field of a date has several stops.
func (w *window) reachesAll() {
	w.t.Helper()
	w.text("document.activeElement.blur()")
	missing := eval[[]string](w, stops)
	require.NotEmpty(w.t, missing)
	seen := map[string]bool{}
	for range 10*len(missing) + 100 {
		w.press(kb.Tab)
		seen[w.text(reached)] = true
		missing = slices.DeleteFunc(eval[[]string](w, stops), func(one string) bool { return seen[one] })
		if len(missing) == 0 {
			return
		}
	}
	require.Empty(w.t, missing, "what the keyboard does not reach on %s", w.text("location.href"))
}
