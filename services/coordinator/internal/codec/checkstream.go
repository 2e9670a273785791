package codec

import (
	"fmt"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// checkStream refuses a stream's record that no commit can have written. Groups copy it
// and scripts follow it: one that breaks this could seal a shard that is still read.
func checkStream(s *stream.Stream) error {
	checks := []func(*stream.Stream) error{checkStreamFields, checkStreamGroups, checkLayout, checkPast, checkActive}
	for _, check := range checks {
		if err := check(s); err != nil {
			return err
		}
	}
	return nil
}

func checkStreamFields(s *stream.Stream) error {
	if err := protocol.CheckStreamPrefix(s.Prefix, ""); err != nil {
		return badName("prefix", err)
	}
	switch {
	case s.ShardCount < 0 || s.ShardCount > maxShards:
		return corrupt("shardCount", "is out of range")
	case s.MetadataVersion < 1 || s.MetadataVersion > maxNumber:
		return corrupt("metadataVersion", "is out of range")
	case s.Lineage == "":
		return corrupt("lineage", "is empty")
	case outside(group.Millis(s.CreatedAt)):
		return corrupt("createdAt", "is no time")
	}
	return nil
}

func checkStreamGroups(s *stream.Stream) error {
	for i, g := range s.Groups {
		if err := protocol.CheckConsumerGroup(g.Name); err != nil {
			return badName(fmt.Sprintf("groups[%d].name", i), err)
		}
		if i > 0 && s.Groups[i-1].Name >= g.Name {
			return corrupt(fmt.Sprintf("groups[%d].name", i), "is repeated or not in order")
		}
		if !slices.Contains([]stream.State{stream.Creating, stream.Active, stream.Deleting}, g.State) {
			return corrupt(fmt.Sprintf("groups[%d].state", i), "is unknown")
		}
		if s.Resharding != nil && g.State != stream.Active {
			return corrupt(fmt.Sprintf("groups[%d].state", i), "cannot be while a resharding is under way") // L1
		}
	}
	return nil
}

// checkLayout checks what groups copy (L1).
func checkLayout(s *stream.Stream) error {
	switch {
	case s.LayoutVersion < 0 || s.LayoutVersion > maxNumber:
		return corrupt("layoutVersion", "is out of range")
	case (s.LayoutVersion == 0) != (s.LayoutCause == "") || s.LayoutCause != "" && !knownCause(s.LayoutCause):
		return corrupt("layoutCause", "is unknown, or is of a layout that never changed")
	case s.Mark < 0 || s.Mark > maxNumber:
		return corrupt("mark", "is out of range")
	case s.Removed < 0 || s.Removed > maxShards || s.Removed > 0 && s.Resharding == nil:
		return corrupt("removed", "is out of range, or there is no resharding")
	case !ascends(s.Lost, 0, s.ReadCount()):
		return corrupt("lost", "is not in order or names shards outside the reading set")
	}
	return nil
}

func checkPast(s *stream.Stream) error {
	if len(s.Past) > stream.MaxPast {
		return corrupt("past", "has more reshardings than are kept")
	}
	for i, r := range s.Past {
		wrong := wrongResharding(r)
		switch {
		case wrong != "":
		case !r.Finished():
			wrong = "is not finished"
		case r.Mark > s.Mark:
			wrong = "has a mark that was never given"
		default:
			continue
		}
		return corrupt(fmt.Sprintf("past[%d]", i), wrong)
	}
	return nil
}

// checkActive checks the resharding under way, and that the layout is one of its own.
func checkActive(s *stream.Stream) error {
	if s.Resharding == nil {
		return nil
	}
	r := *s.Resharding
	wrong := wrongResharding(r)
	switch {
	case wrong != "":
	case r.Finished():
		wrong = "is finished"
	case r.Mark > s.Mark:
		wrong = "has a mark that was never given"
	case !slices.Contains(routed(r), s.ShardCount):
		wrong = "does not lead to the stream's shardCount"
	default:
		wrong = wrongRemoved(s, r)
	}
	if wrong == "" {
		return nil
	}
	return corrupt("resharding", wrong)
}

// routed returns the shard counts that the stream may have in the resharding's phase
// (L2, L3, L8).
func routed(r stream.Resharding) []int {
	switch r.Phase {
	case stream.PhasePreparing:
		return []int{r.From}
	case stream.PhaseRollingBack:
		if r.Turned {
			return []int{r.From}
		}
		return []int{r.From, r.To}
	case stream.PhaseActive, stream.PhaseDraining, stream.PhaseDeprecated, stream.PhaseRolledBack:
		return []int{r.To}
	}
	return nil
}

// wrongRemoved says what is wrong with the removed shards, "" when nothing is. They are
// of the reading set until all of them are sealed (L6).
func wrongRemoved(s *stream.Stream, r stream.Resharding) string {
	sealed := len(r.At(stream.StepSealed)) == len(r.Shards)
	drains := r.Phase == stream.PhaseActive || r.Phase == stream.PhaseDraining
	switch {
	case r.Phase == stream.PhasePreparing && (len(r.Shards) > 0 || r.DrainFrom != 0):
		return "removes shards before it begins"
	case drains && r.To < r.From && len(r.Shards) == 0:
		return "does not list the removed shards"
	case len(r.Shards) > 0 && r.Shards[0].Index != s.ShardCount:
		return "removes other shards than those behind the routing set"
	case sealed && s.Removed != 0, !sealed && s.Removed != len(r.Shards):
		return "does not list the removed shards"
	}
	return ""
}

// wrongResharding says what is wrong with a resharding, whatever the stream is like.
func wrongResharding(r stream.Resharding) string {
	switch {
	case r.ID == "":
		return "has no id"
	case r.From < 0 || r.From > maxShards || r.To < 0 || r.To > maxShards || r.From == r.To:
		return "changes no count, or one that is out of range"
	case !knownPhase(r.Phase):
		return "has an unknown phase"
	case r.Mark < 1:
		return "has no mark"
	case r.Turned && r.Phase != stream.PhaseRollingBack && r.Phase != stream.PhaseRolledBack:
		return "turned though it is not rolled back"
	case outside(group.Millis(r.DrainFrom)) || outside(group.Millis(r.CreatedAt)) || outside(group.Millis(r.UpdatedAt)):
		return "has a time that is none"
	}
	return wrongShards(r)
}

// wrongShards says what is wrong with the list of removed shards: they are none, or all
// that one of the counts has and the other has not.
func wrongShards(r stream.Resharding) string {
	if len(r.Shards) == 0 {
		return ""
	}
	low, high := min(r.From, r.To), max(r.From, r.To)
	if len(r.Shards) != high-low {
		return "lists some of its removed shards only"
	}
	for i, shard := range r.Shards {
		switch {
		case shard.Index != low+i:
			return "does not list the removed shards in order"
		case !knownStep(shard.Step) || outside(group.Millis(shard.Since)):
			return fmt.Sprintf("has shard %d at an unknown step, or since no time", shard.Index)
		}
	}
	return ""
}

func knownCause(cause stream.LayoutCause) bool {
	switch cause {
	case stream.CauseScale, stream.CauseRollback, stream.CauseSeal, stream.CauseReprovision, stream.CauseCorrection:
		return true
	default:
		return false
	}
}

func knownPhase(phase stream.Phase) bool {
	switch phase {
	case stream.PhasePreparing, stream.PhaseActive, stream.PhaseDraining, stream.PhaseRollingBack, stream.PhaseDeprecated,
		stream.PhaseRolledBack:
		return true
	default:
		return false
	}
}

func knownStep(step stream.Step) bool {
	switch step {
	case stream.StepReading, stream.StepClosing, stream.StepSealed:
		return true
	default:
		return false
	}
}
