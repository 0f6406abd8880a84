package messages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// wanted are the functions whose argument with that number is shown as it is.
var wanted = map[string]int{"say": 0, "label": 0, "title": 1, "bind": 3, "hint": 1, "Say": 0}

// TestHeadingsAndColumnsAreTranslated: what is declared as a text that people read has an entry.
func TestHeadingsAndColumnsAreTranslated(t *testing.T) {
	for _, folder := range []string{"kubectl-plugin", "tui"} {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if shown := shownBy(n); shown != nil {
					english := strings.TrimSpace(joined(shown))
					if _, known := chinese().translate(english); !known && strings.ToUpper(english) != strings.ToLower(english) {
						t.Errorf("%s: %q has no Chinese", set.Position(shown.Pos()), english)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// shownBy is the text that a column or a call shows; nil where it is none, or not known before the program runs.
func shownBy(n ast.Node) ast.Expr {
	var shown ast.Expr
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if name, ok := n.Key.(*ast.Ident); ok && (name.Name == "header" || name.Name == "Title") {
			shown = n.Value
		}
	case *ast.CallExpr:
		if at, ok := wanted[called(n)]; ok && at < len(n.Args) {
			shown = n.Args[at]
		}
	}
	if text, ok := shown.(*ast.BasicLit); ok && text.Kind == token.STRING {
		return shown
	}
	return nil
}

// called is the name of the function or method of a call.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
