package rates_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// server counts as a Redis 7 does: the ids are n-0, and what a group has read is counted up
// until something was deleted behind it, and estimated then. A newer one also estimates
// after the group's next entry was trimmed away.
type server struct {
	newer   bool
	runID   string
	now     time.Time
	clock   int64 // of the ids
	entries []int64
	added   int64
	last    int64
	deleted int64
	group   *group
}

// group is the one group of a server, with what really happened.
type group struct {
	cursor    int64
	read      *int64
	delivered int64
	lost      int64 // unread entries that went away
}

const groupName = "g"

func newServer(newer bool) *server {
	return &server{newer: newer, runID: "run-0", now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), group: &group{}}
}

func (s *server) clone() *server {
	twin := *s
	twin.entries = slices.Clone(s.entries)
	if s.group != nil {
		g := *s.group
		twin.group = &g
	}
	return &twin
}

func (s *server) add(n int) {
	for range n {
		s.clock++
		s.last = s.clock
		s.added++
		s.entries = append(s.entries, s.last)
	}
}

// read delivers up to n entries.
func (s *server) read(n int) {
	for _, id := range s.unread() {
		if n == 0 {
			return
		}
		n--
		s.count(id)
		s.group.cursor = id
		s.group.delivered++
	}
}

func (s *server) count(id int64) {
	g := s.group
	skipped := s.newer && g.cursor < s.entries[0]
	switch {
	case g.read != nil && !s.tombstones(id) && !skipped:
		g.read = new(*g.read + 1)
	default:
		g.read = s.distance(id)
	}
}

// tombstones tells whether Redis takes it that something was deleted after an id: not if it
// was before the first entry (F01).
func (s *server) tombstones(after int64) bool {
	return len(s.entries) > 0 && s.deleted >= s.entries[0] && after <= s.deleted
}

func (s *server) distance(id int64) *int64 {
	switch {
	case s.added == 0:
		return new(int64)
	case len(s.entries) == 0 && id <= s.last, id == s.last:
		return new(s.added)
	case id > s.last || len(s.entries) == 0:
		return nil
	}
	if first := s.entries[0]; s.deleted < first {
		if id < first {
			return new(s.added - int64(len(s.entries)))
		}
		if id == first {
			return new(s.added - int64(len(s.entries)) + 1)
		}
	}
	return nil
}

func (s *server) lag() *int64 {
	switch {
	case s.added == 0:
		return new(int64)
	case s.group.read != nil && !s.tombstones(s.group.cursor):
		return new(s.added - *s.group.read)
	}
	if distance := s.distance(s.group.cursor); distance != nil {
		return new(s.added - *distance)
	}
	return nil
}

func (s *server) unread() []int64 {
	if s.group == nil {
		return nil
	}
	i, _ := slices.BinarySearch(s.entries, s.group.cursor+1)
	return s.entries[i:]
}

// trim leaves the newest n entries.
func (s *server) trim(n int) {
	for len(s.entries) > n {
		s.gone(s.entries[0])
		s.entries = s.entries[1:]
	}
}

// remove is XDEL of the entry at an index.
func (s *server) remove(i int) {
	id := s.entries[i]
	s.gone(id)
	s.deleted = max(s.deleted, id)
	if i == 0 {
		s.entries = s.entries[1:]
		return
	}
	s.entries = slices.Delete(slices.Clone(s.entries), i, i+1)
}

func (s *server) gone(id int64) {
	if s.group != nil && id > s.group.cursor {
		s.group.lost++
	}
}

// drop is DEL of the key, after which it is made again with its group.
func (s *server) drop() {
	s.entries, s.added, s.last, s.deleted = nil, 0, 0, 0
	s.group = &group{}
}

// shard is what an observation says. Tail tells whether the unread entries are counted.
func (s *server) shard(tail bool) facts.Shard {
	shard := facts.Shard{
		Key: "orders:0", At: s.now, Node: facts.Node{RunID: s.runID}, Length: int64(len(s.entries)), EntriesAdded: new(s.added),
		LastGeneratedID: id(s.last), MaxDeletedID: id(s.deleted), Groups: map[string]facts.ShardGroup{},
	}
	if len(s.entries) > 0 {
		shard.FirstID, shard.LastID = id(s.entries[0]), id(s.entries[len(s.entries)-1])
	}
	if s.group == nil {
		return shard
	}
	g := facts.ShardGroup{LastDeliveredID: id(s.group.cursor), Lag: s.lag()}
	if s.group.read != nil {
		g.EntriesRead = new(*s.group.read)
	}
	unread := s.unread()
	if len(unread) > 0 {
		g.FirstUnreadID = id(unread[0])
	}
	if tail && len(unread) <= facts.TailLimit {
		g.Tail = new(int64(len(unread)))
	}
	shard.Groups[groupName] = g
	return shard
}

// id is the text of an id, nil for none.
func id(n int64) *string {
	if n == 0 {
		return nil
	}
	return new(fmt.Sprintf("%d-0", n))
}

// roundOf is a round with the one shard.
func roundOf(number int64, shard facts.Shard) facts.Round {
	return facts.Round{
		Number: number, At: shard.At,
		Streams: []facts.Stream{{Prefix: "orders", ShardCount: 1, Shards: []facts.Shard{shard}}},
	}
}
