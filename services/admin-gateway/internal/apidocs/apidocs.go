// Package apidocs serves the API's document: as JSON for programs and, with Swagger UI, as a
// page for people (wire contract). Everything that a browser loads comes from here; nothing
// is asked of another host.
package apidocs

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the document
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/swaggest/swgui/v5/static"
	"github.com/vearutop/statigz"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
)

//go:generate cp ../../../../docs/api/openapi.yaml openapi.yaml
//go:embed openapi.yaml
var document []byte

// Docs is the document in both forms. It does not change and is safe for concurrent use.
type Docs struct {
	spec    []byte
	etag    string
	assets  http.Handler
	answers httpx.Answers
}

// New returns the document with basePath as the path of its server, for example /coord/v1;
// "" and "/" stand for the root.
func New(basePath string) (*Docs, error) {
	spec, err := convert(document, basePath)
	if err != nil {
		return nil, fmt.Errorf("convert the API's document: %w", err)
	}
	hash := sha256.Sum256(spec)
	return &Docs{
		spec: spec, etag: `"` + hex.EncodeToString(hash[:16]) + `"`,
		assets: statigz.FileServer(static.FS), answers: httpx.NewAnswers(nil),
	}, nil
}

// Spec serves the document as JSON, with an ETag that changes with it.
func (d *Docs) Spec() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", "application/json")
		header.Set("Cache-Control", "no-cache")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("ETag", d.etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(d.spec))
	})
}
