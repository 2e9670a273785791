package model

import (
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// systemProblems says what is degraded, and what to do about it.
func systemProblems(known Known) []Problem {
	var found []Problem
	if known.Gateway.Why != "" && !known.Gateway.Kept {
		found = append(found, Problem{
			Tone: "bad", Title: "The gateway does not answer the console", Text: known.Gateway.Why,
			Advice: "You see this page through it, so look at what is between: web.gateway of the console's settings, and the gateway's log.",
		})
	}
	health := known.Health
	switch {
	case health.Kept:
	case health.Why != "":
		found = append(found, Problem{
			Tone: "bad", Title: "No coordinator answers", Text: health.Why + " Members go on reading their shards until their leases end; nothing is assigned anew.",
			Advice: "Look whether coordinators run (their /readyz), and whether gateway.coordinators names them.",
		})
	case health.Answer != nil:
		found = append(found, coordinatorProblems(*health.Answer)...)
	}
	return found
}

func coordinatorProblems(health protocol.HealthResponse) []Problem {
	var found []Problem
	if health.Redis != protocol.HealthUp && health.Redis != "DISABLED" {
		found = append(found, Problem{
			Tone: "bad", Title: "The coordinator does not reach its Redis", Text: "Streams cannot be created or changed, and records are not looked at.",
			Advice: "Look whether Redis runs and takes the coordinator's credentials; the coordinator's log says what it answered.",
		})
	}
	if health.Loop != protocol.HealthUp {
		found = append(found, Problem{
			Tone: "bad", Title: "The coordinator's loop does not run", Text: "Leases are not looked at, and shards that nobody has stay so.",
			Advice: "Look at the coordinator's log, and start it again if it says nothing.",
		})
	}
	if len(health.Problems) > 0 {
		tone := "warn"
		if health.Status != protocol.HealthUp {
			tone = "bad"
		}
		found = append(found, Problem{
			Tone: tone, Title: "The coordinator says that something is wrong", Details: health.Problems[:min(len(health.Problems), unreadableShown)],
			Advice: "The page of a group says what can be done about it; docs/operations-runbook.md has the steps.",
		})
	}
	return found
}

// monitorProblems says what is wrong with what is shown everywhere.
func monitorProblems(monitor Part[Scene], part MonitorPart) []Problem {
	var found []Problem
	switch {
	case monitor.Kept:
	case monitor.Why != "":
		found = append(found, Problem{
			Tone: "bad", Title: "The monitor does not answer", Text: monitor.Why + " Overview, shards and records cannot be shown; members and producers do not need it.",
			Advice: "Look whether it runs (its /readyz), and whether gateway.monitor names it.",
		})
	case part.Tone == "bad":
		found = append(found, Problem{
			Tone: "bad", Title: "The monitor shows what was earlier", Text: strings.Join(part.Facts[1:], " "),
			Advice: "Look whether it reaches the coordinator and Redis; its log says what they answered.",
		})
	}
	return found
}
