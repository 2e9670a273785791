package cli

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const signed = `"requestedBy":"ann","reason":"r"`

func TestChangesSendWhatTheLineSays(t *testing.T) {
	t.Parallel()
	group := ordersGroup()
	barred := group
	barred.BarrierUntil = nil
	gone := protocol.Plan{Action: protocol.PlanDelete, StreamPrefix: "orders", FromShardCount: 4, ShardsRemoved: []int{0, 1, 2, 3}}
	for line, one := range map[string]struct {
		says answers
		sent []string
		out  string
	}{
		"streams create orders --shards 4 --group a --group b --reason r": {
			answers{"POST /streams/orders": {protocol.StreamCreateResponse{StreamPrefix: "orders", ShardCount: 4, ConsumerGroups: []string{"a", "b"}}}},
			[]string{`POST /streams/orders {"initialShardCount":4,` + signed + `,"consumerGroups":["a","b"]}`},
			"Created stream orders with 4 shards, groups: a, b.\n",
		},
		"streams create orders --reason r --requested-by bob": {
			answers{"POST /streams/orders": {protocol.StreamCreateResponse{StreamPrefix: "orders", ShardCount: 4}}},
			[]string{`POST /streams/orders {"requestedBy":"bob","reason":"r"}`},
			"Created stream orders with 4 shards, groups: -.\n",
		},
		"groups add orders orders-g --position latest --reason r": {
			answers{"POST /streams/orders/groups/orders-g": {group}},
			[]string{`POST /streams/orders/groups/orders-g {` + signed + `,"initialPosition":"latest"}`},
			"Added group orders-g to stream orders with 4 shards.\n",
		},
		"groups delete orders orders-g --force --yes --reason r": {
			answers{"DELETE /streams/orders/groups/orders-g?dryRun=true": {gone}, "DELETE /streams/orders/groups/orders-g": {group}},
			[]string{
				`DELETE /streams/orders/groups/orders-g?dryRun=true {` + signed + `,"force":true}`,
				`DELETE /streams/orders/groups/orders-g {` + signed + `,"force":true}`,
			},
			"Plan: delete group orders-g of stream orders\n  shards: 4 -> 0\n  removed: 0-3\nDeleted group orders-g of stream orders.\n",
		},
		"streams delete orders --delete-streams -y --reason r": {
			answers{"DELETE /streams/orders?dryRun=true": {gone}, "DELETE /streams/orders": {orders()}},
			[]string{
				`DELETE /streams/orders?dryRun=true {` + signed + `,"deleteStreams":true}`,
				`DELETE /streams/orders {` + signed + `,"deleteStreams":true}`,
			},
			"Plan: delete stream orders\n  shards: 4 -> 0\n  removed: 0-3\nDeleted stream orders.\n",
		},
		"repair barrier orders --reason r": {
			answers{getOrders: {orders()}, "POST /streams/orders/groups/orders-g/barrier": {group}},
			[]string{`POST /streams/orders/groups/orders-g/barrier {` + signed + `}`},
			"Group orders-g of stream orders grants nothing until 2026-01-02T03:04:15Z.\n",
		},
		"repair barrier orders orders-g --close --yes --reason r": {
			answers{"POST /streams/orders/groups/orders-g/barrier": {barred}},
			[]string{`POST /streams/orders/groups/orders-g/barrier {` + signed + `,"close":true}`},
			"Group orders-g of stream orders has no barrier.\n",
		},
		"repair fence orders orders-g fe80::1-m0 --reason r": {
			answers{"POST /streams/orders/groups/orders-g/members/fe80::1-m0/fence": {group}},
			[]string{`POST /streams/orders/groups/orders-g/members/fe80::1-m0/fence {` + signed + `}`},
			"Fenced member fe80::1-m0. Group orders-g of stream orders is RECONCILING.\n" +
				"See what it still blocks with: rscctl shards orders orders-g\n",
		},
		"repair index --reason r": {
			answers{"POST /admin/repair-index": {protocol.RepairIndexResponse{Added: []string{"orders", "orders:orders-g"}}}},
			[]string{`POST /admin/repair-index {` + signed + `}`},
			"Missing, added: orders, orders:orders-g\nPointing nowhere, removed: -\n",
		},
		"migrations confirm-drain orders --shard 0 --reason r": {
			with(underway(true), "POST /streams/orders/groups/orders-g/migrations/R1/confirm-drain", resharding(protocol.MigrationDraining, nil)),
			[]string{`POST /streams/orders/groups/orders-g/migrations/R1/confirm-drain {"shardIndex":0,` + signed + `}`},
			"Taken: shard 0 of stream orders counts as empty.\nFollow the resharding with: rscctl migrations watch orders R1\n",
		},
		"migrations rollback orders --yes --reason r": {
			with(with(underway(true), "POST /streams/orders/groups/orders-g/migrations/R1/rollback",
				resharding(protocol.MigrationRollingBack, nil)), "POST /streams/orders/groups/orders-g/migrations/R1/rollback?dryRun=true",
				protocol.Plan{Action: protocol.PlanRollback, StreamPrefix: "orders", FromShardCount: 3, ToShardCount: 8, ShardsAdded: []int{3, 4}}),
			[]string{
				`POST /streams/orders/groups/orders-g/migrations/R1/rollback?dryRun=true {` + signed + `}`,
				`POST /streams/orders/groups/orders-g/migrations/R1/rollback {` + signed + `}`,
			},
			"Plan: roll back resharding R1 of stream orders\n  shards: 3 -> 8\n  added: 3-4\nResharding R1 of stream orders is ROLLING_BACK.\n" +
				"Follow it with: rscctl migrations show orders R1\n",
		},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			f, url := serve(t, one.says)
			require.Equal(t, outcome{out: one.out}, rscctl(t, scene{}, url, line))
			require.Equal(t, one.sent, f.changes())
		})
	}
}

