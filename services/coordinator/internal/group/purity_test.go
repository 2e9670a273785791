package group_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// corePackages are the packages that are arithmetic: values in, values out.
func corePackages() map[string]string {
	return map[string]string{"group": ".", "assign": "../assign"}
}

// allowedImports is all that the core may know of. time is here for its types.
func allowedImports() []string {
	return []string{
		"cmp", "errors", "fmt", "maps", "slices", "sort", "strings", "time",
		"github.com/redis-stream-coordinator/rsc/libs/protocol",
		"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/assign",
	}
}

// allowedOfTime are the names of package time that read no clock and start nothing.
func allowedOfTime() []string {
	return []string{"Duration", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour"}
}

// core is one package of the core, parsed and checked.
type core struct {
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
}

// parseCore parses the package in dir, the tests left out.
func parseCore(t *testing.T, dir string) core {
	t.Helper()
	c := core{fset: token.NewFileSet(), info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	c.files = parseDir(t, c.fset, dir)
	c.check(t)
	return c
}

func parseDir(t *testing.T, fset *token.FileSet, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	require.NotEmpty(t, files)
	return files
}

// check finds the types as far as they do not come from the standard library: that is
// enough to tell a map of ours, and takes milliseconds.
func (c core) check(t *testing.T) {
	t.Helper()
	config := types.Config{Importer: ours{t, c.fset}, Error: func(error) {}}
	_, _ = config.Check("core", c.fset, c.files, c.info) // names of the standard library are unknown
}

// ours imports the packages that the core may import and is told nothing of others.
type ours struct {
	t    *testing.T
	fset *token.FileSet
}

func (o ours) Import(path string) (*types.Package, error) {
	dirs := map[string]string{"protocol": "../../../../libs/protocol", "assign": "../assign"}
	name := path[strings.LastIndex(path, "/")+1:]
	pkg := types.NewPackage(path, name)
	if dir, known := dirs[name]; known {
		config := types.Config{Importer: o, Error: func(error) {}}
		pkg, _ = config.Check(path, o.fset, parseDir(o.t, o.fset, dir), nil)
	}
	pkg.MarkComplete()
	return pkg, nil
}

// TestTheCoreIsArithmetic keeps clocks, randomness, I/O, goroutines and map order out of
// the core, besides the lint rules: a lint rule that is silent looks like one that is kept.
func TestTheCoreIsArithmetic(t *testing.T) {
	t.Parallel()
	for name, dir := range corePackages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, impurities(parseCore(t, dir)))
		})
	}
}

// TestImpuritiesAreSeen shows that the check can fail.
func TestImpuritiesAreSeen(t *testing.T) {
	t.Parallel()
	c := core{fset: token.NewFileSet(), info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	file, err := parser.ParseFile(c.fset, "impure.go", `package impure
import (
	"os"
	"time"
)
var state int
func f(m map[string]int, c chan int) time.Time {
	go f(nil, nil)
	for k := range m { _ = k }
	select { case c <- 1: default: }
	_ = <-c
	_ = os.Args
	defer recover()
	panic(time.Now())
}`, 0)
	require.NoError(t, err)
	c.files = []*ast.File{file}
	c.check(t)
	seen := strings.Join(impurities(c), "\n")
	for _, word := range []string{
		"imports os", "go statement", "range over a map", "channel type", "select", "receive", "send",
		"time.Now", "calls panic", "package variable state",
	} {
		require.Contains(t, seen, word)
	}
}

// impurities lists what has no place in the core.
func impurities(c core) []string {
	found := map[string]bool{}
	note := func(at token.Pos, text string) { found[c.fset.Position(at).String()+": "+text] = true }
	for _, file := range c.files {
		for _, spec := range file.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err != nil || !slices.Contains(allowedImports(), path) {
				note(spec.Pos(), "imports "+path)
			}
		}
		for _, d := range file.Decls {
			noteVariables(d, note)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			noteNode(c.info, n, note)
			return true
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// noteVariables notes package variables other than assertions of an interface.
func noteVariables(d ast.Decl, note func(token.Pos, string)) {
	decl, ok := d.(*ast.GenDecl)
	if !ok || decl.Tok != token.VAR {
		return
	}
	for _, spec := range decl.Specs {
		if v, ok := spec.(*ast.ValueSpec); ok {
			for _, name := range v.Names {
				if name.Name != "_" {
					note(name.Pos(), "package variable "+name.Name)
				}
			}
		}
	}
}

func noteNode(info *types.Info, n ast.Node, note func(token.Pos, string)) {
	switch n := n.(type) {
	case *ast.GoStmt:
		note(n.Pos(), "go statement")
	case *ast.SelectStmt:
		note(n.Pos(), "select")
	case *ast.SendStmt:
		note(n.Pos(), "send")
	case *ast.ChanType:
		note(n.Pos(), "channel type")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			note(n.Pos(), "receive")
		}
	case *ast.RangeStmt: // the order of a map can be seen in answers: sort its keys first
		if over := info.Types[n.X].Type; over != nil {
			if _, isMap := over.Underlying().(*types.Map); isMap {
				note(n.Pos(), "range over a map")
			}
		}
	case *ast.CallExpr:
		if name, ok := n.Fun.(*ast.Ident); ok && slices.Contains([]string{"panic", "print", "println"}, name.Name) {
			note(n.Pos(), "calls "+name.Name)
		}
	case *ast.SelectorExpr:
		if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" && !slices.Contains(allowedOfTime(), n.Sel.Name) {
			note(n.Pos(), "time."+n.Sel.Name)
		}
		if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "maps" && slices.Contains([]string{"Keys", "Values", "All"}, n.Sel.Name) {
			note(n.Pos(), "maps."+n.Sel.Name+" gives an order that changes")
		}
	}
}
