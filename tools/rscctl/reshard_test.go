package main_test

import (
	"encoding/json"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// TestAnOperatorReshardsRollsBackAndRepairs goes through the life of a stream with the
// programs as they are shipped.
func TestAnOperatorReshardsRollsBackAndRepairs(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	require.Contains(t, o.succeeds("health"), "status:       UP\n")
	o.succeeds("streams", "create", "orders", "--shards", "2", "--group", "g", "--reason", "new")
	require.Contains(t, o.succeeds("streams", "list"), "orders   2        g        -\n")
	require.Contains(t, o.succeeds("shards", "orders"), "1       orders:1   yes         UNASSIGNED   -        -\n")

	o.succeeds("streams", "scale", "orders", "4", "--dry-run")
	require.Contains(t, o.succeeds("streams", "describe", "orders"), "shards:            2\n", "a plan changes nothing")
	require.Contains(t, o.succeeds("streams", "scale", "orders", "4", "--reason", "load", "--yes", "--watch"),
		"  2 -> 4 shards  DEPRECATED  2 of 2 done\n")
	require.Contains(t, o.succeeds("streams", "describe", "orders"), "shards:            4\n")

	// A record that nobody reads keeps the next one from its end.
	require.NoError(t, o.redis.Client(t).XAdd(t.Context(), &redis.XAddArgs{Stream: "orders:3", Values: []string{"a", "b"}}).Err())
	var begun protocol.StreamScaleResponse
	answer := o.succeeds("streams", "scale", "orders", "1", "--reason", "less", "--yes", "--output", "json")
	require.NoError(t, json.Unmarshal([]byte(answer), &begun))
	id := begun.Migrations[0].ReshardingID
	refused := o.does("streams", "scale", "orders", "3", "--reason", "more", "--yes")
	require.Equal(t, 1, refused.code)
	require.Contains(t, refused.err, "code: ACTIVE_MIGRATION_EXISTS\n")

	watch := o.interrupts("migrations", "watch", "orders")
	require.Equal(t, 1, watch.code)
	require.Contains(t, watch.err, "resharding "+id+" goes on")
	require.Contains(t, o.succeeds("migrations", "show", "orders"), "resharding:         "+id+"\n")
	require.Contains(t, o.succeeds("migrations", "rollback", "orders", "--reason", "wrong", "--yes", "--watch"), "ROLLED_BACK")
	require.Equal(t, 3, o.does("migrations", "watch", "orders", id).code)
	again := o.does("migrations", "rollback", "orders", id, "--reason", "wrong", "--yes")
	require.Equal(t, 1, again.code)
	require.Contains(t, again.err, "code: ROLLBACK_NOT_ALLOWED\n")

	require.Contains(t, o.succeeds("repair", "barrier", "orders", "--reason", "restored"), "grants nothing until")
	require.Contains(t, o.succeeds("repair", "barrier", "orders", "--close", "--yes", "--reason", "all stopped"), "has no barrier")
	require.Contains(t, o.succeeds("repair", "index", "--reason", "lists are short"), "Missing, added: -\n")
	require.Contains(t, o.succeeds("events", "orders", "g"), "by ann  \"restored\"")
	require.Contains(t, o.interrupts("events", "orders", "g", "--follow").out, "ADMIN  CREATE")

	o.succeeds("groups", "add", "orders", "second", "--reason", "new reader")
	require.Equal(t, 2, o.does("members", "orders").code, "the group has to be named")
	require.Contains(t, o.succeeds("members", "orders", "second"), "No members.")
	o.succeeds("groups", "delete", "orders", "second", "--reason", "gone", "--yes")
	o.succeeds("streams", "delete", "orders", "--delete-streams", "--reason", "gone", "--yes")
	require.Contains(t, o.succeeds("streams", "list"), "No streams yet.")
}
