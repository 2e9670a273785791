package openapitest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// name is where the document is, from the root of the repository.
const name = "docs/api/openapi.yaml"

// Document is the API's document, read once for a test. It is safe for concurrent use.
type Document struct {
	// spec is the document as it is, by which requests are judged; strict is the one that
	// answers are held against.
	spec, strict *openapi3.T
	operations   []Operation
}

// Load finds the document of the repository that the test belongs to, reads it, and makes
// its answers strict. The test ends when that fails, or when the document is not valid
// OpenAPI or has an example that does not fit its schema.
func Load(t testing.TB) *Document {
	t.Helper()
	path, err := find()
	if err != nil {
		t.Fatalf("find the API's document: %v", err)
	}
	document, err := read(t, path)
	if err != nil {
		t.Fatalf("read the API's document: %v", err)
	}
	return document
}

func read(t testing.TB, path string) (*Document, error) {
	t.Helper()
	spec, err := parse(t, path)
	if err != nil {
		return nil, err
	}
	strict, err := parse(t, path)
	if err != nil {
		return nil, err
	}
	closeAnswers(strict)
	operations, err := operationsOf(spec, strict)
	if err != nil {
		return nil, fmt.Errorf("read the operations of %s: %w", path, err)
	}
	return &Document{spec: spec, strict: strict, operations: operations}, nil
}

func parse(t testing.TB, path string) (*openapi3.T, error) {
	t.Helper()
	spec, err := openapi3.NewLoader().LoadFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	if err := spec.Validate(t.Context()); err != nil {
		return nil, fmt.Errorf("validate %s: %w", path, err)
	}
	return spec, nil
}

// find walks up from the test's directory.
func find() (string, error) {
	directory, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("learn the directory of the test: %w", err)
	}
	for at := directory; ; at = filepath.Dir(at) {
		path := filepath.Join(at, filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is in no directory above %s", name, directory)
		}
	}
}

// BasePath returns the path that the document's server has, for example /coord/v1.
func (d *Document) BasePath() string { return basePath(d.spec.Servers) }

// basePath returns "" for a server at the root.
func basePath(servers openapi3.Servers) string {
	if len(servers) == 0 {
		return ""
	}
	return strings.TrimSuffix(servers[0].URL, "/")
}
