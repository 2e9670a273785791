package pages

import "github.com/redis-stream-coordinator/rsc/tools/dashboards/internal/board"

// messages shows records, page by page.
func messages() board.Dashboard {
	return board.Dashboard{
		UID: uidMessages, Title: "Redis Stream Coordinator / Messages",
		Description: "Records of one shard or of all, newest or oldest first. A record id finds one record; the last line leads to the next page.",
		Variables: variables(shardVariables(),
			board.Choice("direction", "Direction", "BACKWARD", "FORWARD"),
			board.Choice("limit", "Lines", "50", "10", "25", "100", "250", "500", "1000"),
			board.Input("recordId", "Record id"),
			board.Input("cursor", "Page")),
		Sections: []board.Section{{Title: "Records", Panels: []board.Panel{messageTable()}}},
	}
}

func messageTable() board.Panel {
	query := groupQuery() + "&shardIndex=" + board.Encoded(shardVariable) + "&direction=" + board.Encoded("direction") +
		"&limit=" + board.Encoded("limit") + "&recordId=" + board.Encoded("recordId") + "&cursor=" + board.Encoded("cursor")
	next := "/d/" + uidMessages + "?var-streamPrefix=" + board.Encoded(streamVariable) + "&var-consumerGroup=" + board.Encoded(groupVariable) +
		"&var-shardIndex=" + board.Encoded(shardVariable) + "&var-direction=${direction}&var-limit=${limit}&var-cursor=${__value.raw:percentencode}"
	return board.Table("Records", "Fields are cut at 64 kB and marked; what is no text is shown in base64. Clear Page to go back to the first.",
		board.Rows{Path: rowsPath + "/messages" + query, Columns: []board.Column{
			{Field: "recordTime", Title: "Time", Unit: board.Instant},
			{Field: "shardLabel", Title: "Shard", Unit: board.Text},
			{Field: "recordId", Title: "Record", Unit: board.Text},
			{Field: "fieldsJson", Title: "Fields", Unit: board.Text},
			{Field: "payload", Title: "Payload", Unit: board.Text, Empty: "none"},
			{Field: "streamKey", Title: "Key", Unit: board.Text},
			{Field: "pageTotalMessages", Title: "Records in all", Unit: board.Count},
			{Field: "pageNextCursor", Title: "Next page", Unit: board.Text, Empty: "-", Link: next},
		}}).Wide(24, 24)
}
