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

// unreadKey ends the comment of a key that is declared for others, so that no effect is expected of it.
const unreadKey = "No component reads it yet."

// TestKeysThatNothingReadsSayThat holds the comments of labels and annotations in api/extension to what the code does: a key that no
// program uses, directly or through a function of the package, says so, and no other does.
func TestKeysThatNothingReadsSayThat(t *testing.T) {
	keys, uses := declaredKeys(t, "../../api/extension")
	reached := map[string]bool{}
	var reach func(name string)
	reach = func(name string) {
		if reached[name] {
			return
		}
		reached[name] = true
		for used := range uses[name] {
			reach(used)
		}
	}
	for name := range namesInPrograms(t, "../..") {
		reach(name)
	}
	if len(keys) < 100 {
		t.Fatalf("only %d keys were found", len(keys))
	}
	for key, comment := range keys {
		if said := strings.HasSuffix(comment, unreadKey); said == reached[key] {
			t.Errorf("%s is read: %t, and its comment is %q", key, reached[key], comment)
		}
	}
}

// declaredKeys are the labels and annotations of a package with their comments in one line, and what its functions use, by their names.
func declaredKeys(t *testing.T, directory string) (keys map[string]string, uses map[string]map[string]bool) {
	t.Helper()
	keys, uses = map[string]string{}, map[string]map[string]bool{}
	eachFile(t, directory, func(_ string, file *ast.File) {
		for _, declaration := range file.Decls {
			switch declared := declaration.(type) {
			case *ast.FuncDecl:
				if uses[declared.Name.Name] == nil {
					uses[declared.Name.Name] = map[string]bool{}
				}
				ast.Inspect(declared, func(node ast.Node) bool {
					if name, is := node.(*ast.Ident); is {
						uses[declared.Name.Name][name.Name] = true
					}
					return true
				})
			case *ast.GenDecl:
				for _, spec := range declared.Specs {
					value, is := spec.(*ast.ValueSpec)
					if !is || declared.Tok != token.CONST {
						continue
					}
					for _, name := range value.Names {
						if strings.HasPrefix(name.Name, "Label") || strings.HasPrefix(name.Name, "Annotation") {
							keys[name.Name] = strings.Join(strings.Fields(value.Doc.Text()), " ")
						}
					}
				}
			}
		}
	})
	return keys, uses
}

// namesInPrograms are those that code outside of the package itself selects: of the package, or methods of its types.
func namesInPrograms(t *testing.T, root string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	eachFile(t, root, func(path string, file *ast.File) {
		if strings.Contains(filepath.ToSlash(path), "api/extension/") {
			return
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if selector, is := node.(*ast.SelectorExpr); is {
				names[selector.Sel.Name] = true
			}
			return true
		})
	})
	return names
}

// eachFile parses what is not a test.
func eachFile(t *testing.T, root string, each func(path string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && len(entry.Name()) > 2 || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(entry.Name(), "zz_generated"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil {
			each(path, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
