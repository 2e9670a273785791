// Package proof finds out from ledgers whether a replay kept what the suite promises. It
// takes values and returns values; the numbers C1 to C6 are those of the reliability
// design.
package proof

import "time"

// Report is what the ledgers show.
type Report struct {
	// Records were meant to be published; Published of them are acknowledged by Redis.
	Records   int64 `json:"records"`
	Published int64 `json:"published"`
	// Uncertain counts publications of which it is not known whether Redis has the record,
	// Refused those that Redis does not have. The records were published again.
	// Causes counts both by what they failed with.
	Uncertain int64            `json:"uncertain"`
	Refused   int64            `json:"refused"`
	Causes    map[string]int64 `json:"causes,omitempty"`

	// Handled is how many different records were handled to the end, Handlings how many
	// handlings began.
	Handled   int64 `json:"handled"`
	Handlings int64 `json:"handlings"`
	// Duplicates are the handlings of a record after its first (C5).
	Duplicates Duplicates `json:"duplicates"`

	// Lost counts published records that nobody handled to the end (C1).
	Lost int64 `json:"lost"`
	// Strangers counts handled records that nobody published (C2), Altered handled records
	// that are not what was published.
	Strangers int64 `json:"strangers"`
	Altered   int64 `json:"altered"`
	// Keys counts the keys of handled records. For OutOfOrderKeys of them the records were
	// not handled first in the order in which they were published (C6); the records of each
	// publisher by themselves.
	Keys           int64 `json:"keys"`
	OutOfOrderKeys int64 `json:"outOfOrderKeys"`
	// Resharded tells that the shard count was changed meanwhile, so that the order of keys
	// is counted and not promised.
	Resharded bool `json:"resharded,omitempty"`
	// DoubleReaders counts the times that two owners handled records of one shard at the
	// same time (C4), StaleTokens the times that a later owner had no higher fence token.
	// The record that a killed process had in hand counts as ended with it.
	DoubleReaders int64 `json:"doubleReaders"`
	StaleTokens   int64 `json:"staleTokens"`

	// Consumers is how many consumer processes there were; Killed of them did not end in
	// good order. Moves counts changes of the owner of a shard.
	Consumers int64 `json:"consumers"`
	Killed    int64 `json:"killed"`
	Moves     int64 `json:"moves"`

	// Seconds is the time from the first publication to the end of the last first handling.
	Seconds          float64 `json:"seconds"`
	RecordsPerSecond float64 `json:"recordsPerSecond"`
	// Faults says what is wrong, one sentence for each of the first few of a kind.
	Faults []string `json:"faults"`
}

// Duplicates counts handlings after the first by why they came about.
type Duplicates struct {
	Total int64 `json:"total"`
	// Republished came from a publication that was repeated after an uncertain one.
	Republished int64 `json:"republished"`
	// Killed came from a process that was killed before it had acknowledged the record.
	Killed int64 `json:"killed"`
	// Other came from a lease that ran out, an acknowledgement that got lost, or a handler
	// that failed.
	Other int64 `json:"other"`
}

// Holds tells whether the proof holds: everything that was to be published was, none of it
// was lost, altered or made up, every key is in order, and no shard had two readers.
// Duplicates do not break it, nor does the order of keys when the shard count was changed.
func (r *Report) Holds() bool {
	return r.Published == r.Records && r.Handled >= r.Published && (r.Resharded || r.OutOfOrderKeys == 0) &&
		r.Lost+r.Strangers+r.Altered+r.DoubleReaders+r.StaleTokens == 0
}

func (r *Report) measure(first, last int64) {
	if last <= first {
		return
	}
	r.Seconds = time.Duration(last - first).Seconds()
	r.RecordsPerSecond = float64(r.Handled) / r.Seconds
}
