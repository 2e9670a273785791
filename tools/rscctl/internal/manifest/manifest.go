// Package manifest reads the file that declares which streams there should be, and tells what
// has to change for that. It takes values and returns values: who asks the coordinator and
// carries the changes out is somebody else.
package manifest

// Manifest is what a file declares.
type Manifest struct {
	// Streams are in the order of the file; names occur once.
	Streams []Stream
	// Prune deletes what exists and is not declared. Without it that is left alone.
	Prune bool
}

// Stream is one stream that should exist.
type Stream struct {
	Name string
	// ShardCount is 1 or more; how many are too many is for the coordinator to say.
	ShardCount int
	// Groups are in the order of the file, one at least; names occur once.
	Groups []Group
	// Line is where the stream stands in the file, from 1 on.
	Line int
}

// Group is one consumer group that should exist.
type Group struct {
	Name string
	// InitialPosition is protocol.PositionEarliest or protocol.PositionLatest. It matters when
	// the group is made and never after.
	InitialPosition string
}
