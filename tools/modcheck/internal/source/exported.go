package source

import (
	"go/ast"
	"strings"
)

// exported lists the exported top-level names of a file with whether they are
// documented: by a comment of their own, by one behind them on the line, or, in a
// group of constants or variables, by the comment of the group.
func exported(tree *ast.File, line func(ast.Node) int) []Name {
	var names []Name
	for _, decl := range tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Name.IsExported() && ast.IsExported(receiver(decl, decl.Name.Name)) {
				names = append(names, Name{Name: qualified(decl), Line: line(decl), Documented: documented(decl.Doc)})
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				names = append(names, ofSpec(decl, spec, line)...)
			}
		}
	}
	return names
}

func ofSpec(decl *ast.GenDecl, spec ast.Spec, line func(ast.Node) int) []Name {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return ofIdents([]*ast.Ident{spec.Name}, documented(decl.Doc, spec.Doc, spec.Comment), line)
	case *ast.ValueSpec:
		return ofIdents(spec.Names, documented(decl.Doc, spec.Doc, spec.Comment), line)
	}
	return nil
}

func ofIdents(idents []*ast.Ident, documented bool, line func(ast.Node) int) []Name {
	var names []Name
	for _, ident := range idents {
		if ident.IsExported() {
			names = append(names, Name{Name: ident.Name, Line: line(ident), Documented: documented})
		}
	}
	return names
}

// documented tells whether one of the comments has words; a directive such as
// //go:embed has none.
func documented(comments ...*ast.CommentGroup) bool {
	for _, comment := range comments {
		if comment != nil && strings.TrimSpace(comment.Text()) != "" {
			return true
		}
	}
	return false
}

// qualified is the function's name, with its type before it when it is a method.
func qualified(function *ast.FuncDecl) string {
	if of := receiver(function, ""); of != "" {
		return of + "." + function.Name.Name
	}
	return function.Name.Name
}

// receiver returns the name of the type that a method belongs to, or otherwise for a
// plain function.
func receiver(function *ast.FuncDecl, otherwise string) string {
	if function.Recv == nil || len(function.Recv.List) == 0 {
		return otherwise
	}
	for expr := function.Recv.List[0].Type; ; {
		switch of := expr.(type) {
		case *ast.StarExpr:
			expr = of.X
		case *ast.IndexExpr:
			expr = of.X
		case *ast.IndexListExpr:
			expr = of.X
		case *ast.ParenExpr:
			expr = of.X
		case *ast.Ident:
			return of.Name
		default:
			return otherwise
		}
	}
}
