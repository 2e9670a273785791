package model

import "github.com/redis-stream-coordinator/rsc/libs/protocol"

// ProblemKind is what is known of a kind of problem: how bad it is, what it means and what can be
// done about it. Text and Advice may be empty.
type ProblemKind struct{ Tone, Title, Text, Advice string }

// The kinds of problems that this package finds itself.
const (
	problemNoMember = "NO_MEMBER"
	problemUnread   = "UNREAD_SHARDS"
	problemBarrier  = "BARRIER"
	problemFenced   = "FENCED_MEMBERS"
	problemExpired  = "EXPIRED_MEMBERS"
	problemOverdue  = "RELEASE_OVERDUE"
	problemTwins    = "MEMBER_ID_IN_USE"
	problemSurplus  = "SURPLUS_MEMBERS"
)

// KindOfProblem says what a problem means and what can be done about it. Names that are not known
// are shown as words.
func KindOfProblem(name string) ProblemKind {
	if found, is := observed(name); is {
		return found
	}
	if found, is := ofMembers(name); is {
		return found
	}
	if found, is := ofLag(protocol.LagReason(name)); is {
		return found
	}
	switch name {
	case protocol.ProblemStructure:
		return ProblemKind{
			"warn", "What is shown of members and owners is old", "The monitor could not read the group's structure from the coordinator.",
			"Look at the system page whether a coordinator answers.",
		}
	case protocol.ProblemUnassigned:
		return ProblemKind{"warn", "Shards without a reader", "Nobody is wanted to read these shards, or the one who is wanted is away.", "Look whether the members below are alive."}
	case problemUnread:
		return ProblemKind{"warn", "Nobody reads these shards at the moment", "They are wanted by a member that does not have them yet.", "The shard map says for each of them who has to do what."}
	case problemBarrier:
		return ProblemKind{
			"busy", "Nothing is given away for a while", "Writes of the store were lost, or the group was made anew: somebody unknown may still read, until its lease is over (M3).",
			"Wait. An operator can end it with “rscctl repair barrier --close”, if it is certain that nobody else reads.",
		}
	case string(protocol.CodeMetadataMissing):
		return unreadable("The group's metadata is missing")
	case string(protocol.CodeMetadataCorrupt):
		return unreadable("The group's metadata cannot be read")
	default:
		return ProblemKind{"bad", upper(Words(name)), "", ""}
	}
}

func unreadable(title string) ProblemKind {
	return ProblemKind{
		"bad", title, "The coordinator gives nothing away and writes nothing for this group (M6). Other groups are not affected, and producers go on.",
		"Find out why it was lost (evictions, a store put back, a newer coordinator's schema), keep what is left of the key, then create the group again: that repairs it, under a barrier. See “The metadata key is gone or corrupt” in the operations runbook.",
	}
}

// observed says what is wrong in Redis.
func observed(name string) (ProblemKind, bool) {
	switch name {
	case "STREAM_MISSING":
		return ProblemKind{"bad", "Stream keys are missing in Redis", "The shard's key is not there.", "The coordinator makes it again; records that were in it are lost. Look who deleted it."}, true
	case "WRONG_TYPE":
		return ProblemKind{"bad", "Shard keys are no streams", "Somebody wrote another type of value to the shard's key.", "Move that key away; the coordinator makes the stream again."}, true
	case "GROUP_MISSING":
		return ProblemKind{"bad", "The consumer group is missing on shards", "The Redis consumer group is not there on the shard's stream.", "The coordinator makes it again from what was acknowledged last; records may be handled twice (L12)."}, true
	case "UNREACHABLE":
		return ProblemKind{"bad", "Shards cannot be looked at", "The Redis node of the shard does not answer the monitor, or says that it cannot now.", "Look at that node, and at the network between it and the monitor."}, true
	case protocol.ProblemLost:
		return ProblemKind{
			"bad", "Shards are lost", "They are missing in Redis, and nobody is given them before the coordinator has made them again.",
			"It does so by itself outside a barrier. Records may be handled twice (L12).",
		}, true
	case protocol.ProblemInvariant:
		return ProblemKind{
			"bad", "A client reads what it may not", "A member says that it reads a shard which another one holds (I1).",
			"This is expected for some seconds after the store went back in time. If it stays for a minute, restart that member.",
		}, true
	case protocol.ProblemTrimmedUnread:
		return ProblemKind{
			"bad", "Records went away before they were read", "Streams were trimmed faster than the group reads; what is gone cannot be read any more.",
			"Trim less (a higher MAXLEN or a later MINID), or let the group read faster: more shards and members.",
		}, true
	case protocol.ProblemRegressed:
		return ProblemKind{
			"warn", "The group's position went back", "Records after it are delivered once more: somebody set it by hand, or a failover lost writes (F23).",
			"Handlers have to bear records that they handled before.",
		}, true
	default:
		return ProblemKind{}, false
	}
}

// ofLag says why a lag is not known (F01 to F05).
func ofLag(reason protocol.LagReason) (ProblemKind, bool) {
	text := ""
	switch reason {
	case protocol.LagNotObserved:
		text = "The shard, or the group on it, could not be read."
	case protocol.LagUnknown:
		text = "Redis does not tell it, as it does after deletions or when a position was set by hand."
	case protocol.LagNegative:
		text = "Redis tells a number below 0, from a position that was set by hand."
	case protocol.LagContradictsTail:
		text = "Redis tells another number than there are records behind the group's position."
	case protocol.LagAboveLength:
		text = "Redis tells more records than the stream has."
	case protocol.LagBelowTail:
		text = "Redis tells fewer records than are unread."
	case protocol.LagDeleted:
		text = "Redis counts records that were deleted unread."
	default:
		return ProblemKind{}, false
	}
	return ProblemKind{"warn", "The lag is not known", text, "It comes back by itself when the group has read to the end. Deletions (XDEL) and XGROUP SETID lead to this."}, true
}

func ofMembers(name string) (ProblemKind, bool) {
	switch name {
	case problemNoMember:
		return ProblemKind{"warn", "No member is alive", "Nobody reads; records wait in their shards.", "Start consumers of this group, or look at why they have ended. The timeline tells when."}, true
	case problemFenced:
		return ProblemKind{
			"warn", "Members were fenced", "They read a shard that was not theirs, or did not release one in time. What else they hold stays blocked until their lease is over (H3, H4).",
			"They come back by themselves. If it happens again: a handler needs longer than the rebalance timeout, or a client breaks the protocol.",
		}, true
	case problemExpired:
		return ProblemKind{
			"busy", "Members are no longer heard", "They did not send a heartbeat for a whole lease: they have ended, hang, or are cut off.",
			"Look at these processes. Their shards go to others.",
		}, true
	case problemOverdue:
		return ProblemKind{
			"busy", "Members have to release shards", "They were told to, and are heard: handlers are still at work. Who does not release in time is fenced (H3).",
			"Nothing, before the time is over. If a handler hangs, restart that process.",
		}, true
	case problemTwins:
		return ProblemKind{
			"warn", "Two processes use one member id", "The second one waits until the first one's lease is over (J4).",
			"If this stays, give each process an id of its own.",
		}, true
	case problemSurplus:
		return ProblemKind{"busy", "Members without work", "There are more members than shards (S2).", "Add shards, or run fewer members."}, true
	default:
		return ProblemKind{}, false
	}
}

// upper writes the first letter as a capital.
func upper(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}
