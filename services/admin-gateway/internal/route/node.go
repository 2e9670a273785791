package route

import "strings"

// node is a place in the tree of patterns. It has children by their literal text, or one
// child for a parameter of any text; no pattern needs both at one place.
type node struct {
	literal   map[string]*node
	parameter *node
	// tail serves what follows, whatever its length.
	tail map[string]*endpoint
	// name is the parameter's, where this is one.
	name string
	// ends are the endpoints whose pattern ends here, by method.
	ends map[string]*endpoint
}

func (n *node) addAll(base string, endpoints []endpoint) {
	for _, e := range endpoints {
		e.pattern = base + e.pattern
		n.add(&e)
	}
}

func (n *node) add(e *endpoint) {
	at, tail := n, false
	for segment := range strings.SplitSeq(strings.TrimPrefix(e.pattern, "/"), "/") {
		if tail = segment == "*"; tail {
			break
		}
		at = at.child(segment)
	}
	into := &at.ends
	if tail {
		into = &at.tail
	}
	if *into == nil {
		*into = make(map[string]*endpoint)
	}
	(*into)[e.method] = e
}

// child returns the child for a segment of a pattern, made where it is missing.
func (n *node) child(segment string) *node {
	if name, isParameter := strings.CutPrefix(segment, "{"); isParameter {
		if n.parameter == nil {
			n.parameter = &node{name: strings.TrimSuffix(name, "}")}
		}
		return n.parameter
	}
	if n.literal == nil {
		n.literal = make(map[string]*node)
	}
	if n.literal[segment] == nil {
		n.literal[segment] = &node{}
	}
	return n.literal[segment]
}

// parameters are the texts that stand for the parameters of a pattern, in their order.
type parameters []struct{ name, text string }

// find walks along the segments of a path. It returns the endpoints at its end by method,
// nil where there are none.
func (n *node) find(segments []string) (map[string]*endpoint, parameters) {
	var given parameters
	at := n
	for i, segment := range segments {
		next := at.literal[segment]
		if next == nil && at.parameter != nil {
			next = at.parameter
			given = append(given, struct{ name, text string }{next.name, segment})
		}
		if next == nil {
			for _, rest := range segments[i:] {
				given = append(given, struct{ name, text string }{tailParameter, rest})
			}
			return at.tail, given
		}
		at = next
	}
	return at.ends, given
}
