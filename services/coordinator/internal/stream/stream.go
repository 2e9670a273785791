// Package stream is the record of a logical stream: its layout and its groups. It is
// pure. The record decides about the creation and deletion of groups before anything
// else changes (protocol L1), so that two coordinators agree on what is under way.
package stream

import (
	"cmp"
	"errors"
	"slices"
)

// State is how far a group of the stream has come.
type State string

// The states of a group in the stream's record.
const (
	// Creating groups are being provisioned; a retry completes them.
	Creating State = "CREATING"
	// Active groups have their own record.
	Active State = "ACTIVE"
	// Deleting groups are on their way out; a retry completes it.
	Deleting State = "DELETING"
)

// Errors of the transitions.
var (
	// ErrGroupExists comes when the group is active already.
	ErrGroupExists = errors.New("group exists")
	// ErrGroupUnknown comes when the stream has no such group.
	ErrGroupUnknown = errors.New("stream has no such group")
	// ErrGroupBusy comes when the group is being deleted.
	ErrGroupBusy = errors.New("group is being deleted")
)

// Stream is the record of one stream. Methods return a changed copy.
type Stream struct {
	Prefix string `json:"prefix"`
	// ShardCount is the routing set: shards 0 … ShardCount-1. Behind it come the Removed
	// shards, which are read until they are empty (L3).
	ShardCount int `json:"shardCount"`
	Removed    int `json:"removed,omitempty"`
	// LayoutVersion rises with every change that the groups have to copy, LayoutCause says
	// why it did last (L1).
	LayoutVersion int64       `json:"layoutVersion,omitempty"`
	LayoutCause   LayoutCause `json:"layoutCause,omitempty"`
	// Lost are shards that are missing in Redis, sorted (L12).
	Lost []int `json:"lost,omitempty"`
	// Mark is the highest number given to a marker of a shard (L2).
	Mark int64 `json:"mark,omitempty"`
	// MetadataVersion rises by one with every change of the record.
	MetadataVersion int64 `json:"metadataVersion"`
	// Lineage is a nonce of the record's creation.
	Lineage string `json:"lineage"`
	// Groups is sorted by name.
	Groups    []Group `json:"groups"`
	CreatedAt int64   `json:"createdAt"` // milliseconds of the store's clock
	// Resharding is the one that is under way, nil for none; Past are finished ones, the
	// newest first, at most MaxPast (L1).
	Resharding *Resharding  `json:"resharding,omitempty"`
	Past       []Resharding `json:"past,omitempty"`
}

// Group is the stream's view of one of its groups.
type Group struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// FromLatest starts the Redis group at the end of the shards, otherwise at their
	// beginning.
	FromLatest bool `json:"fromLatest,omitempty"`
}

// Find returns a group of the stream.
func (s Stream) Find(name string) (Group, bool) {
	i, found := s.find(name)
	if !found {
		return Group{}, false
	}
	return s.Groups[i], true
}

// Active returns the names of the active groups, sorted.
func (s Stream) Active() []string {
	names := []string{}
	for _, g := range s.Groups {
		if g.State == Active {
			names = append(names, g.Name)
		}
	}
	return names
}

// WithCreating adds a group that is to be provisioned. A group that is being created
// stays as it is: this is the retry. With repair an active group is created again (M6),
// the only thing that may be done while a resharding is under way (L1).
func (s Stream) WithCreating(g Group, repair bool) (Stream, error) {
	i, found := s.find(g.Name)
	switch {
	case s.Resharding != nil && !(repair && found):
		return s, ErrActive
	case !found:
		g.State = Creating
		return s.with(slices.Insert(slices.Clone(s.Groups), i, g)), nil
	case s.Groups[i].State == Deleting:
		return s, ErrGroupBusy
	case s.Groups[i].State == Active && !repair:
		return s, ErrGroupExists
	default:
		return s, nil
	}
}

// WithState moves a group to another state. None is deleted while a resharding is under
// way (L1).
func (s Stream) WithState(name string, state State) (Stream, error) {
	i, found := s.find(name)
	if !found {
		return s, ErrGroupUnknown
	}
	if s.Groups[i].State == state {
		return s, nil
	}
	if s.Resharding != nil && state == Deleting {
		return s, ErrActive
	}
	groups := slices.Clone(s.Groups)
	groups[i].State = state
	return s.with(groups), nil
}

// Without removes a group.
func (s Stream) Without(name string) (Stream, error) {
	i, found := s.find(name)
	if !found {
		return s, ErrGroupUnknown
	}
	return s.with(slices.Delete(slices.Clone(s.Groups), i, i+1)), nil
}

func (s Stream) with(groups []Group) Stream {
	s.Groups = groups
	s.MetadataVersion++
	return s
}

func (s Stream) find(name string) (int, bool) {
	return slices.BinarySearchFunc(s.Groups, name, func(g Group, name string) int { return cmp.Compare(g.Name, name) })
}
