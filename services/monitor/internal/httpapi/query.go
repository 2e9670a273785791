package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// queried returns the names of a query. Empty ones are none (metric names, Rules for the
// endpoints). A name that is given twice or written otherwise is refused, as the gateway does:
// rights go by it.
func (a *api) queried(r *http.Request) (place, error) {
	values, err := valuesOf(r)
	if err != nil {
		return place{}, err
	}
	at := place{stream: values.Get(streamParameter), group: values.Get(groupParameter)}
	if at.stream != "" {
		if err := protocol.CheckStreamPrefix(at.stream, a.KeyPrefix); err != nil {
			return place{}, refuse(err)
		}
	}
	if at.group != "" {
		if err := protocol.CheckConsumerGroup(at.group); err != nil {
			return place{}, refuse(err)
		}
	}
	return at, nil
}

// required returns the names of a query that must have both, be they empty.
func (a *api) required(r *http.Request) (place, error) {
	values, err := valuesOf(r)
	if err != nil {
		return place{}, err
	}
	for _, name := range []string{streamParameter, groupParameter} {
		if !values.Has(name) {
			return place{}, invalid("%s is missing; it may be empty", name)
		}
	}
	return a.queried(r)
}

// valuesOf reads a query. What the monitor reads of it may be given once, and is written as
// it is; other parameters are ignored.
func valuesOf(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, invalid("query is not encoded as a URL asks")
	}
	for name, given := range values {
		for _, known := range []string{
			streamParameter, groupParameter, shardParameter, directionParameter, cursorParameter, limitParameter, recordParameter,
			consumerParameter, samplesParameter,
		} {
			if strings.EqualFold(name, known) && (name != known || len(given) > 1) {
				return nil, invalid("%s is written so and may be given once", known)
			}
		}
	}
	return values, nil
}