func with(says answers, call string, answer any) answers {
	says[call] = []any{answer}
	return says
}

const planned = `Plan: scale stream orders to 3 shards
  shards: 8 -> 3
  removed: 3-7, read until they are proven empty, then sealed
  group orders-g:
    m1 gets 0,2, gives up 5
  warning: records of one key may be out of order
`

const scaled = `Resharding R1 of stream orders has begun: 8 -> 3 shards.
Follow it with: rscctl migrations watch orders
`

func TestAScaleNeedsTheOperatorsWord(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		scene scene
		line  string
		want  outcome
		asked int // changes, the plan among them
	}{
		"given as --yes":           {scene{}, "streams scale orders 3 --reason r --yes", outcome{0, planned + scaled, ""}, 2},
		"given as the name":        {scene{person: true, in: "orders\n", env: map[string]string{"NO_COLOR": "1"}}, "streams scale orders 3 --reason r", outcome{0, planned + scaled, "Type orders to go on: "}, 2},
		"given as another name":    {scene{person: true, in: "order\n"}, "streams scale orders 3 --reason r", outcome{1, planned, "Type orders to go on: rscctl: nothing was changed, as that is not orders\n"}, 1},
		"not given at the end":     {scene{person: true}, "streams scale orders 3 --reason r", outcome{1, planned, "Type orders to go on: rscctl: nothing was changed, as that is not orders\n"}, 1},
		"not to be asked for":      {scene{in: "orders\n"}, "streams scale orders 3 --reason r", outcome{2, planned, "rscctl: nothing was changed: this needs --yes, as there is no terminal to ask at\n" + seeHelp}, 1},
		"not needed for a dry run": {scene{}, "streams scale orders 3 --dry-run", outcome{0, planned, ""}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, url := serve(t, answers{planScale: {fewer()}, postScale: {beganR1()}})
			require.Equal(t, one.want, rscctl(t, one.scene, url, one.line))
			require.Len(t, f.changes(), one.asked)
		})
	}
}

func TestAScaleForAProgramPrintsTheAnswerOnly(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{planScale: {fewer()}, postScale: {beganR1()}})
	got := rscctl(t, scene{}, url, "streams scale orders 3 --reason r --yes --output json")
	requireJSON(t, beganR1(), got.out)
	require.Equal(t, planned, got.err)
	got = rscctl(t, scene{}, url, "streams scale orders 3 --dry-run --output json")
	requireJSON(t, fewer(), got.out)
}

func TestAScaleThatChangesNothingAsksNothing(t *testing.T) {
	t.Parallel()
	noop := beganR1()
	noop.Migrations[0].ReshardingID, noop.Migrations[0].State = protocol.NoopReshardingID, protocol.MigrationDeprecated
	_, url := serve(t, answers{
		planScale: {protocol.Plan{Action: protocol.PlanScale, StreamPrefix: "orders", FromShardCount: 3, ToShardCount: 3}},
		postScale: {noop},
	})
	require.Equal(t, outcome{out: "Plan: scale stream orders to 3 shards\n  shards: 3, as before\nStream orders has 3 shards already.\n"},
		rscctl(t, scene{}, url, "streams scale orders 3 --reason r --watch"))
}

