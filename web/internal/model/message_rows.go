package model

import (
	"encoding/json"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// fieldsOf reads the fields of a flat row, which has them as a text of JSON. Where that is none,
// what it has besides is shown.
func fieldsOf(row protocol.GrafanaMessageRow) map[string]string {
	var fields map[string]string
	if err := json.Unmarshal([]byte(row.FieldsJSON), &fields); err == nil {
		return fields
	}
	if row.Payload != nil {
		return map[string]string{"payload": *row.Payload}
	}
	return nil
}
