// Package mutation knows the named ways to break the protocol (reliability, section 1):
// each is an exact replacement of lines in the sources, with the searches that have to
// notice it.
//
// A mutation is a text file, so that it reads like the change that it is:
//
//	MUT01 early hand-out
//	breaks: protocol H2
//	search: script services/coordinator/internal/group ^TestScripts$
//	search: walk services/coordinator/internal/group ^TestWalks$ -walks=150
//	file: services/coordinator/internal/group/settle.go
//	-		if target == "" || s.g.Holds[shard].held() || s.g.lost(shard) {
//	+		if target == "" || s.g.lost(shard) {
//	 			continue
//
// A search is a kind, a package, the tests to run, and flags for them. Lines behind a file
// begin with a blank where they stay, with - where they go and with + where they come; a
// file named twice is changed in two places. What goes and stays has to be in the file
// exactly once: sources that move on take their mutations along, or the gate fails.
package mutation

import "fmt"

// Mutation is one way to break the protocol.
type Mutation struct {
	// ID is MUT01 to MUT35, Name what the design calls it.
	ID, Name string
	// Breaks is the rule that does not hold any more.
	Breaks string
	// Searches have to notice the mutation, each by itself. There is at least one.
	Searches []Search
	// Edits are the changes, at least one, in the order of the file.
	Edits []Edit
}

// Kind says how a search goes about it.
type Kind string

// The kinds of searches.
const (
	Script Kind = "script" // scripted traces of the core
	Walk   Kind = "walk"   // seeded random walks
	BFS    Kind = "bfs"    // breadth-first exploration
	Test   Kind = "test"   // a unit or flow test
)

// Search is some tests of one package.
type Search struct {
	Kind Kind
	// Package is the directory of the package, relative to the root, with slashes.
	Package string
	// Run picks the tests, as go test -run does.
	Run string
	// Flags are handed to the tests.
	Flags []string
}

// String names the search as the file does.
func (s Search) String() string { return fmt.Sprintf("%s %s %s", s.Kind, s.Package, s.Run) }

// Edit replaces whole lines of one file.
type Edit struct {
	// File is relative to the root, with slashes.
	File string
	// Before and After are the lines, without a newline at the end. They differ, and
	// Before is not empty.
	Before, After string
}
