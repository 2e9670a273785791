package explore

import "slices"

// ranks gives numbers that are only ever compared a canonical form: their place in the order
// of all that occur. Numbers above base, from which new ones will be drawn, keep their
// distance to it. Numbers up to 0 have a meaning of their own and are kept.
type ranks struct {
	base   int64
	values []int64 // up to base
}

func (r *ranks) reset(base int64) { r.base, r.values = base, r.values[:0] }

func (r *ranks) add(v int64) {
	if v > 0 && v <= r.base {
		r.values = append(r.values, v)
	}
}

func (r *ranks) sort() {
	slices.Sort(r.values)
	r.values = slices.Compact(r.values)
}

func (r *ranks) of(v int64) int64 {
	switch {
	case v <= 0:
		return v
	case v <= r.base:
		i, _ := slices.BinarySearch(r.values, v)
		return int64(i-len(r.values)) - 3 // below the numbers with a meaning
	default:
		return v - r.base
	}
}

// names gives names a canonical form: the order in which they occur.
type names struct{ seen []string }

func (n *names) reset() { n.seen = n.seen[:0] }

// of returns the number of a name, 0 for none.
func (n *names) of(name string) int64 {
	if name == "" {
		return 0
	}
	for i, s := range n.seen {
		if s == name {
			return int64(i + 1)
		}
	}
	n.seen = append(n.seen, name)
	return int64(len(n.seen))
}
