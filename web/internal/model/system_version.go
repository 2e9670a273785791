package model

import (
	"cmp"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// protocolLines are the versions of the protocol that the coordinator speaks, or why they are not
// known.
func protocolLines(known Part[protocol.CompatibilityResponse]) (lines []ProtocolLine, why string) {
	if known.Answer == nil {
		return nil, known.Why
	}
	for _, each := range known.Answer.CoordinationVersions {
		line := ProtocolLine{
			Version: Count(int64(each.Version)), State: Words(each.Status), Tone: "good", Introduced: each.IntroducedIn.Version,
			Deprecated: Unknown, Until: cmp.Or(each.MinimumSupportedUntil.Version, Unknown), Timing: timingWords(each.TimingDefaults),
			Current: each.Version == known.Answer.CurrentCoordinationVersion,
		}
		if each.DeprecatedIn != nil {
			line.Deprecated, line.Tone = each.DeprecatedIn.Version, "warn"
		}
		if each.RemovedIn != nil {
			line.Until, line.Tone = each.RemovedIn.Version, "warn"
		}
		lines = append(lines, line)
	}
	return lines, ""
}

// timingWords says what the running values mean for members.
func timingWords(timing protocol.TimingValues) []string {
	var words []string
	for _, each := range []struct{ before, value, after string }{
		{"A member says every ", timing.HeartbeatInterval, " that it is there."},
		{"One that has said nothing for ", timing.MemberLeaseTTL, " loses its shards."},
		{"One that is to give shards back has ", timing.RebalanceTimeout, " for it."},
	} {
		if each.value != "" {
			words = append(words, each.before+isoWords(each.value)+each.after)
		}
	}
	return words
}

// isoWords writes a duration of ISO 8601 as Duration does. What it does not know stays as it is.
func isoWords(text string) string {
	rest, is := strings.CutPrefix(text, "PT")
	if !is {
		return text
	}
	took, err := time.ParseDuration(strings.ToLower(rest))
	if err != nil {
		return text
	}
	return Duration(took)
}
