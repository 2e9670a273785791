package model

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// migrationWords says in a few words what state a resharding is in, and how much somebody should
// look at it.
func migrationWords(state protocol.MigrationState) (words, tone string) {
	switch state {
	case protocol.MigrationPreparing:
		return "preparing", "busy"
	case protocol.MigrationActive:
		return "active", "busy"
	case protocol.MigrationDraining:
		return "draining", "busy"
	case protocol.MigrationDeprecated:
		return "done", "good"
	case protocol.MigrationRollingBack:
		return "rolling back", "warn"
	case protocol.MigrationRolledBack:
		return "rolled back", "good"
	default:
		return Words(string(state)), "warn"
	}
}

// migrationMeaning says what happens in a state (L2, L3, L8).
func migrationMeaning(state protocol.MigrationState) string {
	switch state {
	case protocol.MigrationPreparing:
		return "The new shards are being made, with every group of the stream. Producers and readers go on as before."
	case protocol.MigrationActive:
		return "The groups copy the new layout, and answers to producers that name the old one run out."
	case protocol.MigrationDraining:
		return "The removed shards are written no more. Their owners read them until they are proven empty; then they are sealed."
	case protocol.MigrationDeprecated:
		return "It is done. A state that is over is called DEPRECATED by the API."
	case protocol.MigrationRollingBack:
		return "It is being undone: sealed shards come back first, then producers write as before; shards that were added are drained."
	case protocol.MigrationRolledBack:
		return "It was undone."
	default:
		return ""
	}
}

// Over tells whether a resharding in a state goes on no more.
func Over(state protocol.MigrationState) bool {
	return state == protocol.MigrationDeprecated || state == protocol.MigrationRolledBack
}

// drainWords says how far a removed shard has come (L3 to L6).
func drainWords(phase protocol.DrainPhase) (words, tone string) {
	switch phase {
	case protocol.DrainReading:
		return "being read", "busy"
	case protocol.DrainClosing:
		return "empty, being let go", "busy"
	case protocol.DrainSealed:
		return "sealed", "good"
	default:
		return Words(string(phase)), "warn"
	}
}

// proofWords says what the proof that a shard was empty rests on (L4, L9).
func proofWords(proof *protocol.DrainProof) string {
	if proof == nil {
		return ""
	}
	switch *proof {
	case protocol.ProofLag:
		return "Proven empty: nothing unread, nothing pending."
	case protocol.ProofTail:
		return "Proven empty by its tail, as the settings allow; its lag was in doubt."
	case protocol.ProofConfirmed:
		return "Empty on an operator's word; its lag was in doubt."
	default:
		return "Proven empty: " + Words(string(*proof)) + "."
	}
}

// drainReason says what keeps a removed shard, and what can be done about it (L4, L9, L12).
func drainReason(drain protocol.ShardDrain) (why, advice string) {
	group, consumer := named(drain.BlockingGroup, "a group"), named(drain.BlockingConsumer, "a consumer")
	switch *drain.Reason {
	case protocol.DrainStreamMissing:
		return "The shard's key is gone from Redis, or is no stream.",
			"The coordinator makes it again by itself. Find out who deleted it: its records may be lost."
	case protocol.DrainGroupMissing:
		return "The consumer group of " + group + " is gone on the shard.",
			"The coordinator makes it again by itself, at the lowest acknowledged record it knows of; records may be handled twice."
	case protocol.DrainUnread:
		return "Records were not given to " + group + " yet.",
			"Its owner reads on; where it has no owner, start a consumer of " + group + "."
	case protocol.DrainPending:
		return "Records that " + consumer + " of " + group + " was given are not acknowledged.",
			"See what " + consumer + " is at. Records of one that is gone are taken over by the shard's owner."
	case protocol.DrainLagUnknown:
		return "Redis cannot tell how much " + group + " has not read, as after entries were deleted.",
			"Nothing else speaks against it: who knows that it is empty can confirm that."
	case protocol.DrainLagContradicts:
		return "Redis tells a lag of " + group + ", and there is no record behind what it has read.",
			"Nothing else speaks against it: who knows that it is empty can confirm that."
	case protocol.DrainStillOwned:
		return "It is empty, and its owner may still be reading it.",
			"The owner lets go with its next heartbeats, or loses it when its lease ends. One that hangs can be fenced."
	default:
		return Words(string(*drain.Reason)) + ".", ""
	}
}

// confirmable tells whether an operator's word would do for a shard (L9).
func confirmable(drain protocol.ShardDrain) bool {
	return drain.Phase == protocol.DrainReading && drain.Reason != nil &&
		(*drain.Reason == protocol.DrainLagUnknown || *drain.Reason == protocol.DrainLagContradicts)
}

func named(name *string, otherwise string) string {
	if name == nil || *name == "" {
		return otherwise
	}
	return *name
}

// Reading tells whether a resharding waits for removed shards to be read.
func Reading(of protocol.Migration) bool {
	return of.Progress != nil && slices.ContainsFunc(of.Progress.Shards, func(drain protocol.ShardDrain) bool {
		return drain.Phase == protocol.DrainReading
	})
}

// SameOrder tells whether the resharding under way, nil for none, is the one that was asked for
// with these words: the same form was sent before.
func SameOrder(active *protocol.Migration, to int, by, reason string) bool {
	return active != nil && active.ToShardCount == to && named(active.RequestedBy, "") == by && named(active.Reason, "") == reason
}
