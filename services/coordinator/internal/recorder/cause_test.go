package recorder_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The core's causes go on the wire as they are, so the wire has to know each of them.
func TestEveryCauseOfTheCoreIsDocumentedOnTheWire(t *testing.T) {
	t.Parallel()
	core := constants(t, filepath.Join("..", "group", "*.go"), "Cause")
	require.Contains(t, core, `"JOIN"`)
	wire := constants(t, filepath.Join("..", "..", "..", "..", "libs", "protocol", "*.go"), "EventCause")
	require.Subset(t, wire, core)
	layout := constants(t, filepath.Join("..", "stream", "*.go"), "LayoutCause")
	require.Contains(t, layout, `"SEAL"`)
	require.Subset(t, core, layout, "groups copy it with its cause (L1)")
}

// constants returns the values of a package's constants of a type, as they are written.
func constants(t *testing.T, pattern, typeName string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	var values []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			spec, isValue := node.(*ast.ValueSpec)
			if !isValue || len(spec.Values) != 1 {
				return true
			}
			kind, named := spec.Type.(*ast.Ident)
			literal, isText := spec.Values[0].(*ast.BasicLit)
			if named && kind.Name == typeName && isText {
				values = append(values, literal.Value)
			}
			return true
		})
	}
	return values
}
