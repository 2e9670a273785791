package client_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestScaleAnswersOneReshardingForAllGroups(t *testing.T) {
	t.Parallel()
	c := coordinator(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"streamPrefix":"orders","targetShardCount":3,"affectedConsumerGroups":["a","b"],
			"migrations":[{"reshardingId":"R1","fromShardCount":8,"toShardCount":3,"state":"PREPARING","progress":null}]}`)
	}, client.Options{})
	target := 3
	scaled, err := c.Admin().Scale(t.Context(), "orders", protocol.ScaleRequest{
		TargetShardCount: &target, RequestedBy: "me", Reason: "less load",
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, scaled.AffectedConsumerGroups)
	require.Equal(t, protocol.MigrationPreparing, scaled.Migrations[0].State)
}

func TestAPlanCarriesTheRefusalThatTheChangeWouldMeet(t *testing.T) {
	t.Parallel()
	c := coordinator(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("dryRun") != "true" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, `{"action":"SCALE","streamPrefix":"orders","fromShardCount":8,"toShardCount":3,
			"shardsAdded":[],"shardsRemoved":[3,4,5,6,7],
			"groups":[{"consumerGroup":"a","moves":[{"memberId":"m1","gains":[0],"loses":[3]}]}],
			"refusal":{"errorCode":"ACTIVE_MIGRATION_EXISTS","message":"R1 is under way"},"warnings":["w"]}`)
	}, client.Options{})
	target := 3
	plan, err := c.Admin().PlanScale(t.Context(), "orders", protocol.ScaleRequest{TargetShardCount: &target})
	require.NoError(t, err)
	require.Equal(t, []int{3, 4, 5, 6, 7}, plan.ShardsRemoved)
	require.Equal(t, []int{3}, plan.Groups[0].Moves[0].Loses)
	require.Equal(t, protocol.CodeActiveMigrationExists, plan.Refusal.ErrorCode)
}
