package route

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Match reads what a request asks for from its method, its path as it was sent, and its
// query. Every segment is decoded once; the route's Path and Query are written anew from
// what was understood, so that rights, limits, audit and service cannot see another path.
// Refusals are *protocol.Error: INVALID_REQUEST for a path, name or query that is not
// allowed, NOT_FOUND, MIGRATION_NOT_FOUND for an id that no resharding has, and
// METHOD_NOT_ALLOWED, where Allowed tells the others.
func (t *Table) Match(method, escapedPath, rawQuery string) (Route, error) {
	segments, err := segmentsOf(escapedPath)
	if err != nil {
		return Route{}, err
	}
	byMethod, given := t.root.find(segments)
	if byMethod == nil {
		return Route{}, protocol.Errorf(protocol.CodeNotFound, "there is no such endpoint")
	}
	found := pick(byMethod, method)
	if found == nil {
		return Route{}, protocol.Errorf(protocol.CodeMethodNotAllowed, "this endpoint does not take %q", protocol.Echo(method))
	}
	r := found.route()
	r.Path = rebuilt(segments)
	if err := t.takeNames(&r, given); err != nil {
		return Route{}, err
	}
	if err := t.takeQuery(&r, found.names, rawQuery); err != nil {
		return Route{}, err
	}
	return r, nil
}

// Allowed lists the methods that a path takes, for the Allow header of a 405; nil where
// there is no endpoint.
func (t *Table) Allowed(escapedPath string) []string {
	segments, err := segmentsOf(escapedPath)
	if err != nil {
		return nil
	}
	byMethod, _ := t.root.find(segments)
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete} {
		if pick(byMethod, method) != nil {
			allowed = append(allowed, method)
		}
	}
	return allowed
}

// pick takes HEAD as GET, but not where an answer has no end.
func pick(byMethod map[string]*endpoint, method string) *endpoint {
	if method != http.MethodHead {
		return byMethod[method]
	}
	if get := byMethod[http.MethodGet]; get != nil && !get.streams {
		return get
	}
	return nil
}

func (e *endpoint) route() Route {
	return Route{
		Operation: e.operation, Pattern: e.pattern, Method: e.method, Access: e.access, Service: e.service,
		Mutation: e.mutation, MaxBody: e.maxBody, Form: e.form, Streams: e.streams,
	}
}

// segmentsOf splits a path and decodes its parts, once.
func segmentsOf(escapedPath string) ([]string, error) {
	if err := httpx.CheckPath(escapedPath); err != nil {
		return nil, err
	}
	segments := strings.Split(strings.TrimPrefix(escapedPath, "/"), "/")
	for i, segment := range segments {
		text, err := url.PathUnescape(segment)
		if err != nil {
			return nil, invalid("path is not encoded as a URL asks")
		}
		segments[i] = text
	}
	return segments, nil
}

func rebuilt(segments []string) string {
	var path strings.Builder
	for _, segment := range segments {
		path.WriteByte('/')
		path.WriteString(url.PathEscape(segment))
	}
	return path.String()
}

// takeQuery checks the query and writes it anew. What is said twice about the names that
// rights go by, or not clearly about dryRun, is refused: the service may read it otherwise.
func (t *Table) takeQuery(r *Route, names bool, rawQuery string) error {
	if rawQuery == "" {
		return nil
	}
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return invalid("query is not encoded as a URL asks, or has a semicolon")
	}
	if r.Mutation {
		if r.DryRun, err = isDryRun(values); err != nil {
			return err
		}
	}
	if names {
		if err := t.takeQueryNames(r, values); err != nil {
			return err
		}
	}
	if r.Query = values.Encode(); len(r.Query) > maxQuery {
		return invalid("query has more than %d bytes", maxQuery)
	}
	return nil
}

// isDryRun reads dryRun as the coordinator does: a dry run must never become a real one.
func isDryRun(values url.Values) (bool, error) {
	for name, given := range values {
		switch {
		case !strings.EqualFold(name, "dryRun"):
		case name != "dryRun" || len(given) > 1 || !slices.Contains([]string{"true", "false"}, given[0]):
			return false, invalid("dryRun is written so, is true or false, and may be given once")
		}
	}
	return values.Get("dryRun") == "true", nil
}

func invalid(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalidRequest, format, args...)
}
