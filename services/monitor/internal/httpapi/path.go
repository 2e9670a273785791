package httpapi

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Names of the parameters of paths and queries.
const (
	streamParameter    = "streamPrefix"
	groupParameter     = "consumerGroup"
	shardParameter     = "shardIndex"
	directionParameter = "direction"
	cursorParameter    = "cursor"
	limitParameter     = "limit"
	recordParameter    = "recordId"
	consumerParameter  = "consumer"
	samplesParameter   = "samples"
)

// maxShardIndex bounds shard indexes; storage allows far fewer shards.
const maxShardIndex = 1 << 20

// place is what a request names: valid names, empty where it names none.
type place struct {
	stream, group string
	// shard is the index of a path that has one.
	shard int
	// inPath tells that the names come from the path, so that both are there.
	inPath bool
}

// guardPath refuses paths that two readers could understand differently, and makes the router
// work on the path as it was sent, so that every segment is decoded once, here (wire
// contract, Rules).
func (a *api) guardPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		if err := httpx.CheckPath(path); err != nil {
			a.answers.Error(w, r, err)
			return
		}
		chi.RouteContext(r.Context()).RoutePath = path
		next.ServeHTTP(w, r)
	})
}

// placeOf returns what a request names: in its path, or where that has no names in its query.
// Rights go by the same names as the answer.
func (a *api) placeOf(r *http.Request) (place, error) {
	var at place
	parameters := chi.RouteContext(r.Context()).URLParams
	for i, name := range parameters.Keys {
		value, err := url.PathUnescape(parameters.Values[i])
		if err != nil {
			return place{}, invalid("%s is not encoded as a path asks", name)
		}
		switch name {
		case streamParameter:
			at.inPath = true
			at.stream, err = value, refuse(protocol.CheckStreamPrefix(value, a.KeyPrefix))
		case groupParameter:
			at.group, err = value, refuse(protocol.CheckConsumerGroup(value))
		case shardParameter:
			at.shard, err = shardIndex(value)
		}
		if err != nil {
			return place{}, err
		}
	}
	if at.inPath {
		return at, nil
	}
	return a.queried(r)
}

// shardIndex reads a number in the one way to write it.
func shardIndex(text string) (int, error) {
	index, err := strconv.Atoi(text)
	if err != nil || index < 0 || index > maxShardIndex || strconv.Itoa(index) != text {
		return 0, invalid("%s %q is not a number from 0 to %d", shardParameter, protocol.Echo(text), maxShardIndex)
	}
	return index, nil
}

// refuse turns a failed check of a name into a refusal with its text.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	return invalid("%s", err.Error())
}

func invalid(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalidRequest, format, args...)
}
