package openapitest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// constants returns the values of the constants of a type in a file of libs/protocol.
func constants(t *testing.T, file, kind string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "protocol", file), nil, 0)
	require.NoError(t, err)
	var values []string
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, isValue := node.(*ast.ValueSpec)
		if !isValue || len(spec.Values) == 0 {
			return true
		}
		named, hasType := spec.Type.(*ast.Ident)
		literal, isLiteral := spec.Values[0].(*ast.BasicLit)
		if !hasType || !isLiteral || named.Name != kind {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		require.NoError(t, err)
		values = append(values, text)
		return true
	})
	require.NotEmpty(t, values, kind)
	return values
}
