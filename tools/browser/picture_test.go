package browser_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/require"
)

// artefacts is where pictures go.
func artefacts() string {
	if dir := os.Getenv("RSC_ARTEFACTS"); dir != "" {
		return dir
	}
	return "artefacts"
}

// Heights of pictures, in pixels: of a whole page, and of one in the operator's guide.
const (
	whole = 4_000
	guide = 800
)

// picture keeps what the window shows as a file, at most so many pixels high.
func (w *window) picture(name string, most float64) {
	w.t.Helper()
	height := min(eval[float64](w, "document.documentElement.scrollHeight"), most)
	width := eval[float64](w, "window.innerWidth") // a whole page is drawn without a scroll bar
	shot := command(w, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatPng, CaptureBeyondViewport: new(true),
		Clip: &page.Viewport{Width: width, Height: height, Scale: 1},
	})
	require.NoError(w.t, os.MkdirAll(artefacts(), 0o755))
	require.NoError(w.t, os.WriteFile(filepath.Join(artefacts(), name+".png"), shot.Data, 0o644))
}

// listed is a list of what was found on each page, for people.
func listed(found map[string][]string) string {
	var text strings.Builder
	for _, at := range slices.Sorted(maps.Keys(found)) {
		text.WriteString("\n" + at + ":\n  " + strings.Join(found[at], "\n  "))
	}
	return text.String()
}
