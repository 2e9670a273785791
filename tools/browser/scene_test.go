package browser_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// resharding starts one and returns the path of its page.
func (s *suite) resharding(t *testing.T, stream string, to int) string {
	t.Helper()
	answer, err := s.admin.Scale(t.Context(), stream, protocol.ScaleRequest{TargetShardCount: &to, RequestedBy: "browser", Reason: "more readers"})
	require.NoError(t, err)
	require.NotEmpty(t, answer.Migrations)
	one := answer.Migrations[0]
	return "/streams/" + stream + "/groups/" + answer.AffectedConsumerGroups[0] + "/migrations/" + one.ReshardingID
}
