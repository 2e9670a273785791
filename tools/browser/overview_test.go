package browser_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// create makes the stream payments of four shards, with the group booking.
func (s *suite) create(t *testing.T) {
	t.Helper()
	require.NoError(t, s.makes(t, payments, booking, paymentShards))
}

// Monitoring, Console: changes show while one looks, the reader stays where they were.
func TestTheOverviewChangesUnderTheReaderWithoutMoving(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo-cycle", "10m")
	w := s.signedIn(t, userOps)
	w.until(`document.getElementById("live").textContent === "live"`)
	const link = `a[href="/console/streams/orders/groups/orders-consumer"]`
	w.until("document.querySelector('" + link + "')")
	w.text("window.stays = 'this document'")

	s.create(t)
	w.until(`document.querySelector("#groups").textContent.includes("payments / booking")`)
	// What is wrong with a group is a line more; a new one is looked at a few times until all is known.
	w.until(`[...document.querySelectorAll("#groups tbody tr")].every((row) => row.cells[6].firstChild.textContent.trim() !== "–")`)

	// A page that is up to date moves nothing, whatever its numbers do.
	// The new line is drawn first: what it moves is told of some frames later.
	w.focus(link)
	eval[int](w, "window.calm = 0; requestAnimationFrame(() => requestAnimationFrame(() => window.calm = performance.now())); 0")
	w.until("window.calm > 0")
	eval[int](w, "window.before = document.querySelector('#groups').innerText; window.news = 0;"+
		"new MutationObserver(() => window.news++).observe(document.querySelector('#groups'), { childList: true, subtree: true }); 0")
	w.until("window.news >= 3 && document.querySelector('#groups').innerText !== window.before")
	require.Equal(t, "/console/streams/orders/groups/orders-consumer", w.text(`document.activeElement.getAttribute("href")`), "focus stays")
	require.Equal(t, "this document", w.text("window.stays"), "the page was not loaded again")
	require.Equal(t, "[]", w.text("JSON.stringify(window.moved.filter((one) => one.at > window.calm).map((one) => one.what))"), "nothing moves")
	w.blameless()
}
