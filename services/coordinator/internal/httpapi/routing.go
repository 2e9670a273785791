package httpapi

import (
	"context"
	"net/http"
)

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
	said, err := tagged(w, r, found)
	if err == nil && said.status == http.StatusOK && r.Header.Get("If-None-Match") != "" && a.StaleRouting != nil {
		a.StaleRouting(at.stream, at.group)
	}
	return said, err
}
