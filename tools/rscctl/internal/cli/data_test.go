package cli

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// at is a time of day of one day.
func at(seconds int64) protocol.Timestamp { return protocol.AtMillis(1_767_323_045_000 + 1000*seconds) }

// orders is a stream of four shards with one group, orders-g.
func orders() protocol.StreamResponse {
	return protocol.StreamResponse{
		StreamPrefix: "orders", ShardCount: 4, StreamKeyPattern: "orders:{shardIndex}", MetadataVersion: 7,
		ConsumerGroups: []string{"orders-g"}, Groups: []protocol.GroupResponse{ordersGroup()},
	}
}

func ordersGroup() protocol.GroupResponse {
	until := at(10)
	return protocol.GroupResponse{
		StreamPrefix: "orders", ConsumerGroup: "orders-g", State: protocol.GroupReconciling,
		GroupEpoch: 5, AssignmentEpoch: 4, MetadataVersion: 9, ShardCount: 4,
		TargetAssignmentSummary:  map[string]int{"m1": 2, "m2": 1},
		CurrentAssignmentSummary: map[string]int{"m1": 3},
		Lineage:                  "L1", UnassignedShards: []int{3}, LostShards: []int{2}, SurplusMembers: []string{}, BarrierUntil: &until,
	}
}

// resharding is R1 from 8 to 3 shards.
func resharding(state protocol.MigrationState, progress *protocol.MigrationProgress) protocol.Migration {
	return protocol.Migration{
		ReshardingID: "R1", FromShardCount: 8, ToShardCount: 3, State: state, CreatedAt: at(0), UpdatedAt: at(5),
		RequestedBy: new("ann"), Reason: new("less load"),
		RollbackAllowed: state == protocol.MigrationActive || state == protocol.MigrationDraining, Progress: progress,
	}
}

// draining is the progress of R1 with two of five shards sealed.
func draining() *protocol.MigrationProgress {
	from := at(3)
	return &protocol.MigrationProgress{
		Done: 2, Total: 5, LastError: nil, DrainingFrom: &from,
		Groups: []protocol.GroupProgress{{ConsumerGroup: "orders-g", Copied: true, Settled: false}},
		Shards: []protocol.ShardDrain{
			{
				ShardIndex: 3, StreamKey: "orders:3", Phase: protocol.DrainSealed, Owners: []protocol.ShardOwner{},
				Proof: new(protocol.ProofLag), RetiredKey: new("rsc:retired:{orders:3}:R1"),
			},
			{
				ShardIndex: 4, StreamKey: "orders:4", Phase: protocol.DrainReading, Reason: new(protocol.DrainPending), Since: &from,
				Owners:  []protocol.ShardOwner{{ConsumerGroup: "orders-g", MemberID: "m1"}},
				Pending: new(int64(2)), TailID: nil, BlockingGroup: new("orders-g"), BlockingConsumer: new("c9"),
			},
		},
	}
}

// fewer is the plan of R1.
func fewer() protocol.Plan {
	return protocol.Plan{
		Action: protocol.PlanScale, StreamPrefix: "orders", FromShardCount: 8, ToShardCount: 3,
		ShardsAdded: []int{}, ShardsRemoved: []int{3, 4, 5, 6, 7},
		Groups: []protocol.GroupPlan{{ConsumerGroup: "orders-g", Moves: []protocol.MemberMove{
			{MemberID: "m1", Gains: []int{0, 2}, Loses: []int{5}},
		}}},
		Warnings: []string{"records of one key may be out of order"},
	}
}

// beganR1 answers the scale of R1.
func beganR1() protocol.StreamScaleResponse {
	return protocol.StreamScaleResponse{
		StreamPrefix: "orders", TargetShardCount: 3, AffectedConsumerGroups: []string{"orders-g"},
		Migrations: []protocol.Migration{resharding(protocol.MigrationPreparing, nil)},
	}
}

const (
	getOrders    = "GET /streams/orders"
	planScale    = "POST /streams/orders/scale?dryRun=true"
	postScale    = "POST /streams/orders/scale"
	getMigration = "GET /streams/orders/groups/orders-g/migrations/R1"
	listed       = "GET /monitoring/streams/orders/groups/orders-g/migrations"
)

// underway are the answers that lead to R1.
func underway(active bool, reads ...any) answers {
	list := protocol.MigrationsResponse{Migrations: []protocol.Migration{
		resharding(protocol.MigrationDraining, nil),
		{ReshardingID: "R0", FromShardCount: 4, ToShardCount: 8, State: protocol.MigrationDeprecated, CreatedAt: at(-60), UpdatedAt: at(-50)},
	}}
	if active {
		list.ActiveReshardingID = new("R1")
	}
	return answers{getOrders: {orders()}, listed: {list}, getMigration: reads}
}
