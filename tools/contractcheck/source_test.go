package contractcheck_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shippedFiles calls do with every source file that may be built into a program.
func shippedFiles(t *testing.T, do func(path string, file *ast.File)) int {
	t.Helper()
	root, count := filepath.Join("..", ".."), 0
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testkit" || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			count++
			do(path, file)
		}
		return err
	}))
	return count
}

// reliability 5, Redis: scripts take data as KEYS and ARGV only, and no text is built into one.
func TestNoScriptIsBuiltFromData(t *testing.T) {
	t.Parallel()
	scripts := 0
	shippedFiles(t, func(path string, file *ast.File) {
		ast.Inspect(file, func(node ast.Node) bool {
			call, is := node.(*ast.CallExpr)
			if !is {
				return true
			}
			source := scriptOf(call)
			if source == nil {
				return true
			}
			scripts++
			switch source.(type) {
			case *ast.Ident, *ast.SelectorExpr: // a constant, or one of the embedded files
			default:
				require.Fail(t, "a script is put together where it is sent", "%s: %T", path, source)
			}
			return true
		})
	})
	require.Greater(t, scripts, 10, "the scripts are found")
}

// scriptOf returns the source of a script that a call makes or sends, nil of other calls.
func scriptOf(call *ast.CallExpr) ast.Expr {
	called, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return nil
	}
	switch {
	case called.Sel.Name == "NewScript" && len(call.Args) == 1:
		return call.Args[0]
	case (called.Sel.Name == "Eval" || called.Sel.Name == "EvalRO") && len(call.Args) > 1:
		return call.Args[1]
	case called.Sel.Name == "Do" && len(call.Args) > 2:
		if word, is := call.Args[1].(*ast.BasicLit); is && strings.EqualFold(word.Value, `"eval"`) {
			return call.Args[2]
		}
	}
	return nil
}

// reliability 5, Redis: what shows the inside of a process is on no port.
func TestNoProgramServesProfilesOrVariables(t *testing.T) {
	t.Parallel()
	files := shippedFiles(t, func(path string, file *ast.File) {
		for _, one := range file.Imports {
			name, err := strconv.Unquote(one.Path.Value)
			require.NoError(t, err)
			require.NotContains(t, []string{"net/http/pprof", "expvar"}, name, path)
		}
	})
	require.Greater(t, files, 300)
}
