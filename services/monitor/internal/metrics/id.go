package metrics

import (
	"strconv"
	"strings"
)

// idParts returns the two parts of a record id as numbers, -1 for none and for what is no id.
func idParts(id *string) (ms, seq float64) {
	if id == nil {
		return -1, -1
	}
	before, after, found := strings.Cut(*id, "-")
	first, err := strconv.ParseUint(before, 10, 64)
	second, err2 := strconv.ParseUint(after, 10, 64)
	if !found || err != nil || err2 != nil {
		return -1, -1
	}
	return float64(first), float64(second)
}

// idFamily is a record id as two metrics.
type idFamily struct{ ms, seq family }

// id makes the two metrics of a record id.
func (f *families) id(name, of string, labels ...string) idFamily {
	return idFamily{
		ms:  f.gauge(name+"_ms", "Milliseconds in the id of "+of+", -1 without one.", labels...),
		seq: f.gauge(name+"_seq", "Sequence number in the id of "+of+", -1 without one.", labels...),
	}
}

func (s scrape) id(f idFamily, id *string, labels ...string) {
	ms, seq := idParts(id)
	s.put(f.ms, ms, labels...)
	s.put(f.seq, seq, labels...)
}
