package memstore

import (
	"maps"
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Image is the whole content of a Store at one moment. It never changes.
type Image struct {
	records map[store.Key]*record
	history map[store.Key][]event
	leases  map[store.Key]held
}

// record is one stored record.
type record struct {
	version   store.Version
	schema    int
	aggregate []byte
	liveness  map[string]store.Liveness
	servedAt  store.Millis
	spoiled   string // the guard field that cannot be read, or empty
}

// Dump returns a copy of the content.
func (s *Store) Dump() Image {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.image.clone()
}

// Restore puts the content of the image back, so that the store goes back in time.
// Clock and identity stay as they are.
func (s *Store) Restore(image Image) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.image = image.clone()
}

func newImage() Image {
	return Image{
		records: make(map[store.Key]*record),
		history: make(map[store.Key][]event),
		leases:  make(map[store.Key]held),
	}
}

// clone copies what a Store changes in place. Byte slices in it are never written to.
func (i Image) clone() Image {
	copied := newImage()
	for key, found := range i.records {
		twin := *found
		twin.liveness = maps.Clone(found.liveness)
		copied.records[key] = &twin
	}
	for key, events := range i.history {
		copied.history[key] = slices.Clone(events)
	}
	maps.Copy(copied.leases, i.leases)
	return copied
}

// cloneLiveness copies liveness for a caller, who may write to it.
func cloneLiveness(liveness map[string]store.Liveness) map[string]store.Liveness {
	copied := make(map[string]store.Liveness, len(liveness))
	for member, state := range liveness {
		state.Detail = slices.Clone(state.Detail)
		copied[member] = state
	}
	return copied
}
