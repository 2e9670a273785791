package model

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// requestedShown is how many bytes of one requested value a line shows, auditDetailShown how many
	// of a detail. The exports have all.
	requestedShown   = 60
	auditDetailShown = 160
)

// AuditLine is one record.
type AuditLine struct {
	At Stamp
	// Who has asked, with which roles; By is who that one says it was for, where it is another.
	Who, Roles, By string
	// What was asked for, of what; Address leads there and may be empty.
	What, Subject, Address string
	Requested              []string
	Reason                 string
	// Outcome says what became of it, Tone how much somebody should look, Status the code.
	Outcome, Tone, Status string
	RequestID, Client     string
	Details               []AuditFact
}

// AuditFact is a detail of a record.
type AuditFact struct{ Name, Value string }

func auditLine(record protocol.AuditRecord, root string) AuditLine {
	line := AuditLine{
		At: stampOf(record.Time), Who: cmp.Or(record.Principal, "nobody"), Roles: strings.Join(record.Roles, ", "),
		What: operationWords(record.Operation), Subject: names(record.StreamPrefix, record.ConsumerGroup, record.MemberID, record.ReshardingID),
		Requested: requestedOf(record.Requested), Reason: cut(record.Reason, reasonShown), Status: statusWords(record),
		RequestID: record.RequestID, Client: record.ClientAddress, Details: auditDetails(record),
	}
	if record.RequestedBy != record.Principal {
		line.By = record.RequestedBy
	}
	switch {
	case record.StreamPrefix == "" || record.ConsumerGroup == "":
	case record.ReshardingID != "":
		line.Address = MigrationPath(root, record.StreamPrefix, record.ConsumerGroup, record.ReshardingID)
	default:
		line.Address = GroupPath(root, record.StreamPrefix, record.ConsumerGroup, "")
	}
	line.Outcome, line.Tone = outcomeWords(auditOutcome(record))
	if record.Requested["dryRun"] == "true" { // only a plan was asked for, and nothing was changed
		line.What = "plan: " + line.What
		if auditOutcome(record) == string(protocol.AuditAllowed) {
			line.Outcome = "plan shown"
		}
	}
	if record.Kind == protocol.AuditReplay {
		line.Outcome += ", answered again"
	}
	return line
}

func requestedOf(values map[string]string) []string {
	shown := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		shown = append(shown, name+" = "+cut(values[name], requestedShown))
	}
	return shown
}

// statusWords is the status with the code; an intent has none yet, and nobody has taken 0.
func statusWords(record protocol.AuditRecord) string {
	switch {
	case record.Kind == protocol.AuditIntent:
		return ""
	case record.Status == 0:
		return "no answer taken"
	default:
		return strings.TrimSpace(strconv.Itoa(record.Status) + " " + record.ErrorCode)
	}
}

func auditDetails(record protocol.AuditRecord) []AuditFact {
	facts := []AuditFact{
		{"User agent", record.UserAgent},
		{"Route", strings.TrimSpace(record.Method + " " + record.Route)},
		{"Query", record.Query},
		{"Connected from", record.PeerAddress},
		{"Said to come from", record.ForwardedFor},
		{"Gateway", record.GatewayID},
		{"Coordinator", record.CoordinatorID},
		{"SHA-256 of the body", record.BodySHA256},
		{"Record", names(record.Chain, strconv.FormatInt(record.Sequence, 10))},
		{"Hash", record.Hash},
		{"Hash of the one before", record.PreviousHash},
	}
	if record.Kind != protocol.AuditIntent {
		facts = append([]AuditFact{{"Took", Duration(time.Duration(record.DurationMs) * time.Millisecond)}}, facts...)
	}
	facts = slices.DeleteFunc(facts, func(fact AuditFact) bool { return fact.Value == "" })
	for i := range facts {
		facts[i].Value = cut(facts[i].Value, auditDetailShown)
	}
	return facts
}

// auditOperations are the names of the operations that are recorded (gateway, Audit).
func auditOperations() []string {
	return []string{
		"CREATE_STREAM", "DELETE_STREAM", "SCALE_STREAM", "CREATE_GROUP", "DELETE_GROUP", "SCALE_GROUP", "ROLLBACK_MIGRATION",
		"CONFIRM_DRAIN", "SET_BARRIER", "FENCE_MEMBER", "REPAIR_INDEX",
	}
}

// operationWords says what an operation does.
func operationWords(operation string) string {
	switch operation {
	case "SCALE_STREAM", "SCALE_GROUP":
		return "change the shard count"
	case "ROLLBACK_MIGRATION":
		return "roll a resharding back"
	case "CONFIRM_DRAIN":
		return "confirm that a shard is drained"
	case "SET_BARRIER":
		return "open or close the barrier"
	case "FENCE_MEMBER":
		return "fence a member"
	case "REPAIR_INDEX":
		return "repair the index"
	case "":
		return Unknown
	default:
		return Words(operation)
	}
}

func auditOutcomes() []string {
	return []string{string(protocol.AuditAllowed), string(protocol.AuditRefused), string(protocol.AuditFailed), auditBegun}
}

// outcomeWords says what became of a request, and how much somebody should look.
func outcomeWords(outcome string) (text, tone string) {
	switch outcome {
	case string(protocol.AuditAllowed):
		return "carried out", "good"
	case string(protocol.AuditRefused):
		return "refused", "warn"
	case string(protocol.AuditFailed):
		return "not known", "bad"
	case auditBegun:
		return "begun", "busy"
	case "":
		return "no record", "bad"
	default:
		return Words(outcome), "warn"
	}
}
