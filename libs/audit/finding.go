package audit

import "fmt"

// Kind is what a finding is about.
type Kind string

// The kinds of faults.
const (
	// Changed is a record whose content does not have its hash.
	Changed Kind = "CHANGED"
	// Missing is a gap: records of a chain that are not there.
	Missing Kind = "MISSING"
	// Reordered is a record that does not stand at its place.
	Reordered Kind = "REORDERED"
	// Forged is a record that is whole and is not part of the chain: the one before it, or
	// the head, has another hash; or a second one has its number.
	Forged Kind = "FORGED"
	// EndMissing is a chain that ends before its head.
	EndMissing Kind = "END_MISSING"
	// NoOutcome is a mutation that was sent and of which nothing tells how it ended.
	NoOutcome Kind = "NO_OUTCOME"
)

// The kinds of notes, which are no faults and which the reader has to judge.
const (
	// UnderWay is an intent without an outcome among the newest records.
	UnderWay Kind = "UNDER_WAY"
	// Anchor tells with which record a chain begins whose older ones are not there.
	Anchor Kind = "ANCHOR"
	// EndUnknown tells that nothing says where a chain ends.
	EndUnknown Kind = "END_UNKNOWN"
	// Unreadable is a line of a log that is not whole. Where it took a record with it, that
	// one is missing as well.
	Unreadable Kind = "UNREADABLE"
)

// Note tells that findings of this kind are no faults.
func (k Kind) Note() bool {
	return k == UnderWay || k == Anchor || k == EndUnknown || k == Unreadable
}

// Finding is something that Verify found.
type Finding struct {
	Kind Kind `json:"kind"`
	// Sequence is the record that it is about; of a gap the first that is missing.
	Sequence int64  `json:"sequence"`
	Chain    string `json:"chain"`
	// Text tells it to people.
	Text string `json:"text"`
}

func (c *chain) found(kind Kind, sequence int64, format string, args ...any) {
	c.findings = append(c.findings, Finding{Kind: kind, Sequence: sequence, Chain: c.name, Text: fmt.Sprintf(format, args...)})
}
