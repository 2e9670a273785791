package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// MaxSize is the longest file that is read, in bytes.
const MaxSize = 4 << 20

// Problem is one thing that is wrong with a file.
type Problem struct {
	// Line is from 1 on; 0 where it is not known.
	Line int
	// Text says what is wrong, with the key that it is about.
	Text string
}

// Error is a file that cannot be taken. It tells all that is wrong with it, by line.
type Error struct {
	// File is the name of the file.
	File string
	// Problems are sorted by line; there is one at least.
	Problems []Problem
}

// Error tells every problem on a line of its own, as in streams.yaml:3: what is wrong.
func (e *Error) Error() string {
	lines := make([]string, 0, len(e.Problems))
	for _, problem := range e.Problems {
		at := e.File
		if problem.Line > 0 {
			at += ":" + strconv.Itoa(problem.Line)
		}
		lines = append(lines, at+": "+problem.Text)
	}
	return strings.Join(lines, "\n")
}

// Parse reads the text of a file. It takes what it knows and nothing else: a key that is
// unknown, or there twice, a value of another type, a name that no stream or group may have
// and a second document are refused with *Error, which names file for people.
func Parse(file string, text []byte) (Manifest, error) {
	p := &parser{}
	found := p.document(text)
	if len(p.problems) > 0 {
		slices.SortStableFunc(p.problems, func(a, b Problem) int { return a.Line - b.Line })
		return Manifest{}, &Error{File: file, Problems: p.problems}
	}
	return found, nil
}

// parser collects the problems of one file.
type parser struct{ problems []Problem }

func (p *parser) say(at *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, Problem{Line: at.Line, Text: fmt.Sprintf(format, args...)})
}

func (p *parser) document(text []byte) Manifest {
	var found Manifest
	if len(text) > MaxSize {
		p.say(&yaml.Node{}, "it has more than %d bytes", MaxSize)
		return found
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root, second yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		p.say(&yaml.Node{}, `it is empty; a file without streams says "streams: []"`)
		return found
	case err != nil:
		p.syntax(err)
		return found
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		p.say(&second, "a second document; a file has one")
		return found
	case !errors.Is(err, io.EOF):
		p.syntax(err)
		return found
	}
	top, ok := p.mapping(root.Content[0], "the file", "streams", "prune")
	if !ok {
		return found
	}
	found.Prune = p.boolean(top["prune"], "prune")
	found.Streams = p.streams(root.Content[0], top["streams"])
	return found
}

// syntax reports what the YAML reader found, with the line that it names.
func (p *parser) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	at := &yaml.Node{}
	if rest, found := strings.CutPrefix(text, "line "); found {
		number, what, _ := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); err == nil {
			at.Line, text = line, what
		}
	}
	p.say(at, "this is no YAML: %s", text)
}

func (p *parser) streams(file, list *yaml.Node) []Stream {
	if list == nil {
		p.say(file, `the key "streams" is missing`)
		return nil
	}
	lines := map[string]int{}
	var streams []Stream
	for _, item := range p.sequence(list, "streams") {
		one := p.stream(item)
		if one.Name != "" && lines[one.Name] > 0 {
			p.say(item, "stream %q is there twice, first in line %d", protocol.Echo(one.Name), lines[one.Name])
			continue
		}
		lines[one.Name] = item.Line
		streams = append(streams, one)
	}
	return streams
}

func (p *parser) stream(node *yaml.Node) Stream {
	keys, ok := p.mapping(node, "a stream", "name", "shardCount", "initialPosition", "groups")
	if !ok {
		return Stream{}
	}
	one := Stream{
		Name: p.required(node, keys["name"], "name", "a stream"), Line: node.Line,
		ShardCount: p.count(node, keys["shardCount"], "shardCount", "a stream"),
	}
	if one.Name != "" {
		if err := protocol.CheckStreamPrefix(one.Name, protocol.DefaultKeyPrefix); err != nil {
			p.say(keys["name"], "name: %v", err)
		}
	}
	position := p.position(keys["initialPosition"], protocol.PositionEarliest)
	if keys["groups"] == nil {
		p.say(node, `a stream has no key "groups"`)
		return one
	}
	lines := map[string]int{}
	for _, item := range p.sequence(keys["groups"], "groups") {
		group := p.group(item, position)
		if group.Name != "" && lines[group.Name] > 0 {
			p.say(item, "group %q is there twice, first in line %d", protocol.Echo(group.Name), lines[group.Name])
			continue
		}
		lines[group.Name] = item.Line
		one.Groups = append(one.Groups, group)
	}
	if keys["groups"].Kind == yaml.SequenceNode && len(keys["groups"].Content) == 0 {
		p.say(keys["groups"], "groups is empty; a stream has one group at least")
	}
	return one
}

func (p *parser) group(node *yaml.Node, position string) Group {
	keys, ok := p.mapping(node, "a group", "name", "initialPosition")
	if !ok {
		return Group{}
	}
	one := Group{
		Name:            p.required(node, keys["name"], "name", "a group"),
		InitialPosition: p.position(keys["initialPosition"], position),
	}
	if one.Name != "" {
		if err := protocol.CheckConsumerGroup(one.Name); err != nil {
			p.say(keys["name"], "name: %v", err)
		}
	}
	return one
}
