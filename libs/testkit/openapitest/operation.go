package openapitest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Operation is one operation of the document.
type Operation struct {
	// ID is the operationId.
	ID string
	// Method is upper case, Path the whole path with its parameters' names, for example
	// /coord/v1/streams/{streamPrefix}.
	Method, Path string
	// Roles are those of x-role.
	Roles []string
	// Codes are the error codes that the operation can have with 404, 409 and 422.
	Codes []protocol.Code
	// Body is the example of the request's body, nil where it takes none.
	Body []byte
	// Example tells how the operation can be tried on a coordinator; nil where it cannot, as
	// the gateway serves it.
	Example *Example

	item *openapi3.PathItem
	// operation is the operation as it is, strict the one that answers are held against.
	operation, strict *openapi3.Operation
}

// Example is the x-example of an operation: a request that works when those with a lower
// Order were sent before it.
type Example struct {
	Order int `json:"order"`
	// Path is what to ask for, from the root, with the query. {reshardingId} in it stands
	// for the id in the last answer that had one.
	Path string `json:"path"`
	// Status is what is answered.
	Status int `json:"status"`
}

// Operations returns all operations, sorted by path and method.
func (d *Document) Operations() []Operation { return slices.Clone(d.operations) }

func operationsOf(spec, strict *openapi3.T) ([]Operation, error) {
	var all []Operation
	for path, item := range spec.Paths.Map() {
		base := basePath(spec.Servers)
		if len(item.Servers) > 0 {
			base = basePath(item.Servers)
		}
		for method, operation := range item.Operations() {
			found := Operation{
				ID: operation.OperationID, Method: method, Path: base + path,
				item: item, operation: operation, strict: strict.Paths.Value(path).GetOperation(method),
			}
			if err := found.read(base); err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			all = append(all, found)
		}
	}
	slices.SortFunc(all, func(a, b Operation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return all, nil
}

func (o *Operation) read(base string) error {
	if err := extension(o.operation.Extensions, "x-role", &o.Roles); err != nil {
		return err
	}
	if err := extension(o.operation.Extensions, codesOf, &o.Codes); err != nil {
		return err
	}
	if err := extension(o.operation.Extensions, "x-example", &o.Example); err != nil {
		return err
	}
	if o.Example != nil {
		o.Example.Path = base + o.Example.Path
	}
	if o.operation.RequestBody == nil {
		return nil
	}
	media := o.operation.RequestBody.Value.Content.Get("application/json")
	if media == nil || media.Example == nil {
		return fmt.Errorf("%s takes a body and has no example of one", o.ID)
	}
	body, err := json.Marshal(media.Example)
	if err != nil {
		return fmt.Errorf("encode the example of %s: %w", o.ID, err)
	}
	o.Body = body
	return nil
}

// extension reads an extension into value, which it leaves alone where there is none.
func extension(extensions map[string]any, name string, value any) error {
	found, there := extensions[name]
	if !there {
		return nil
	}
	data, err := json.Marshal(found)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	if err := json.Unmarshal(data, value); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// match finds the operation of a method and an escaped path, with the path's parameters.
// A segment that the document writes out goes before a parameter.
func (d *Document) match(method, escaped string) (*Operation, map[string]string) {
	for _, wantLiteral := range []bool{true, false} {
		for i, operation := range d.operations {
			if operation.Method != method || strings.Contains(operation.Path, "{") == wantLiteral {
				continue
			}
			if parameters, fits := fit(operation.Path, escaped); fits {
				return &d.operations[i], parameters
			}
		}
	}
	return nil, nil
}

func fit(pattern, escaped string) (map[string]string, bool) {
	wanted, given := strings.Split(pattern, "/"), strings.Split(escaped, "/")
	if len(wanted) != len(given) {
		return nil, false
	}
	parameters := map[string]string{}
	for i, segment := range wanted {
		text, err := url.PathUnescape(given[i])
		if err != nil {
			return nil, false
		}
		switch inner, isParameter := strings.CutPrefix(segment, "{"); {
		case isParameter && text != "":
			parameters[strings.TrimSuffix(inner, "}")] = text
		case text != segment:
			return nil, false
		}
	}
	return parameters, true
}