func TestWhatThePlanSaysIsRefusedIsNotTried(t *testing.T) {
	t.Parallel()
	plan := fewer()
	plan.Refusal = &protocol.PlanRefusal{ErrorCode: protocol.CodeActiveMigrationExists, Message: "R1 is under way"}
	for _, line := range []string{"streams scale orders 3 --reason r --yes", "streams scale orders 3 --dry-run"} {
		f, url := serve(t, answers{planScale: {plan}, postScale: {beganR1()}})
		got := rscctl(t, scene{}, url, line)
		require.Equal(t, 1, got.code)
		require.Contains(t, got.out, "  It would be refused.\n")
		require.Contains(t, got.err, "rscctl: cannot scale stream orders to 3 shards: R1 is under way\n  code: ACTIVE_MIGRATION_EXISTS\n")
		require.Contains(t, got.err, "next: follow the one under way with: rscctl migrations watch orders\n")
		require.Len(t, f.changes(), 1)
	}
}

func TestPlansOfTheOtherChanges(t *testing.T) {
	t.Parallel()
	created := protocol.Plan{Action: protocol.PlanCreate, StreamPrefix: "orders", ToShardCount: 4, ShardsAdded: []int{0, 1, 2, 3}, Groups: []protocol.GroupPlan{{ConsumerGroup: "g"}}}
	for line, call := range map[string]string{
		"streams create orders --dry-run":      "POST /streams/orders?dryRun=true",
		"groups add orders g --dry-run":        "POST /streams/orders/groups/g?dryRun=true",
		"streams delete orders --dry-run":      "DELETE /streams/orders?dryRun=true",
		"groups delete orders g --dry-run":     "DELETE /streams/orders/groups/g?dryRun=true",
		"migrations rollback orders --dry-run": "POST /streams/orders/groups/orders-g/migrations/R1/rollback?dryRun=true",
	} {
		f, url := serve(t, with(underway(true), call, created))
		got := rscctl(t, scene{}, url, line)
		require.Zero(t, got.code, line)
		require.Regexp(t, "^Plan: (create|add|delete|roll back) .*\n  shards: 0 -> 4\n  added: 0-3\n  group g: no member's shards change\n$", got.out)
		require.Len(t, f.changes(), 1, line)
		require.Contains(t, f.changes()[0], `"requestedBy":"ann"`)
	}
}

// waiting is a terminal at which nobody types; ctx ends as soon as it is read from.
type waiting struct {
	cancel context.CancelFunc
	gone   chan struct{}
}

func (w waiting) Read([]byte) (int, error) {
	w.cancel()
	<-w.gone
	return 0, io.EOF
}

func TestAnInterruptedQuestionChangesNothing(t *testing.T) {
	t.Parallel()
	f := &fake{answers: answers{planScale: {fewer()}, postScale: {beganR1()}}}
	ctx, cancel := context.WithCancel(t.Context())
	typist := waiting{cancel, make(chan struct{})}
	defer close(typist.gone)
	terminal := scene{person: true}.terminal(io.Discard, io.Discard)
	terminal.In = typist
	require.Equal(t, 1, run(ctx, split("streams scale orders 3 --reason r"), terminal, f))
	require.Len(t, f.changes(), 1)
}

func TestAChangeWithoutAnAnswerMayHaveBeenMade(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{planScale: {fewer()}, postScale: {cutOff{}}})
	got := rscctl(t, scene{}, url, "streams scale orders 3 --reason r --yes")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.err, "the change may have been made or not")
	_, url = serve(t, answers{planScale: {cutOff{}}})
	got = rscctl(t, scene{}, url, "streams scale orders 3 --reason r --yes")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.err, "cannot plan to scale stream orders to 3 shards")
	require.NotContains(t, got.err, "may have been made")
}

func TestAPlanNeedsNeitherNameNorReason(t *testing.T) {
	t.Parallel()
	f := &fake{answers: answers{planScale: {fewer()}}}
	require.Zero(t, inBubble(t.Context(), scene{env: map[string]string{"USER": ""}}, f, "streams scale orders 3 --dry-run").code)
	require.Equal(t, []string{planScale + ` {"targetShardCount":3,"requestedBy":"rscctl","reason":"plan"}`}, f.changes())
}
