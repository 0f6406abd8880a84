package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingWaitsByTheClock holds that nothing calls time.Sleep, except in packages whose tests run in bubbles of testing/synctest,
// where sleeping moves a clock that is not the machine's.
func TestNothingWaitsByTheClock(t *testing.T) {
	sleeps, bubbles := map[string][]string{}, map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, imported := range file.Imports {
			if imported.Path.Value == `"testing/synctest"` {
				bubbles[filepath.Dir(path)] = true
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if selector, ok := node.(*ast.SelectorExpr); ok && selector.Sel.Name == "Sleep" {
				if name, ok := selector.X.(*ast.Ident); ok && name.Name == "time" {
					sleeps[filepath.Dir(path)] = append(sleeps[filepath.Dir(path)], files.Position(node.Pos()).String())
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for directory, places := range sleeps {
		if !bubbles[directory] {
			t.Errorf("time.Sleep, where a condition should be polled with a deadline (package test/eventually): %s", strings.Join(places, ", "))
		}
	}
}
