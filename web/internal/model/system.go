package model

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// staleAfter is how old the monitor's newest round may be; its interval is 5 s by default.
	staleAfter = time.Minute
	// unreadableShown is how many groups that cannot be read are listed.
	unreadableShown = 50
)

// Part is what a part of the suite has answered, or why it has not.
type Part[A any] struct {
	Answer *A
	// Why there is no answer; empty where there is one.
	Why string
	// Kept tells that the API keeps it from who asks, so that nothing is known of the part.
	Kept bool
}

// Known is what the parts have answered.
type Known struct {
	Console       protocol.VersionResponse
	Gateway       Part[protocol.VersionResponse]
	Health        Part[protocol.HealthResponse]
	Compatibility Part[protocol.CompatibilityResponse]
	Monitor       Part[Scene]
	// System is what the gateway has learnt of every part.
	System Part[protocol.SystemResponse]
}

// System is how the parts of the suite are doing.
type System struct {
	// Live is the address of the page's events; empty for who may not follow them.
	Live     string
	Problems []Problem
	Parts    []PartLine
	Monitor  MonitorPart
	// Processes are what runs, as far as the gateway knows; MoreProcesses counts those that are
	// not listed. NoParts says why there is no more.
	Processes     []ProcessLine
	MoreProcesses int
	NoParts       string
	// Differ tells that parts are of different builds.
	Differ bool
	// Settings are those of each part; MoreSettings counts the parts that are not listed.
	Settings     []SettingsTable
	MoreSettings int
	Protocols    []ProtocolLine
	// NoProtocols says why there are none.
	NoProtocols string
}

// PartLine is one part with its state.
type PartLine struct {
	Name, State, Tone string
	Facts             []string
}

// ProtocolLine is one version of the protocol that members speak.
type ProtocolLine struct {
	Version, State, Tone          string
	Introduced, Deprecated, Until string
	// Timing says what the running values mean.
	Timing  []string
	Current bool
}

// MonitorPart is what the monitor's newest round tells.
type MonitorPart struct {
	State, Tone, Round string
	At                 Stamp
	Facts              []string
	Unreadable         []UnreadableLine
	// More counts those that are not listed.
	More     int
	Problems []Problem
}

// UnreadableLine is a group of which the coordinator cannot read the metadata.
type UnreadableLine struct{ Name, Address, Problem string }

// NewSystem makes the page of what is known at a time.
func NewSystem(known Known, now time.Time, root string) System {
	page := System{Monitor: NewMonitorPart(known.Monitor, now, root), Problems: systemProblems(known)}
	if !known.Monitor.Kept {
		page.Live = withQuery(root+"/live", "page", "system")
	}
	if gateway := known.Gateway; gateway.Answer == nil {
		page.Parts = append(page.Parts, partLine("Gateway", gateway.Why, gateway.Kept))
	}
	page.Parts = append(page.Parts, coordinatorLines(known.Health)...)
	page.Protocols, page.NoProtocols = protocolLines(known.Compatibility)
	return page.withParts(known)
}

func partLine(name, why string, kept bool) PartLine {
	switch {
	case kept:
		return PartLine{Name: name, State: "not shown to you", Tone: "busy", Facts: []string{why}}
	case why != "":
		return PartLine{Name: name, State: "does not answer", Tone: "bad", Facts: []string{why}}
	default:
		return PartLine{Name: name, State: "answers", Tone: "good"}
	}
}

// coordinatorLines are the coordinator with what it stands on.
func coordinatorLines(health Part[protocol.HealthResponse]) []PartLine {
	line := partLine("Coordinator", health.Why, health.Kept)
	if health.Answer == nil {
		return []PartLine{line}
	}
	said := health.Answer
	line.State, line.Tone = Words(said.Status), healthTone(said.Status)
	line.Facts = append(line.Facts, "answered by "+cmp.Or(said.CoordinatorID, Unknown)+"; where there are several, each answers in its turn")
	redis := PartLine{Name: "Coordinator's Redis", State: Words(said.Redis), Tone: healthTone(said.Redis)}
	if said.Redis == "DISABLED" {
		redis.Tone, redis.Facts = "good", []string{"This coordinator provisions no streams, and needs none."}
	}
	return []PartLine{line, redis, {Name: "Coordinator's loop", State: Words(said.Loop), Tone: healthTone(said.Loop)}}
}

func healthTone(state string) string {
	switch state {
	case protocol.HealthUp:
		return "good"
	case protocol.HealthDegraded:
		return "warn"
	default:
		return "bad"
	}
}

// NewMonitorPart makes what the newest round tells, of which now is the time.
func NewMonitorPart(monitor Part[Scene], now time.Time, root string) MonitorPart {
	line := partLine("Monitor", monitor.Why, monitor.Kept)
	part := MonitorPart{State: line.State, Tone: line.Tone, Round: Unknown, Facts: line.Facts}
	scene := monitor.Answer
	if scene == nil {
		part.Problems = monitorProblems(monitor, part)
		return part
	}
	part.Round, part.At = Count(scene.Round), stampOf(scene.At)
	part.Facts = []string{plural(len(scene.Groups), "group", "seen")}
	if age := now.Sub(scene.At.Time); !scene.At.IsZero() && age > staleAfter {
		part.State, part.Tone = "behind", "bad"
		part.Facts = append(part.Facts, "The newest round is "+Duration(age)+" old.")
	}
	if scene.Problem != "" {
		part.State, part.Tone = "shows an earlier round", "bad"
		part.Facts = append(part.Facts, scene.Problem)
	}
	part.Unreadable, part.More = unreadableLines(scene.Unreadable, root)
	part.Problems = monitorProblems(monitor, part)
	return part
}

// WithUnreadable adds the groups of which the coordinator cannot read the metadata.
func (o Overview) WithUnreadable(groups []protocol.UnreadableGroup, root string) Overview {
	o.Unreadable, o.MoreUnreadable = unreadableLines(groups, root)
	o.Troubled += len(groups)
	return o
}

// unreadableLines lists groups that cannot be shown, and says how many more there are.
func unreadableLines(groups []protocol.UnreadableGroup, root string) (lines []UnreadableLine, more int) {
	groups = slices.SortedFunc(slices.Values(groups), func(a, b protocol.UnreadableGroup) int {
		return cmp.Or(strings.Compare(a.StreamPrefix, b.StreamPrefix), strings.Compare(a.ConsumerGroup, b.ConsumerGroup))
	})
	for _, group := range groups[:min(len(groups), unreadableShown)] {
		lines = append(lines, UnreadableLine{
			Name: group.StreamPrefix + " / " + group.ConsumerGroup, Address: GroupPath(root, group.StreamPrefix, group.ConsumerGroup, ""),
			Problem: Words(group.Problem),
		})
	}
	return lines, len(groups) - len(lines)
}
