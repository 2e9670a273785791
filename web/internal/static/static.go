// Package static has the files that pages refer to: one stylesheet, one module, an icon. They
// are part of the binary, so that a page asks no other host (reliability, Console).
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

//go:embed console.css console.js icon.svg
var files embed.FS

// hashLength is how many digits of a file's hash its address has.
const hashLength = 12

// Address returns where a file is, below root: its name with the hash of its content, so that
// browsers may keep it for ever.
func Address(root, name string) string {
	data, err := files.ReadFile(name)
	if err != nil {
		return root + "/static/" + name
	}
	sum := sha256.Sum256(data)
	extension := path.Ext(name)
	return root + "/static/" + strings.TrimSuffix(name, extension) + "-" + hex.EncodeToString(sum[:])[:hashLength] + extension
}

// Handler serves the files; parameter is the one of the path that names the file.
func Handler(parameter string) http.Handler {
	named := map[string]string{} // by their addresses' last part
	for _, name := range []string{"console.css", "console.js", "icon.svg"} {
		named[path.Base(Address("", name))] = name
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, found := named[r.PathValue(parameter)]
		if !found {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		http.ServeFileFS(w, r, files, name)
	})
}
