package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// partProblems says which parts do not answer, and in which settings the coordinators differ.
func partProblems(parts []protocol.SystemPart) []Problem {
	var found []Problem
	for _, part := range parts {
		if part.Process != nil {
			continue
		}
		if len(found) == unreadableShown {
			break
		}
		name, why := serviceName(part.Service), "does not answer"
		if part.Address != nil {
			name += " " + *part.Address
		}
		if part.Problem != nil {
			why = *part.Problem
		}
		why, advice, _ := strings.Cut(why, "; ")
		found = append(found, Problem{
			Tone: "bad", Title: name + " does not tell what it is", Text: "It " + why + ".",
			Advice: upper(cmp.Or(advice, "look whether it runs, and at its log")) + ".",
		})
	}
	if apart := settingsApart(parts); len(apart) > 0 {
		found = append(found, Problem{
			Tone: "warn", Title: "The coordinators differ in their settings", Details: apart[:min(len(apart), differencesShown)],
			Text:   "Each decides by its own, so what happens depends on which of them is asked.",
			Advice: "Give all coordinators the same settings; that is fine while a change of them is rolled out.",
		})
	}
	return found
}

// settingsApart lists the settings that are not the same in all coordinators, with their values.
// Where each listens, and what is not shown, may well differ.
func settingsApart(parts []protocol.SystemPart) []string {
	values := map[string][]string{}
	var keys []string
	for _, part := range parts {
		if part.Service != protocol.ServiceCoordinator || part.Process == nil {
			continue
		}
		for _, setting := range part.Process.Configuration {
			if setting.Masked || strings.HasSuffix(setting.Key, "listen") {
				continue
			}
			if values[setting.Key] == nil {
				keys = append(keys, setting.Key)
			}
			if !slices.Contains(values[setting.Key], setting.Value) {
				values[setting.Key] = append(values[setting.Key], setting.Value)
			}
		}
	}
	var apart []string
	for _, key := range keys {
		if len(values[key]) > 1 {
			apart = append(apart, key+": "+strings.Join(values[key], " and "))
		}
	}
	return apart
}
