package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// maxCursor is how long a cursor may be, in bytes: two numbers up to 2^64.
const maxCursor = 2*maxIDPart + len("-")

// events answers a page of the group's flight recorder.
func (a *api) events(ctx context.Context, _ http.ResponseWriter, r *http.Request) (answer, error) {
	at, err := a.placeOf(r)
	if err != nil {
		return answer{}, err
	}
	after, limit, err := pageOf(r.URL.RawQuery)
	if err != nil {
		return answer{}, err
	}
	found, err := a.History.Events(ctx, at.stream, at.group, after, limit)
	return answer{http.StatusOK, completeEvents(found)}, err
}

// pageOf reads after and limit of a query; other parameters are ignored.
func pageOf(query string) (after string, limit int, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", 0, invalid("query is not encoded as a URL asks")
	}
	if len(values["after"]) > 1 || len(values["limit"]) > 1 {
		return "", 0, invalid("after and limit may be given once")
	}
	after = values.Get("after")
	if len(after) > maxCursor || after != "" && !isStreamID(&after) {
		return "", 0, invalid("after must be the id of an event, not %q", protocol.Echo(after))
	}
	if !values.Has("limit") {
		return after, protocol.DefaultEvents, nil
	}
	limit, err = strconv.Atoi(values.Get("limit"))
	if err != nil || limit < 1 || limit > protocol.MaxEvents {
		return "", 0, invalid("limit must be a number from 1 to %d", protocol.MaxEvents)
	}
	return after, limit, nil
}
