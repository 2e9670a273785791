package model

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// AuditShown is how many records one page of the audit shows. Each may have long texts.
const AuditShown = 50

const (
	// auditPath is the audit's page below the console's root; its exports are auditPath with
	// their endings.
	auditPath = "/audit"
	// inputTime is how a browser's field for a time writes it; the console reads it as UTC.
	inputTime = "2006-01-02T15:04:05"
	// auditBegun is the outcome of an intent, beside those of protocol.AuditResult.
	auditBegun = "BEGUN"
)

// AuditQuery is which records of the audit are looked for. It is read from the page's query.
type AuditQuery struct {
	Stream, Group, Principal string
	// From and To bound the time; they are as they were typed, in UTC.
	From, To string
	// Operation and Outcome are conditions that the API does not know.
	Operation, Outcome string
	// Cursor is where the page begins; empty is at the newest record.
	Cursor string
}

// Times returns the bounds of the time; zero is none. Refusal says what is wrong with one.
func (q AuditQuery) Times() (from, to time.Time, refusal *Refusal) {
	from, good := timeTyped(q.From)
	if !good {
		return from, to, noTime("From", q.From)
	}
	if to, good = timeTyped(q.To); !good {
		return from, to, noTime("To", q.To)
	}
	return from, to, nil
}

func noTime(name, text string) *Refusal {
	return &Refusal{
		Text:   name + " is no time: " + strconv.Quote(cut(text, idShown)) + ".",
		Advice: "Write it as in 2026-01-02T03:04:05, in UTC, or leave it empty.",
	}
}

