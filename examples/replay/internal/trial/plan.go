package trial

import (
	"cmp"
	"slices"
)

// event is something that happens to the consumers during a replay.
type event int

const (
	kill event = iota // one is killed, and another one started
	join              // one more is started
)

// moment is an event with the number of handled records at which it is due.
type moment struct {
	at    int64
	event event
}

// plan spreads the events over a replay: of n of a kind the i-th comes after i/(n+1) of the
// records, and joins come a bit later than that, in the unrest that a kill has left.
func plan(kills, joins int, records int64) []moment {
	moments := make([]moment, 0, kills+joins)
	for i := range int64(kills) {
		moments = append(moments, moment{at: records * (i + 1) / int64(kills+1), event: kill})
	}
	for i := range int64(joins) {
		moments = append(moments, moment{at: records*(i+1)/int64(joins+1) + records/20, event: join})
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return moments
}
