package stream

import (
	"slices"
)

// LayoutCause says why the layout changed last.
type LayoutCause string

// The causes; they are those of the groups' flight recorders.
const (
	CauseScale       LayoutCause = "SCALE"
	CauseRollback    LayoutCause = "ROLLBACK"
	CauseSeal        LayoutCause = "SEAL"
	CauseReprovision LayoutCause = "REPROVISION"
	CauseCorrection  LayoutCause = "CORRECTION"
)

// ReadCount is the end of the reading set: the routing set and the removed shards, of
// which Closed are not read any more.
func (s Stream) ReadCount() int { return s.ShardCount + s.Removed }

// Closed returns the removed shards that nobody is to read any more, sorted (L5).
func (s Stream) Closed() []int {
	if s.Resharding == nil || s.Removed == 0 {
		return nil
	}
	closed := append(s.Resharding.At(StepClosing), s.Resharding.At(StepSealed)...)
	slices.Sort(closed)
	return closed
}

// Readable returns the shards of the reading set that are open, sorted.
func (s Stream) Readable() []int {
	closed := s.Closed()
	readable := make([]int, 0, s.ReadCount()-len(closed))
	for i := range s.ReadCount() {
		if _, found := slices.BinarySearch(closed, i); !found {
			readable = append(readable, i)
		}
	}
	return readable
}

// relaid returns the record with a layout that groups have to copy. A shard that nobody is
// to read any more is not missed: to make it again would undo its seal (L5, L12).
func (s Stream) relaid(cause LayoutCause) Stream {
	s.LayoutVersion++
	s.LayoutCause = cause
	s.Lost = s.among(s.Lost)
	return s
}

// among returns those of the indexes that are of the reading set and open, nil for none.
func (s Stream) among(indexes []int) []int {
	closed := s.Closed()
	var open []int
	for _, i := range indexes {
		if _, found := slices.BinarySearch(closed, i); !found && i >= 0 && i < s.ReadCount() {
			open = append(open, i)
		}
	}
	return open
}

// Overtaken brings the layout's version above the one that a group has copied: the
// record lost writes, and what it says now is what holds (L1).
func (s Stream) Overtaken(version int64) Stream {
	if version < s.LayoutVersion {
		return s
	}
	s.LayoutVersion = version
	s.MetadataVersion++
	return s.relaid(CauseCorrection)
}

// Rewritten is the same record, to be stored in the schema that is written now (storage,
// Versions).
func (s Stream) Rewritten() Stream {
	s.MetadataVersion++
	return s
}

// WithLost notes shards that are missing in Redis (L12). Those that are not to be read are
// not missed.
func (s Stream) WithLost(indexes []int, now int64) Stream {
	lost := slices.Concat(s.Lost, s.among(indexes))
	slices.Sort(lost)
	if lost = slices.Compact(lost); slices.Equal(lost, s.Lost) {
		return s
	}
	s.Lost, s.Mark = lost, s.nextMark(now)
	s.MetadataVersion++
	return s.relaid(CauseReprovision)
}

// WithFound notes that missing shards were made again (L12).
func (s Stream) WithFound(indexes []int) Stream {
	lost := slices.DeleteFunc(slices.Clone(s.Lost), func(i int) bool { return slices.Contains(indexes, i) })
	if len(lost) == len(s.Lost) {
		return s
	}
	if s.Lost = lost; len(lost) == 0 {
		s.Lost = nil
	}
	s.MetadataVersion++
	return s.relaid(CauseReprovision)
}
