package explore

import "slices"

// ranks gives numbers that are only ever compared a canonical form: their place in the order
// of all that occur. Numbers above base, from which new ones will be drawn, keep their
// distance to it, or where they are far from it, after the jump of a correction round, to the
// lowest of those that are near them: how far a jump goes depends on the time alone, and none
// is met again. Numbers up to 0 have a meaning of their own and are kept.
type ranks struct {
	base   int64
	values []int64 // up to base
	above  []int64 // above base
}

// far is the least that a jump goes.
const far = 1 << 20

func (r *ranks) reset(base int64) {
	r.base, r.values, r.above = base, r.values[:0], r.above[:0]
}

func (r *ranks) add(v int64) {
	switch {
	case v <= 0:
	case v <= r.base:
		r.values = append(r.values, v)
	default:
		r.above = append(r.above, v)
	}
}

func (r *ranks) sort() {
	slices.Sort(r.values)
	r.values = slices.Compact(r.values)
	slices.Sort(r.above)
	r.above = slices.Compact(r.above)
}

func (r *ranks) of(v int64) int64 {
	if v <= 0 {
		return v
	}
	if v <= r.base {
		i, _ := slices.BinarySearch(r.values, v)
		return int64(i-len(r.values)) - 3 // below the numbers with a meaning
	}
	start, last, jumps := r.base, r.base, int64(0)
	for _, u := range r.above {
		if u > v {
			break
		}
		if u-last >= far/2 {
			start, jumps = u, jumps+1
		}
		last = u
	}
	return jumps*far + v - start
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
