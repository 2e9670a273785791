package httpapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// planned are the calls of the mutations that answer a plan (protocol L11).
func planned() map[string]string {
	return map[string]string{
		"create stream": "PlanCreateStream orders",
		"create group":  "PlanCreateGroup orders billing",
		"delete stream": "PlanDeleteStream orders",
		"delete group":  "PlanDeleteGroup orders billing",
		"scale stream":  "PlanScale orders",
		"scale group":   "Group orders billing, PlanScale orders",
		"rollback":      "PlanRollback orders billing r1",
	}
}

func TestADryRunAnswersThePlanAndDoesNothing(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	a.plan = protocol.Plan{
		Action: protocol.PlanScale, StreamPrefix: "orders", FromShardCount: 2, ToShardCount: 3, ShardsAdded: []int{2},
		Groups: []protocol.GroupPlan{{ConsumerGroup: "billing", Moves: []protocol.MemberMove{{MemberID: "m-1", Gains: []int{2}}}}},
	}
	const want = `{"action":"SCALE","streamPrefix":"orders","fromShardCount":2,"toShardCount":3,"shardsAdded":[2],"shardsRemoved":[],
		"groups":[{"consumerGroup":"billing","moves":[{"memberId":"m-1","gains":[2],"loses":[]}]}],"refusal":null,"warnings":[]}`
	for endpoint, call := range planned() {
		taker := mutations()[endpoint]
		for _, query := range []string{"?dryRun=true", "?x=1&dryRun=true", "?dryRu%6E=%74rue"} {
			got := a.call(t, taker.method, taker.target+query, taker.body)
			require.Equalf(t, 200, got.status, "%s: %s", endpoint, got.body)
			require.JSONEq(t, want, string(got.body), endpoint)
			require.Equal(t, call, strings.Join(a.seen(), ", "))
			a.forget()
		}
	}
}

func TestTheRequestOfADryRunIsCheckedAsThatOfTheMutation(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	for name, test := range badMembers() {
		for _, endpoint := range test.endpoints {
			taker := mutations()[endpoint]
			got := a.call(t, taker.method, taker.target+"?dryRun=true", set(t, taker.body, test.member, test.value))
			require.Equalf(t, 400, got.status, "%s %s: %s", endpoint, name, got.body)
		}
	}
	for endpoint := range planned() {
		taker := mutations()[endpoint]
		got := a.call(t, taker.method, taker.target+"?dryRun=true", "")
		requireRefusal(t, got, 400, protocol.CodeInvalidRequest, "")
	}
	require.Empty(t, a.seen())
}

// A plan that cannot be made is refused as a mutation would be, with no answer beside it.
func TestAPlanThatCannotBeMadeIsRefused(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	a.reject = protocol.Errorf(protocol.CodeStoreUnavailable, "away")
	for endpoint := range planned() {
		taker := mutations()[endpoint]
		got := a.call(t, taker.method, taker.target+"?dryRun=true", taker.body)
		requireRefusal(t, got, 503, protocol.CodeStoreUnavailable, "")
	}
}

func TestADryRunNeverBecomesARealOne(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	for endpoint, taker := range mutations() {
		unclear := []string{
			"dryRun", "dryRun=", "dryRun=1", "dryRun=TRUE", "dryRun=yes", "dryRun=true%00", "dryRun=+true", "dryRun=false&dryRun=true",
			"dryRun=true&dryRun=true", "dryRun=true;x=1", "x=%zz&dryRun=true", "dryrun=true", "DRYRUN=true", "DryRun=false",
		}
		if _, offered := planned()[endpoint]; !offered {
			unclear = append(unclear, "dryRun=true")
		}
		for _, query := range unclear {
			got := a.call(t, taker.method, taker.target+"?"+query, taker.body)
			requireRefusal(t, got, 400, protocol.CodeInvalidRequest, "")
		}
		require.Empty(t, a.seen())
		require.Less(t, a.call(t, taker.method, taker.target+"?dryRun=false&other=1", taker.body).status, 300)
		require.NotContains(t, strings.Join(a.seen(), ", "), "Plan", "dryRun=false is the mutation itself")
		a.forget()
	}
}
