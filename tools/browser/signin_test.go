package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// refused is what a browser says of an answer of 401 and 403, which pages are when they refuse.
func refused(said string) bool { return strings.Contains(said, "status of 40") }

// Monitoring, Console: sign in and out.
func TestSigningInLeadsToThePageThatWasAskedFor(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo=false")
	w := s.open(t)
	for name, scripts := range map[string]bool{"with scripts": true, "without": false} {
		t.Log(name)
		if !scripts {
			w.withoutScripts()
		}
		w.visit("?q=pay")
		w.until(`location.pathname === "/console/login"`)

		w.signIn(userOps, "not the password")
		w.until(`document.querySelector("[role=alert]")`)
		require.NotEmpty(t, w.text(`document.querySelector("[role=alert]").textContent`))
		require.NotContains(t, w.text("location.href"), "password", "nothing that was typed is in the address")

		w.signIn(userOps, passwordOf(userOps))
		w.at("?q=pay")
		require.Equal(t, userOps, w.text(`document.querySelector(".user").textContent`))
		require.Equal(t, "pay", w.text(`document.querySelector("#q").value`))
		require.Empty(t, w.text("document.cookie"), "scripts see no cookie")

		w.do(chromedp.Click(chromedp.CSS("form[action$='/logout'] button")))
		w.until(`location.pathname === "/console/login"`)
		w.visit("")
		w.until(`location.pathname === "/console/login"`)
	}
	w.forgive(refused)
	w.blameless()
}
