package model

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// csvLineEnd is what ends a line (RFC 4180).
const csvLineEnd = "\r\n"

// AuditCSVHead is the first line of an export: the names of the columns, those of the API's fields.
func AuditCSVHead() []byte {
	return csvLine([]string{
		"time", "principal", "roles", "requestedBy", "operation", "streamPrefix", "consumerGroup", "memberId", "reshardingId",
		"requested", "reason", "kind", "result", "status", "errorCode", "durationMs", "requestId", "clientAddress", "peerAddress",
		"forwardedFor", "userAgent", "method", "route", "query", "bodySha256", "coordinatorId", "intended", "gatewayId",
		"chain", "sequence", "previousHash", "hash",
	})
}

// AuditCSV is a record as a line. A status that is not known is empty.
func AuditCSV(record protocol.AuditRecord) []byte {
	requested := ""
	if len(record.Requested) > 0 {
		text, _ := json.Marshal(record.Requested) // texts only: it cannot fail
		requested = string(text)
	}
	status, took := "", ""
	if record.Status != 0 {
		status = strconv.Itoa(record.Status)
	}
	if record.Kind != protocol.AuditIntent {
		took = strconv.FormatInt(record.DurationMs, 10)
	}
	return csvLine([]string{
		record.Time.UTC().Format(time.RFC3339Nano), record.Principal, strings.Join(record.Roles, " "), record.RequestedBy,
		record.Operation, record.StreamPrefix, record.ConsumerGroup, record.MemberID, record.ReshardingID,
		requested, record.Reason, string(record.Kind), string(record.Result), status, record.ErrorCode, took,
		record.RequestID, record.ClientAddress, record.PeerAddress, record.ForwardedFor, record.UserAgent, record.Method, record.Route,
		record.Query, record.BodySHA256, record.CoordinatorID, strconv.FormatBool(record.Intended), record.GatewayID,
		record.Chain, strconv.FormatInt(record.Sequence, 10), record.PreviousHash, record.Hash,
	})
}

// csvLine writes cells so that no program reads one as a formula, or as more than one.
func csvLine(cells []string) []byte {
	var line []byte
	for i, cell := range cells {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, csvCell(cell)...)
	}
	return append(line, csvLineEnd...)
}

// csvCell quotes where that is needed. What a spreadsheet would take for a formula gets an
// apostrophe in front: who asks for a change chooses texts that others open (reliability, Console).
func csvCell(text string) string {
	if text == "" {
		return ""
	}
	if first, _ := utf8.DecodeRuneInString(text); strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		text = "'" + text
	}
	if strings.ContainsAny(text, "\",;\r\n\t ") {
		text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}

// ExportEnd is why an export ends before the last record.
type ExportEnd struct {
	// Incomplete is true: it tells this line from a record.
	Incomplete bool `json:"incomplete"`
	// Records are those that were written.
	Records int    `json:"records"`
	Why     string `json:"why"`
	// Continue is the address of the rest.
	Continue string `json:"continue"`
}

// NewExportEnd makes the last line of an export of a query that ended before a cursor.
func NewExportEnd(query AuditQuery, records int, why, root, ending, cursor string) ExportEnd {
	return ExportEnd{
		Incomplete: true, Records: records, Why: why,
		Continue: withQuery(root+auditPath+"."+ending, append(query.pairs(), "cursor", cursor)...),
	}
}

// CSV is the line of an export as CSV: one cell, which begins with a #.
func (e ExportEnd) CSV() []byte {
	return csvLine([]string{"# Incomplete after " + strconv.Itoa(e.Records) + " records: " + e.Why + ". The rest is at " + e.Continue})
}
