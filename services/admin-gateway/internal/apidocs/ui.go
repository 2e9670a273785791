package apidocs

import (
	"bytes"
	_ "embed" // page and script
	"html"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

//go:embed site/page.html
var pageText string

//go:embed site/start.js
var script []byte

const scriptName = "start.js"

// policy lets a browser load what this package serves, and nothing else. Swagger UI sets
// styles in place; it needs no script in place and no eval.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// UI serves the page at a path of the caller's choice and what the page loads below it: as
// /docs and /docs/{file}, with Spec beside it as /openapi.json. All links are relative, so
// that a proxy may put a prefix before them. A file is known by the last part of the path;
// one without a dot is the page.
func (d *Docs) UI() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		file := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		switch {
		case !strings.Contains(file, "."):
			servePage(w, r, file)
		case file == scriptName:
			header.Set("Content-Type", "text/javascript; charset=utf-8")
			header.Set("Cache-Control", "no-cache")
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(script))
		case isAsset(file):
			header.Set("Cache-Control", "max-age=3600")
			d.assets.ServeHTTP(w, asset(r, file))
		default:
			d.answers.Error(w, r, protocol.Errorf(protocol.CodeNotFound, "there is no such file"))
		}
	})
}

// servePage writes the page. Its links go by the last part of the path: a browser resolves
// them against what is before it.
func servePage(w http.ResponseWriter, r *http.Request, last string) {
	assets, spec := "./", "../openapi.json"
	if last != "" {
		assets, spec = "./"+url.PathEscape(last)+"/", "./openapi.json"
	}
	// Not by html/template, which keeps the linker from leaving out what nobody calls: a third
	// of the program.
	page := strings.NewReplacer("{{assets}}", html.EscapeString(assets), "{{spec}}", html.EscapeString(spec)).Replace(pageText)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(page))
}

// isAsset tells whether Swagger UI has a file that the page loads.
func isAsset(file string) bool {
	switch file {
	case "swagger-ui.css", "swagger-ui-bundle.js", "favicon-16x16.png", "favicon-32x32.png":
		return true
	default:
		return false
	}
}

// asset is the request for a file where Swagger UI looks for it.
func asset(r *http.Request, file string) *http.Request {
	inside := r.Clone(r.Context())
	inside.URL.Path, inside.URL.RawPath = path.Join("/", file), ""
	return inside
}
