package source

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Parse reads one file; path is what the result carries. The second result is false for
// a generated file, of which nothing is kept.
func Parse(path string, text []byte) (File, bool, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return File{}, false, fmt.Errorf("parse: %w", err)
	}
	if ast.IsGenerated(tree) {
		return File{}, false, nil
	}
	line := func(node ast.Node) int { return fset.Position(node.Pos()).Line }
	file := File{
		Path:           path,
		Package:        tree.Name.Name,
		Lines:          lines(text),
		CodeLines:      codeLines(text),
		PackageComment: documented(tree.Doc),
		Functions:      functions(fset, tree),
		Imports:        imports(tree),
		Nolints:        nolints(tree, line),
		ClockReads:     clockReads(tree, line),
	}
	if !file.InTestFile() {
		file.Exported = exported(tree, line)
	}
	return file, true, nil
}

func lines(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// codeLines counts the lines that a token other than a comment touches; a raw string
// touches all of its lines.
func codeLines(text []byte) int {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(text))
	var scan scanner.Scanner
	scan.Init(file, text, nil, 0)
	count, last := 0, 0
	for {
		pos, tok, literal := scan.Scan()
		if tok == token.EOF {
			return count
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue // put in by the scanner, not by the author
		}
		first := file.Line(pos)
		end := first + strings.Count(literal, "\n")
		count += end - max(first-1, last)
		last = max(last, end)
	}
}

func functions(fset *token.FileSet, tree *ast.File) []Function {
	var found []Function
	for _, decl := range tree.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		first := fset.Position(function.Type.Pos()).Line
		last := fset.Position(function.Body.End()).Line
		found = append(found, Function{Name: qualified(function), Line: first, Lines: last - first + 1})
	}
	return found
}

func imports(tree *ast.File) []string {
	var paths []string
	for _, spec := range tree.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

func nolints(tree *ast.File, line func(ast.Node) int) []int {
	directive := regexp.MustCompile(`^//\s*nolint\b`)
	var found []int
	for _, group := range tree.Comments {
		for _, comment := range group.List {
			if directive.MatchString(comment.Text) {
				found = append(found, line(comment))
			}
		}
	}
	return found
}

// clockReads finds uses of the time package's clock and timers, also under another
// import name.
func clockReads(tree *ast.File, line func(ast.Node) int) []int {
	name := importName(tree, "time")
	clock := []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}
	var found []int
	ast.Inspect(tree, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == name && slices.Contains(clock, selector.Sel.Name) {
			found = append(found, line(selector))
		}
		return true
	})
	return found
}

// importName returns the name under which the file uses an imported package, "" when
// it does not import it.
func importName(tree *ast.File, path string) string {
	for _, spec := range tree.Imports {
		if spec.Path.Value != strconv.Quote(path) {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path[strings.LastIndexByte(path, '/')+1:]
	}
	return ""
}
