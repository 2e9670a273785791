package apidocs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// convert writes an OpenAPI document as JSON, in the order that it has, with basePath as the
// path of its first server.
func convert(document []byte, basePath string) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	url := serverURL(&root)
	if url == nil {
		return nil, errors.New("there is no server in it")
	}
	url.Value = basePath
	if basePath == "" {
		url.Value = "/"
	}
	var out bytes.Buffer
	if err := write(&out, &root); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// serverURL returns the node of servers[0].url, nil where there is none.
func serverURL(root *yaml.Node) *yaml.Node {
	if len(root.Content) == 0 {
		return nil
	}
	servers := field(root.Content[0], "servers")
	if servers == nil || len(servers.Content) == 0 {
		return nil
	}
	return field(servers.Content[0], "url")
}

func field(object *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(object.Content); i += 2 {
		if object.Content[i].Value == name {
			return object.Content[i+1]
		}
	}
	return nil
}

// write appends a node as JSON. Keys are texts, as OpenAPI asks for: 200 is "200".
func write(out *bytes.Buffer, node *yaml.Node) error {
	switch node.Kind {
	case yaml.DocumentNode:
		return write(out, node.Content[0])
	case yaml.AliasNode:
		return write(out, node.Alias)
	case yaml.MappingNode:
		return writeList(out, '{', '}', len(node.Content)/2, func(i int) error {
			if err := writeValue(out, node.Content[2*i].Value); err != nil {
				return err
			}
			out.WriteByte(':')
			return write(out, node.Content[2*i+1])
		})
	case yaml.SequenceNode:
		return writeList(out, '[', ']', len(node.Content), func(i int) error { return write(out, node.Content[i]) })
	case yaml.ScalarNode:
		return writeScalar(out, node)
	default:
		return fmt.Errorf("line %d: a node of kind %d", node.Line, node.Kind)
	}
}

func writeList(out *bytes.Buffer, begin, end byte, length int, item func(int) error) error {
	out.WriteByte(begin)
	for i := range length {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := item(i); err != nil {
			return err
		}
	}
	out.WriteByte(end)
	return nil
}

// writeScalar keeps times as they are written: JSON has none.
func writeScalar(out *bytes.Buffer, node *yaml.Node) error {
	var value any = node.Value
	switch node.ShortTag() {
	case "!!int", "!!float", "!!bool", "!!null":
		if err := node.Decode(&value); err != nil {
			return fmt.Errorf("line %d: %w", node.Line, err)
		}
	}
	return writeValue(out, value)
}

func writeValue(out *bytes.Buffer, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %v: %w", value, err)
	}
	out.Write(data)
	return nil
}
