package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

const submit = "main form:has([name=word]) button[type=submit]"

// Monitoring, Console: works without scripts for reading and for actions, with the plan first.
func TestAShardCountIsChangedWithoutScripts(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo=false")
	s.create(t)
	const room = "/streams/payments/groups/booking"
	w := s.open(t)
	w.withoutScripts()
	w.visit(room + "/scale")
	w.until(`location.pathname === "/console/login"`)
	w.signIn(userOps, passwordOf(userOps))
	w.at(room + "/scale")

	w.do(chromedp.SetValue(chromedp.CSS("[name=to]"), "6"), chromedp.Click(chromedp.CSS("main button[type=submit]")))
	w.until(`document.querySelector("#plan")`)
	require.Contains(t, w.text(`document.querySelector("#plan").textContent`), "4 → 6")
	w.confirms("payment", "not what was asked for")
	require.Equal(t, "false", w.text(`document.querySelector("[name=word]").validity.valid`), "the browser itself holds a typing error back")
	w.text(`document.querySelector("form:has([name=word])").noValidate = true`)
	w.confirms("payment", "not what was asked for")
	w.until(`document.querySelector("[aria-invalid=true], [role=alert], .notice.bad")`)
	require.Equal(t, "not what was asked for", w.text(`document.querySelector("[name=reason]").value`), "what was typed is kept")
	w.confirms("payments", "more readers")
	w.until(`location.pathname.startsWith("/console` + room + `/migrations/")`)
	require.Contains(t, w.text(`document.querySelector("main").textContent`), "more readers")
	require.Eventually(t, func() bool {
		stream, err := s.admin.Stream(t.Context(), "payments")
		return err == nil && stream.ShardCount == 6
	}, patience, often, "the stream has its new shards")
	w.forgive(refused)
	w.blameless()
}

// Who may only read sees no action, on no page.
func TestAReaderSeesNoAction(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo=false")
	s.create(t)
	w := s.signedIn(t, userViewer)
	require.Contains(t, w.text(`document.querySelector(".who").textContent`), "read only")
	for _, page := range pagesOf("/streams/payments/groups/booking") {
		w.visit(page[1])
		require.Equal(t, "1", w.text(`document.querySelectorAll("form[method=post]").length`), "only the one to log out on %s", page[0])
		require.Equal(t, "0", w.text(`document.querySelectorAll("a[href*='/rollback'], a[href$='/scale'], button.danger").length`), page[0])
	}
	w.forgive(refused)
	w.blameless()
}

// confirms types the word and the reason into the form of a change, and sends it.
func (w *window) confirms(word, reason string) {
	w.t.Helper()
	w.do(chromedp.SetValue(chromedp.CSS("[name=word]"), word), chromedp.SetValue(chromedp.CSS("[name=reason]"), reason),
		chromedp.Click(chromedp.CSS(submit)))
}