// timeTyped reads what was typed as a time in UTC, or with its zone; empty is none.
func timeTyped(text string) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	for _, layout := range []string{"2006-01-02T15:04", inputTime, time.RFC3339} { // seconds may have parts
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// Narrowed tells whether there are conditions that the API does not know.
func (q AuditQuery) Narrowed() bool { return q.Operation != "" || q.Outcome != "" }

// empty tells whether there is no condition.
func (q AuditQuery) empty() bool {
	q.Cursor = ""
	return q == AuditQuery{}
}

// Takes tells whether a record meets the conditions that the API does not know.
func (q AuditQuery) Takes(record protocol.AuditRecord) bool {
	return (q.Operation == "" || q.Operation == record.Operation) && (q.Outcome == "" || q.Outcome == auditOutcome(record))
}

func auditOutcome(record protocol.AuditRecord) string {
	if record.Kind == protocol.AuditIntent {
		return auditBegun
	}
	return string(record.Result)
}

// pairs is the query of an address, without the cursor.
func (q AuditQuery) pairs() []string {
	return []string{
		"stream", q.Stream, "group", q.Group, "principal", q.Principal, "operation", q.Operation, "outcome", q.Outcome,
		"from", q.From, "to", q.To,
	}
}

// AuditFound is what the API has answered for a page.
type AuditFound struct {
	// Records are those that meet all conditions, newest first.
	Records []protocol.AuditRecord
	// Seen is how many were looked through for them.
	Seen int
	// Next is the cursor of the next, older page; empty at the end.
	Next string
	Head *protocol.AuditHead
	// Newest is the first record that was seen; nil for none.
	Newest *protocol.AuditRecord
}

// Audit is a page of the audit.
type Audit struct {
	Query AuditQuery
	// From and To are the times as a browser's field takes them.
	From, To   string
	Operations []Choice
	Outcomes   []Choice
	// Refusal says why nothing is shown; nil where something is.
	Refusal *Refusal
	// Elsewhere tells that the audit goes to a log, which cannot be asked.
	Elsewhere bool
	Lines     []AuditLine
	// Note says how much was looked through; empty where that is clear.
	Note string
	// Empty says why there are no lines.
	Empty string
	// Newest and Older are addresses; empty where there is nothing.
	Newest, Older string
	CSV, NDJSON   string
	Chain         *AuditChain
}

// Choice is one of a list to choose from.
type Choice struct {
	Value, Text string
	Chosen      bool
}

// AuditChain is what the sink says of its chain of hashes.
type AuditChain struct {
	Name, Sequence, Hash string
	// Broken tells that the newest record is not the one that the chain should end with.
	Broken bool
}

// NewAudit makes the page of a query, without records.
func NewAudit(query AuditQuery, root string) Audit {
	page := Audit{
		Query: query, From: inputOf(query.From), To: inputOf(query.To),
		CSV: withQuery(root+auditPath+".csv", query.pairs()...), NDJSON: withQuery(root+auditPath+".ndjson", query.pairs()...),
		Operations: choices(auditOperations(), query.Operation, operationWords),
		Outcomes:   choices(auditOutcomes(), query.Outcome, func(outcome string) string { text, _ := outcomeWords(outcome); return text }),
	}
	if query.Cursor != "" {
		page.Newest = withQuery(root+auditPath, query.pairs()...)
	}
	return page
}

// inputOf writes a time as a browser's field takes it. What is none stays as it is.
func inputOf(text string) string {
	at, is := timeTyped(text)
	if !is || text == "" {
		return text
	}
	return at.Format(inputTime)
}

// choices makes a list to choose from; one that was chosen and is not in it is added.
func choices(values []string, chosen string, words func(string) string) []Choice {
	if chosen != "" && !slices.Contains(values, chosen) {
		values = append(values, chosen)
	}
	made := make([]Choice, 0, len(values))
	for _, value := range values {
		made = append(made, Choice{value, words(value), value == chosen})
	}
	return made
}

// With adds what was found.
func (a Audit) With(found AuditFound, root string) Audit {
	for _, record := range found.Records {
		a.Lines = append(a.Lines, auditLine(record, root))
	}
	if found.Next != "" {
		a.Older = withQuery(root+auditPath, append(a.Query.pairs(), "cursor", found.Next)...)
	}
	if a.Query.Narrowed() {
		a.Note = "Operation and outcome are conditions of this page: " + plural(found.Seen, "record", "looked through for it, ") +
			Count(int64(len(found.Records))) + " fit."
	}
	switch {
	case len(found.Records) > 0:
	case found.Next != "":
		a.Empty = "None among the records that were looked through for this page; older ones may follow."
	case a.Query.Cursor != "":
		a.Empty = "There are no older records."
	case a.Query.empty():
		a.Empty = "Nobody has asked for a change yet, or what was recorded is about streams that you may not see."
	default:
		a.Empty = "No record fits."
	}
	a.Chain = chainOf(found)
	return a
}

func chainOf(found AuditFound) *AuditChain {
	if found.Head == nil {
		return nil
	}
	chain := &AuditChain{Name: found.Head.Chain, Sequence: Count(found.Head.Sequence), Hash: cmp.Or(found.Head.Hash, Unknown)}
	if found.Newest == nil {
		chain.Broken = found.Head.Sequence != 0
	} else {
		chain.Broken = found.Newest.Sequence != found.Head.Sequence || found.Newest.Hash != found.Head.Hash
	}
	return chain
}

// Refused returns the page that says why nothing is shown.
func (a Audit) Refused(refusal *Refusal) Audit {
	if protocol.Code(refusal.Code) == protocol.CodeRedisNotConfigured {
		a.Elsewhere = true
		return a
	}
	a.Refusal = refusal
	return a
}

// AuditRefusal says what can be done about a refusal of the audit.
func AuditRefusal(code protocol.Code, message string) *Refusal {
	refusal := &Refusal{Code: string(code), Text: message}
	switch {
	case code == protocol.CodeForbidden:
		refusal.Advice = "Leave the stream empty: then the records of all streams are shown that you may see. For others ask whoever administers the gateway."
	case code == protocol.CodeInvalidRequest:
		refusal.Advice = "Change the conditions, or begin at the newest record again."
	case protocol.FaultOf(code).Retriable:
		refusal.Advice = "Try again in a few seconds; the system page shows which part does not answer."
	}
	return refusal
}

// names joins those that are not empty.
func names(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " / ")
}
