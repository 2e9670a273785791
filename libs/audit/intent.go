package audit

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// request tells requests apart. Callers choose request ids and may use one again; the
// oldest intent is then the first to have its outcome.
type request struct{ id, gateway, operation, principal string }

// checkIntents finds intents that have no outcome (C8). An outcome of a request that was
// never sent closes none, but where the sink did not answer in time: it may have written
// the intent all the same, and the gateway then refused.
func (c *chain) checkIntents() {
	open := make(map[request][]protocol.AuditRecord)
	var newest time.Time
	for _, record := range c.records {
		if record.Time.After(newest) {
			newest = record.Time.Time
		}
		of := request{record.RequestID, record.GatewayID, record.Operation, record.Principal}
		switch {
		case record.Kind == protocol.AuditIntent:
			open[of] = append(open[of], record)
		case record.Kind == protocol.AuditOutcome && (record.Intended || unwritten(record)) && len(open[of]) > 0:
			open[of] = open[of][1:]
		}
	}
	for _, record := range c.records { // in their order, not the map's
		of := request{record.RequestID, record.GatewayID, record.Operation, record.Principal}
		if record.Kind != protocol.AuditIntent || len(open[of]) == 0 || open[of][0].Sequence != record.Sequence {
			continue
		}
		open[of] = open[of][1:]
		if newest.Sub(record.Time.Time) <= patience {
			c.found(UnderWay, record.Sequence, "record %d, %s of request %q, has no outcome and is among the newest: it may still be under way",
				record.Sequence, record.Operation, record.RequestID)
			continue
		}
		c.found(NoOutcome, record.Sequence, "record %d, %s of request %q, was sent and has no outcome: look whether it was carried out",
			record.Sequence, record.Operation, record.RequestID)
	}
}

// unwritten tells that a request was not sent because its intent could not be written, as
// far as the gateway knew.
func unwritten(record protocol.AuditRecord) bool {
	return record.ErrorCode == string(protocol.CodeAuditUnavailable)
}
