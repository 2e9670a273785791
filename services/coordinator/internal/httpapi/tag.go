package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// etagBytes is how much of a content's hash tells two contents apart.
const etagBytes = 16

// tagged answers with a content and its ETag, or with 304 where the caller has it. More
// tags that the caller knows may come beside those of If-None-Match.
func tagged(w http.ResponseWriter, r *http.Request, found any, more ...string) (answer, error) {
	content, err := json.Marshal(found)
	if err != nil {
		return answer{}, fmt.Errorf("encode the answer to %s: %w", r.URL.Path, err)
	}
	hash := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(hash[:etagBytes]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "no-cache")
	if matches(append(more, r.Header.Values("If-None-Match")...), tag) {
		return answer{http.StatusNotModified, nil}, nil
	}
	return answer{http.StatusOK, json.RawMessage(content)}, nil
}

// matches tells whether one of the tags of If-None-Match is tag; weak ones count, as
// RFC 9110 asks for this header.
func matches(headers []string, tag string) bool {
	for _, header := range headers {
		for candidate := range strings.SplitSeq(header, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
				return true
			}
		}
	}
	return false
}
