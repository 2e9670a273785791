// Package ledger is the evidence of a replay: append-only files in which each process
// writes what it does, at the moment it does it.
//
// A file belongs to one process, a publisher or a consumer. Every line is one Entry as
// JSON and is written with one system call, so what a process has written survives its
// SIGKILL; the last line may be torn, and readers leave it out. Times are those of a clock
// that all processes of the host share.
package ledger

import (
	"hash/fnv"
	"strconv"
)

// Kind says what an Entry is about.
type Kind string

// The kinds of entries.
const (
	// Open is the first entry of a file. Close is the last; a process that was killed
	// leaves none.
	Open  Kind = "open"
	Close Kind = "close"

	// Intent is written before a record is published, and one of the next three after:
	// Redis has it, it is not known whether Redis has it, Redis does not have it. A record
	// that is published again has a further intent.
	Intent  Kind = "intent"
	Acked   Kind = "ack"
	Unknown Kind = "unknown"
	Refused Kind = "refused"

	// Start and End enclose a handling. A handling that failed has no end.
	Start Kind = "start"
	End   Kind = "end"
)

// Role is what a process does.
type Role string

// The roles.
const (
	Publisher Role = "publisher"
	Consumer  Role = "consumer"
)

// Entry is one line of a ledger. Which fields are set depends on the kind; what is absent
// is zero.
type Entry struct {
	Kind Kind `json:"kind"`
	// Mono is the time in nanoseconds on the monotonic clock of the host, Wall that of the
	// calendar since 1970. They are filled in by Writer.Append.
	Mono int64 `json:"mono"`
	Wall int64 `json:"wall"`

	// Role, Incarnation (a ULID), Member and PID are those of the process; of Open.
	Role        Role   `json:"role,omitempty"`
	Incarnation string `json:"incarnation,omitempty"`
	Member      string `json:"member,omitempty"`
	PID         int    `json:"pid,omitempty"`
	// Error is why a process ended, or what a publication failed with; Cause says the
	// latter in a word.
	Error string `json:"error,omitempty"`
	Cause string `json:"cause,omitempty"`

	// Seq is the number of the record in its source, Key and Sum are the hashes of its key
	// and its data (Hash).
	Seq int64  `json:"seq,omitempty"`
	Key string `json:"key,omitempty"`
	Sum string `json:"sum,omitempty"`
	// Shard and ID say where the record is.
	Shard int    `json:"shard"`
	ID    string `json:"id,omitempty"`
	// Version is that of the routing by which an acknowledged record found its shard.
	Version int64 `json:"version,omitempty"`
	// Fence is the token of the ownership under which the record was handled.
	Fence int64 `json:"fence,omitempty"`
}

// Hash returns the short form in which ledgers keep keys and data: FNV-1a, 64 bits.
func Hash(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return strconv.FormatUint(h.Sum64(), 16)
}
