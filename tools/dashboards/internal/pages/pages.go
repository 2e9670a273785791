// Package pages holds the dashboards of the suite: what an operator looks at, from the whole
// down to one record. The names of metrics are those of docs/metrics.md, the fields of rows
// those of the monitoring API.
package pages

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/tools/dashboards/internal/board"
)

// The uids of the dashboards.
const (
	uidOverview  = "rsc-overview"
	uidStream    = "rsc-stream-detail"
	uidMembers   = "rsc-members"
	uidInternals = "rsc-internals"
	uidMessages  = "rsc-messages"
)

// All returns the dashboards.
func All() []board.Dashboard {
	return []board.Dashboard{overview(), streamDetail(), members(), internals(), messages()}
}

// The names of the variables, and what they select.
const (
	streamVariable = "streamPrefix"
	groupVariable  = "consumerGroup"
	shardVariable  = "shardIndex"

	ofGroup = `stream="$` + streamVariable + `", group="$` + groupVariable + `"`
	ofShard = ofGroup + `, shard=~"$` + shardVariable + `"`
)

// Paths of the API.
const (
	rowsPath    = "/coord/v1/monitoring/grafana"
	optionsPath = rowsPath + "/options"
)

// groupQuery names the chosen group in a query.
func groupQuery() string {
	return "?streamPrefix=" + board.Encoded(streamVariable) + "&consumerGroup=" + board.Encoded(groupVariable)
}

// groupVariables choose a stream and one of its groups.
func groupVariables() []board.Variable {
	return append(board.Sources(),
		board.Options(streamVariable, "Stream", optionsPath+"/streams"),
		board.Options(groupVariable, "Group", optionsPath+"/consumer-groups?streamPrefix="+board.Encoded(streamVariable)),
	)
}

// shardVariables choose shards too: one or all.
func shardVariables() []board.Variable {
	return append(groupVariables(), board.Options(shardVariable, "Shard", optionsPath+"/shards"+groupQuery()).AndAll(".*"))
}

// ask is a question with its legend.
func ask(expr, legend string) board.Ask { return board.Ask{Expr: expr, Legend: legend} }

func variables(some []board.Variable, more ...board.Variable) []board.Variable {
	return slices.Concat(some, more)
}
