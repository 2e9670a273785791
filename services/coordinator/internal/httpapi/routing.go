package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// etagBytes is how much of the content's hash tells two routings apart.
const etagBytes = 16

// routing answers where producers write. It never writes (wire contract). The ETag
// covers the whole content with the lease, so that a 304 lets a producer use what it
// has for the lease that it has, counted anew (protocol L3).
func (a *api) routing(ctx context.Context, w http.ResponseWriter, r *http.Request) (answer, error) {
	at, err := a.placeOf(r)
	if err != nil {
		return answer{}, err
	}
	found, err := a.Views.Routing(ctx, at.stream, at.group)
	if err != nil {
		return answer{}, err
	}
	found.Shards = orEmpty(found.Shards)
	content, err := json.Marshal(found)
	if err != nil {
		return answer{}, fmt.Errorf("encode the routing of %s and %s: %w", at.stream, at.group, err)
	}
	hash := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(hash[:etagBytes]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "no-cache")
	if matches(r.Header.Values("If-None-Match"), tag) {
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
