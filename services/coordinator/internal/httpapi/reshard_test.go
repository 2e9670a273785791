package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Reliability section 4, Admin, rollback of an unknown id: one that no resharding can
// have is answered as any other unknown one, and asks nobody.
func TestAnIDThatNoReshardingCanHaveIsUnknown(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	ids := []string{
		"a.b", "a_b", "a:b", "%20", "r1%20", "r1%00x", "r1%0A", "a%20b", "*", "%7B%7D", "r1'", "%F0%9F%98%80", "%FF", "..r1", "$",
		strings.Repeat("r", 65), strings.Repeat("r", 8<<10), "1e400+",
	}
	for _, id := range ids {
		for _, at := range reshardingPlaces(id) {
			got := a.call(t, at.method, at.target, at.body)
			if strings.Contains(id, "%00") { // no path has it
				requireRefusal(t, got, 400, protocol.CodeInvalidRequest, id)
				continue
			}
			requireRefusal(t, got, 404, protocol.CodeMigrationNotFound, id)
		}
	}
	require.Empty(t, a.seen())
	for _, id := range []string{"noop", "01JDVY7W3N0Q6Z1X5R8T2M4K9P", "x-1", strings.Repeat("r", 64), "0", "-"} {
		for _, at := range reshardingPlaces(id) {
			require.Lessf(t, a.call(t, at.method, at.target, at.body).status, 300, "%s", at.target)
			seen := a.seen()
			require.Equal(t, id, seen[len(seen)-1][strings.LastIndex(seen[len(seen)-1], " ")+1:])
		}
	}
}

func reshardingPlaces(id string) []taker {
	target := billing + "/migrations/" + id
	return []taker{
		{"GET", target, ""},
		{"POST", target + "/rollback", goodCause},
		{"POST", target + "/rollback?dryRun=true", goodCause},
		{"POST", target + "/confirm-drain", with(goodCause, `"shardIndex":1`)},
	}
}

func TestAScaleByTheNameOfAnUnknownGroupIsRefused(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	a.reject = protocol.Errorf(protocol.CodeGroupNotFound, "there is no such group")
	scale := mutations()["scale group"]
	for _, query := range []string{"", "?dryRun=true"} {
		got := a.call(t, scale.method, scale.target+query, scale.body)
		requireRefusal(t, got, 404, protocol.CodeGroupNotFound, "")
	}
	require.Equal(t, []string{"Group orders billing", "Group orders billing"}, a.seen(), "nothing was scaled")
}

// The two endpoints of a scale answer the same resharding (L1), also the one that stands
// for a scale to the present count.
func TestAScaleOfAGroupAnswersTheReshardingOfItsStream(t *testing.T) {
	t.Parallel()
	a, at := startAPI(t), protocol.AtMillis(0)
	for _, id := range []string{"01JDVY7W3N0Q6Z1X5R8T2M4K9P", protocol.NoopReshardingID} {
		a.scaled = protocol.StreamScaleResponse{
			StreamPrefix: "orders", TargetShardCount: 3, AffectedConsumerGroups: []string{"billing", "audit"},
			Migrations: []protocol.Migration{{ReshardingID: id, FromShardCount: 1, ToShardCount: 3, State: protocol.MigrationPreparing, CreatedAt: at, UpdatedAt: at}},
		}
		migration := fmt.Sprintf(`{"reshardingId":%q,"fromShardCount":1,"toShardCount":3,"state":"PREPARING",
			"createdAt":"1970-01-01T00:00:00.000Z","updatedAt":"1970-01-01T00:00:00.000Z",
			"requestedBy":null,"reason":null,"rollbackAllowed":false,"progress":null}`, id)
		scale := mutations()["scale group"]
		got := a.call(t, scale.method, scale.target, scale.body)
		require.Equal(t, 202, got.status)
		require.JSONEq(t, migration, string(got.body))
		scale = mutations()["scale stream"]
		got = a.call(t, scale.method, scale.target, scale.body)
		require.Equal(t, 202, got.status)
		require.JSONEq(t, `{"streamPrefix":"orders","targetShardCount":3,"affectedConsumerGroups":["billing","audit"],"migrations":[`+
			migration+`]}`, string(got.body))
	}
	a.scaled = protocol.StreamScaleResponse{}
	scale := mutations()["scale group"]
	requireRefusal(t, a.call(t, scale.method, scale.target, scale.body), 500, protocol.CodeInternal, "")
}
