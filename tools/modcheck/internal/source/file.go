// Package source reads the Go files of a tree and keeps what the numbers of this
// codebase are made of: sizes, comments, imports. It looks at the syntax only, so it
// needs no build and reads a tree that does not compile yet.
package source

import (
	"path"
	"strings"
)

// File is one Go file that a person wrote; generated files are never among them.
type File struct {
	// Path is relative to the root of the tree, with slashes.
	Path string
	// Package is the name in the package clause.
	Package string
	// Lines counts all lines, CodeLines those with at least one token on them that is
	// not a comment.
	Lines     int
	CodeLines int
	// PackageComment tells whether the package clause is documented.
	PackageComment bool
	Functions      []Function
	// Exported holds the exported top-level names; a _test.go file has none.
	Exported []Name
	// Imports holds import paths.
	Imports []string
	// Nolints holds the lines with a nolint directive.
	Nolints []int
	// ClockReads holds the lines that ask the time package for the time or for a timer.
	ClockReads []int
}

// Function is a function or method with a body.
type Function struct {
	Name  string
	Line  int
	Lines int // from the func keyword to the closing brace, both included
}

// Name is an exported name: a function, type, constant, variable, or a method of an
// exported type.
type Name struct {
	Name       string
	Line       int
	Documented bool
}

// Dir is the directory of the file, relative to the root.
func (f *File) Dir() string { return path.Dir(f.Path) }

// InTestFile tells whether the go command compiles the file for tests only.
func (f *File) InTestFile() bool { return strings.HasSuffix(f.Path, "_test.go") }

// IsTest tells whether only tests use the file: a _test.go file, or one of a package
// that is named as Go names test support (httptest, storetest).
func (f *File) IsTest() bool { return f.InTestFile() || strings.HasSuffix(f.Package, "test") }

// Under tells whether the file lies in dir or below it.
func (f *File) Under(dir string) bool { return strings.HasPrefix(f.Path, dir+"/") }
