package browser_test

import (
	_ "embed"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed testdata/look.js
var look string

// Pages of the demo's stream that everybody sees, by the name of their picture.
func pagesOf(room string) [][2]string {
	return [][2]string{
		{"overview", ""},
		{"group", room},
		{"scale", room + "/scale"},
		{"plan", room + "/scale?to=6&reason=more"},
		{"migrations", room + "/migrations"},
		{"messages", room + "/messages"},
		{"audit", "/audit"},
		{"system", "/system"},
		{"nothing", "/nothing"},
	}
}

// Monitoring, Console: contrast AA, usable on a narrow screen, with a keyboard and a screen
// reader.
func TestEveryPageIsForEveryScreenAndReader(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo-cycle", "10m")
	s.flows(t)
	w := s.open(t)
	w.visit("/login?refused=UNAUTHORIZED")
	w.good("login")
	w.signIn(userOps, passwordOf(userOps))
	w.at("")
	for _, page := range pagesOf("/streams/orders/groups/orders-consumer") {
		w.wears(wide, "light")
		w.visit(page[1])
		w.good(page[0])
	}
	w.shows("migration", s.resharding(t, "orders", 6))
	w.forgive(refused)
	w.blameless()
}

// flows waits until the demo has written records and its consumers read them.
func (s *suite) flows(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		rows, err := s.admin.GroupRows(t.Context())
		return err == nil && len(rows) > 0 && rows[0].ConsumedPerSecond != nil && *rows[0].ConsumedPerSecond > 0
	}, patience, often, "records flow")
}

// shows goes to a page and looks at it.
func (w *window) shows(name, path string) {
	w.t.Helper()
	w.wears(wide, "light")
	w.visit(path)
	w.good(name)
}

// good fails the test when the page that the window is on is not well made, and takes its
// pictures.
func (w *window) good(name string) {
	w.t.Helper()
	wrong := map[string][]string{}
	for _, width := range []int64{wide, narrow} {
		for _, theme := range []string{"light", "dark"} {
			w.wears(width, theme)
			at := fmt.Sprintf("%s-%d-%s", name, width, theme)
			if found := eval[[]string](w, look); len(found) > 0 {
				wrong[at] = found
			}
			w.picture(at, whole)
			if width == wide && theme == "light" {
				w.picture("guide-"+name, guide)
			}
		}
	}
	if len(wrong) > 0 {
		w.t.Errorf("%s is not for everybody: %s", w.text("location.href"), listed(wrong))
	}
}
