package model

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// samplesAge is for how long samples are good: the newest of them stands for a longer time.
const samplesAge = 10 * time.Second

// SamplesDue tells whether the samples of all groups are to be asked for: there are none, or they
// are old.
func (s *Scene) SamplesDue() bool {
	if s == nil {
		return false
	}
	age := s.At.Sub(s.SampledAt.Time)
	return s.Samples == nil || age < 0 || age >= samplesAge
}

// WithSamples returns the scene with the samples of rows, which may be none.
func (s *Scene) WithSamples(rows []protocol.GrafanaGroupRow) *Scene {
	next := *s
	next.SampledAt, next.Samples = s.At, make(map[protocol.GroupName]*protocol.Samples, len(rows))
	for _, row := range rows {
		next.Samples[protocol.GroupName{StreamPrefix: row.StreamPrefix, ConsumerGroup: row.ConsumerGroup}] = row.Samples
	}
	return &next
}

// GroupRows returns the groups' rows with their samples, in no order.
func (s *Scene) GroupRows() []protocol.GrafanaGroupRow {
	rows := make([]protocol.GrafanaGroupRow, 0, len(s.Groups))
	for name, row := range s.Groups {
		row.Samples = s.Samples[name]
		rows = append(rows, row)
	}
	return rows
}
