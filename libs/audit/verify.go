package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// patience is how much older than the newest record of its chain an intent may be and still
// be under way. It is above all deadlines of a mutation together.
const patience = 2 * time.Minute

// Verify tells what is wrong with the records, given oldest first, each chain for itself in
// the order of appearance. head is that of one of the chains, nil where none is known; a
// head without records is a chain that lost all of them. What it cannot find is in the
// package comment; notes are told apart by Kind.Note.
func Verify(records []protocol.AuditRecord, head *protocol.AuditHead) []Finding {
	var order []string
	chains := make(map[string]*chain)
	of := func(name string) *chain {
		c, known := chains[name]
		if !known {
			c = &chain{name: name}
			chains[name], order = c, append(order, name)
		}
		return c
	}
	for _, record := range records {
		c := of(record.Chain)
		c.records = append(c.records, record)
	}
	if head != nil {
		of(head.Chain).head = head
	}
	var findings []Finding
	for _, name := range order {
		findings = append(findings, chains[name].verify()...)
	}
	return findings
}

// chain is one chain under examination.
type chain struct {
	name     string
	records  []protocol.AuditRecord // as they came, then sorted
	head     *protocol.AuditHead
	findings []Finding
}

func (c *chain) verify() []Finding {
	c.checkOrder()
	c.checkBegin()
	for i, record := range c.records {
		c.checkHash(record)
		if i > 0 {
			c.checkLink(c.records[i-1], record)
		}
	}
	c.checkEnd()
	c.checkIntents()
	return c.findings
}

// checkOrder finds records that stand behind later ones, and sorts.
func (c *chain) checkOrder() {
	var latest int64
	for i, record := range c.records {
		if i > 0 && record.Sequence < latest {
			c.found(Reordered, record.Sequence, "record %d stands behind record %d", record.Sequence, latest)
		}
		latest = max(latest, record.Sequence)
	}
	slices.SortStableFunc(c.records, func(a, b protocol.AuditRecord) int { return cmp.Compare(a.Sequence, b.Sequence) })
}

func (c *chain) checkBegin() {
	if len(c.records) == 0 {
		return
	}
	first := c.records[0]
	switch {
	case first.Sequence > 1:
		c.found(Anchor, first.Sequence, "the chain begins with record %d, behind one with hash %q: older ones were trimmed, or removed from the beginning",
			first.Sequence, first.PreviousHash)
	case first.Sequence == 1 && first.PreviousHash != "":
		c.found(Forged, 1, "record 1 has one before it")
	}
}

func (c *chain) checkHash(record protocol.AuditRecord) {
	if record.Sequence < 1 {
		c.found(Forged, record.Sequence, "record %d is none of a chain, which counts from 1", record.Sequence)
	}
	if hash, err := Hash(record); err != nil || hash != record.Hash {
		c.found(Changed, record.Sequence, "record %d was changed: its content has not its hash", record.Sequence)
	}
}

// checkLink compares a record with the one before it.
func (c *chain) checkLink(before, record protocol.AuditRecord) {
	switch missing := record.Sequence - before.Sequence - 1; {
	case missing < 0:
		c.found(Forged, record.Sequence, "there are two records %d", record.Sequence)
	case missing == 1:
		c.found(Missing, before.Sequence+1, "record %d is missing", before.Sequence+1)
	case missing > 1:
		c.found(Missing, before.Sequence+1, "records %d to %d are missing", before.Sequence+1, record.Sequence-1)
	case record.PreviousHash != before.Hash:
		c.found(Forged, record.Sequence, "record %d does not follow the record %d that is there: one of the two was replaced",
			record.Sequence, before.Sequence)
	}
}

// checkEnd compares the newest record with the head.
func (c *chain) checkEnd() {
	var last protocol.AuditRecord
	if len(c.records) > 0 {
		last = c.records[len(c.records)-1]
	}
	switch {
	case c.head == nil:
		c.found(EndUnknown, last.Sequence, "nothing tells whether records behind %d are missing", last.Sequence)
	case last.Sequence < c.head.Sequence:
		c.found(EndMissing, last.Sequence+1, "the chain ends with record %d, and had %d", last.Sequence, c.head.Sequence)
	case last.Sequence > c.head.Sequence:
		c.found(Forged, last.Sequence, "record %d is there, and the newest written was %d", last.Sequence, c.head.Sequence)
	case last.Hash != c.head.Hash:
		c.found(Forged, last.Sequence, "record %d is another one than was written", last.Sequence)
	}
}
