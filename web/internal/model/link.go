package model

import "net/url"

// GroupPath returns the address of a group's page below root, with what follows, for example
// "/scale".
func GroupPath(root, stream, group, rest string) string {
	return root + "/streams/" + url.PathEscape(stream) + "/groups/" + url.PathEscape(group) + rest
}

// withQuery returns a path with a query of the given values that are not empty.
func withQuery(path string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// pathPart returns a value as one part of an address.
func pathPart(value string) string { return url.PathEscape(value) }
