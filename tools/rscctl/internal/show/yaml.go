package show

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// yamlIndent is how far a level of YAML stands in, in blanks.
const yamlIndent = 2

// YAML writes v as one document of YAML that says what JSON says, with the names and the order
// of JSON. Characters that could steer a terminal are escaped; the meaning is the same.
func YAML(w io.Writer, v any) error {
	text, err := yamlOf(v)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("print answer: %w", err)
	}
	return nil
}

// YAMLNext writes v as YAML does, as one of several documents.
func YAMLNext(w io.Writer, v any) error {
	text, err := yamlOf(v)
	if err != nil {
		return err
	}
	if _, err := w.Write(append([]byte("---\n"), text...)); err != nil {
		return fmt.Errorf("print answer: %w", err)
	}
	return nil
}

func yamlOf(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	root, err := nodeOf(decoder)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	var plain bytes.Buffer
	encoder := yaml.NewEncoder(&plain)
	encoder.SetIndent(yamlIndent)
	if err := encoder.Encode(root); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	// What does not show as itself stands in double quotes only, where it can be escaped.
	var safe []byte
	for _, r := range plain.String() {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			safe = append(safe, string(r)...)
		default:
			safe = fmt.Appendf(safe, `\U%08X`, r)
		}
	}
	return safe, nil
}

// errShape is a JSON text that ends too early; the encoder writes none.
var errShape = errors.New("the JSON has no end")

// nodeOf reads the next value of a JSON text as a node of YAML.
func nodeOf(from *json.Decoder) (*yaml.Node, error) {
	token, err := from.Token()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errShape, err)
	}
	switch token := token.(type) {
	case json.Delim:
		return collectionOf(from, token)
	case string:
		return textNode(token), nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: token.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(token)}, nil
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	}
}

func collectionOf(from *json.Decoder, opened json.Delim) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if opened == '{' {
		node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	for from.More() { // of an object the names and the values in turns
		one, err := nodeOf(from)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, one)
	}
	if len(node.Content) == 0 {
		node.Style = yaml.FlowStyle
	}
	if _, err := from.Token(); err != nil {
		return nil, fmt.Errorf("%w: %w", errShape, err)
	}
	return node, nil
}

// textNode quotes a text where it would be read as something else, also by readers of YAML 1.1,
// or cannot stand as it is.
func textNode(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if strings.ContainsFunc(text, hidden) || mistakable(text) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

// mistakable tells of texts that are numbers, times or booleans to some readers.
func mistakable(text string) bool {
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off":
		return true
	}
	return text != "" && strings.ContainsRune("0123456789+-.", rune(text[0]))
}
