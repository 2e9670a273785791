package mutation

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// ErrFormat comes when a file is no mutation.
var ErrFormat = errors.New("not a mutation")

// Parse reads the text of a mutation's file.
func Parse(text string) (Mutation, error) {
	title, rest, _ := strings.Cut(text, "\n")
	id, name, _ := strings.Cut(title, " ")
	p := parser{m: Mutation{ID: id, Name: strings.TrimSpace(name)}}
	for i, line := range strings.Split(rest, "\n") {
		if err := p.line(line); err != nil {
			return Mutation{}, fmt.Errorf("%w: line %d: %w", ErrFormat, i+2, err)
		}
	}
	p.endEdit()
	if err := p.m.check(); err != nil {
		return Mutation{}, fmt.Errorf("%w: %s: %w", ErrFormat, id, err)
	}
	return p.m, nil
}

// parser collects a mutation line by line.
type parser struct {
	m             Mutation
	file          string // of the edit that is being read, "" outside of one
	before, after []string
}

func (p *parser) line(line string) error {
	if line == "" {
		p.endEdit()
		return nil
	}
	if p.file != "" && strings.ContainsRune(" -+", rune(line[0])) {
		if line[0] != '+' {
			p.before = append(p.before, line[1:])
		}
		if line[0] != '-' {
			p.after = append(p.after, line[1:])
		}
		return nil
	}
	p.endEdit()
	key, value, found := strings.Cut(line, ": ")
	switch {
	case found && key == "breaks" && p.m.Breaks == "":
		p.m.Breaks = value
	case found && key == "search":
		s, err := parseSearch(value)
		if err != nil {
			return err
		}
		p.m.Searches = append(p.m.Searches, s)
	case found && key == "file" && fs.ValidPath(value):
		p.file = value
	default:
		return fmt.Errorf("cannot be read: %q", line)
	}
	return nil
}

// endEdit takes over the edit that has been read, if one has begun.
func (p *parser) endEdit() {
	if p.file == "" {
		return
	}
	p.m.Edits = append(p.m.Edits, Edit{
		File: p.file, Before: strings.Join(p.before, "\n"), After: strings.Join(p.after, "\n"),
	})
	p.file, p.before, p.after = "", nil, nil
}

func parseSearch(value string) (Search, error) {
	words := strings.Fields(value)
	if len(words) < 3 {
		return Search{}, fmt.Errorf("a search is a kind, a package and tests: %q", value)
	}
	s := Search{Kind: Kind(words[0]), Package: words[1], Run: words[2], Flags: words[3:]}
	if !slices.Contains([]Kind{Script, Walk, BFS, Test}, s.Kind) {
		return Search{}, fmt.Errorf("unknown kind of search: %q", words[0])
	}
	if !fs.ValidPath(s.Package) {
		return Search{}, fmt.Errorf("not a directory of the tree: %q", s.Package)
	}
	if _, err := regexp.Compile(s.Run); err != nil {
		return Search{}, fmt.Errorf("tests of a search: %w", err)
	}
	return s, nil
}

// check refuses a mutation that lacks something.
func (m Mutation) check() error {
	switch {
	case m.ID == "" || m.Name == "" || m.Breaks == "":
		return errors.New("id, name or rule is missing")
	case len(m.Searches) == 0:
		return errors.New("no search has to notice it")
	case len(m.Edits) == 0:
		return errors.New("it changes nothing")
	}
	for _, e := range m.Edits {
		if e.Before == "" || e.Before == e.After {
			return fmt.Errorf("the change of %s changes nothing", e.File)
		}
	}
	return nil
}
