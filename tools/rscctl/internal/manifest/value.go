package manifest

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// The tags of values, as YAML 1.2 resolves them.
const (
	tagText    = "!!str"
	tagNumber  = "!!int"
	tagBoolean = "!!bool"
)

// mapping returns the values of a mapping by key; what says what it stands for.
func (p *parser) mapping(node *yaml.Node, what string, known ...string) (map[string]*yaml.Node, bool) {
	if node.Kind != yaml.MappingNode {
		p.say(node, "%s is %s; it has the keys %s", what, kindOf(node), strings.Join(known, ", "))
		return nil, false
	}
	found, lines := map[string]*yaml.Node{}, map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			p.say(key, "%s has no key %q; it has the keys %s", what, protocol.Echo(key.Value), strings.Join(known, ", "))
		case lines[key.Value] > 0:
			p.say(key, "the key %q is there twice, first in line %d", key.Value, lines[key.Value])
		default:
			found[key.Value], lines[key.Value] = value, key.Line
		}
	}
	return found, true
}

// sequence returns the items of a list.
func (p *parser) sequence(node *yaml.Node, key string) []*yaml.Node {
	if node.Kind != yaml.SequenceNode {
		p.say(node, "%s is %s; it is a list", key, kindOf(node))
		return nil
	}
	return node.Content
}

// required returns a text that has to be there.
func (p *parser) required(owner, node *yaml.Node, key, what string) string {
	switch {
	case node == nil:
		p.say(owner, "%s has no key %q", what, key)
	case node.Kind != yaml.ScalarNode || node.ShortTag() != tagText:
		p.say(node, "%s is %s; it is a text", key, kindOf(node))
	case node.Value == "":
		p.say(node, "%s is empty", key)
	default:
		return node.Value
	}
	return ""
}

// count returns a number of shards. Other forms than plain decimal digits are refused: 010 is
// 8 to some readers and 10 to others.
func (p *parser) count(owner, node *yaml.Node, key, what string) int {
	if node == nil {
		p.say(owner, "%s has no key %q", what, key)
		return 0
	}
	if node.Kind != yaml.ScalarNode || node.ShortTag() != tagNumber {
		p.say(node, "%s is %s; it is a number", key, kindOf(node))
		return 0
	}
	number, err := strconv.Atoi(node.Value)
	if err != nil || strconv.Itoa(number) != node.Value || number < 1 || number > math.MaxInt32 {
		p.say(node, "%s is %q; it is a number from 1 on in plain digits", key, protocol.Echo(node.Value))
		return 0
	}
	return number
}

func (p *parser) boolean(node *yaml.Node, key string) bool {
	switch {
	case node == nil:
		return false
	case node.Kind != yaml.ScalarNode || node.ShortTag() != tagBoolean:
		p.say(node, "%s is %s; it is true or false", key, kindOf(node))
		return false
	}
	return strings.EqualFold(node.Value, "true")
}

func (p *parser) position(node *yaml.Node, otherwise string) string {
	if node == nil {
		return otherwise
	}
	value := node.Value
	if node.Kind != yaml.ScalarNode || value != protocol.PositionEarliest && value != protocol.PositionLatest {
		p.say(node, "initialPosition is %s; it is %s or %s", kindOf(node), protocol.PositionEarliest, protocol.PositionLatest)
		return otherwise
	}
	return value
}

// kindOf tells for people what stands in the place of a value.
func kindOf(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "a mapping"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Kind == yaml.AliasNode:
		return "an alias"
	case node.ShortTag() == "!!null":
		return "nothing"
	default:
		return strconv.Quote(protocol.Echo(node.Value))
	}
}
