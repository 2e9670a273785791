package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// partsShown is how many parts are listed, settingsShown how many with their settings, and
	// differencesShown how many settings in which coordinators differ.
	partsShown       = 100
	settingsShown    = 12
	differencesShown = 20
)

// ProcessLine is one part of the suite with what runs there.
type ProcessLine struct {
	Part, Address, State, Tone string
	Version, Commit, Go        string
	Since                      Stamp
	Instance                   string
}

// SettingsTable are the settings that hold in one part.
type SettingsTable struct {
	Title string
	// Count says how many there are.
	Count string
	Lines []SettingLine
}

// SettingLine is one setting; an empty value is not set, and one that is Masked not shown whole.
type SettingLine struct {
	Key, Value string
	Masked     bool
}

// serviceNames are what people call the services.
func serviceName(service string) string {
	switch service {
	case protocol.ServiceGateway:
		return "Gateway"
	case protocol.ServiceCoordinator:
		return "Coordinator"
	case protocol.ServiceMonitor:
		return "Monitor"
	case protocol.ServiceConsole:
		return "Console"
	default:
		return service
	}
}

// withParts adds what the parts tell of themselves.
func (s System) withParts(known Known) System {
	parts := partsOf(known)
	for _, part := range parts[:min(len(parts), partsShown)] {
		s.Processes = append(s.Processes, processLine(part))
		if process := part.Process; process != nil && len(process.Configuration) > 0 {
			s.Settings = append(s.Settings, settingsTable(process))
		}
	}
	s.MoreProcesses = len(parts) - len(s.Processes)
	if more := len(s.Settings) - settingsShown; more > 0 {
		s.Settings, s.MoreSettings = s.Settings[:settingsShown], more
	}
	s.Differ = buildsDiffer(known.Console, parts)
	s.NoParts = known.System.Why
	if known.System.Answer != nil {
		s.Problems = append(s.Problems, partProblems(parts)...)
	}
	return s
}

// partsOf are the parts that the gateway has asked, or as much as is known without it.
func partsOf(known Known) []protocol.SystemPart {
	if known.System.Answer != nil {
		return known.System.Answer.Parts
	}
	parts := []protocol.SystemPart{{Service: protocol.ServiceConsole, Process: &protocol.SystemProcess{Version: known.Console}}}
	if gateway := known.Gateway.Answer; gateway != nil {
		parts = append(parts, protocol.SystemPart{Service: protocol.ServiceGateway, Process: &protocol.SystemProcess{Version: *gateway}})
	}
	return parts
}

func processLine(part protocol.SystemPart) ProcessLine {
	line := ProcessLine{
		Part: serviceName(part.Service), Address: Unknown, State: "does not answer", Tone: "bad",
		Version: Unknown, Commit: Unknown, Go: Unknown, Instance: Unknown,
	}
	if part.Address != nil {
		line.Address = *part.Address
	}
	if process := part.Process; process != nil {
		line.State, line.Tone = "answers", "good"
		line.Version, line.Commit = cmp.Or(process.Version.Version, Unknown), cmp.Or(process.Version.Commit, Unknown)
		line.Go, line.Instance = cmp.Or(process.Version.GoVersion, Unknown), cmp.Or(process.Instance, Unknown)
		line.Since = stampOf(process.StartedAt)
	}
	return line
}

func settingsTable(process *protocol.SystemProcess) SettingsTable {
	table := SettingsTable{
		Title: serviceName(process.Service) + " " + process.Instance, Count: strings.TrimSpace(plural(len(process.Configuration), "setting", "")),
	}
	for _, setting := range process.Configuration {
		table.Lines = append(table.Lines, SettingLine(setting))
	}
	return table
}

// buildsDiffer tells whether one part is of another build than the console that shows them.
func buildsDiffer(own protocol.VersionResponse, parts []protocol.SystemPart) bool {
	return slices.ContainsFunc(parts, func(part protocol.SystemPart) bool {
		return part.Process != nil && (part.Process.Version.Version != own.Version || part.Process.Version.Commit != own.Commit)
	})
}
