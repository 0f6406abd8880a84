package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// source is one file of a package of decision/ that is not a test.
type source struct {
	set *token.FileSet
	*ast.File
	// name of the file, and folder of the package below decision/.
	name, folder string
}

// decisions parses all of decision/.
func decisions(t *testing.T) []source {
	t.Helper()
	const root = "../../decision"
	var files []source
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		files = append(files, source{set: set, File: file, name: filepath.Base(path), folder: filepath.ToSlash(folder)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// unqualifiedName is the name of a type, without its package and pointers; empty for one that has none.
func unqualifiedName(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return unqualifiedName(of.X)
	case *ast.SelectorExpr:
		return of.Sel.Name
	case *ast.Ident:
		return of.Name
	}
	return ""
}

// isTrace is true for a Trace of any package.
func isTrace(of ast.Expr) bool { return unqualifiedName(of) == "Trace" }

// TestDecisionsTakeTheTraceInOneForm: docs/decisions/0011. Whoever asks a decision why hands it a *Trace of its package, as the last
// parameter and by the name trace; nothing returns one.
func TestDecisionsTakeTheTraceInOneForm(t *testing.T) {
	traced := 0
	for _, file := range decisions(t) {
		for _, declared := range file.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok || !function.Name.IsExported() || function.Recv != nil && isTrace(function.Recv.List[0].Type) {
				continue
			}
			params := function.Type.Params.List
			for i, param := range params {
				named := slices.ContainsFunc(param.Names, func(name *ast.Ident) bool { return name.Name == "trace" })
				if !named && !isTrace(param.Type) {
					continue
				}
				traced++
				pointer, isPointer := param.Type.(*ast.StarExpr)
				if _, own := pointerTo(pointer, isPointer).(*ast.Ident); !own || !isTrace(param.Type) || !named || len(param.Names) != 1 || i != len(params)-1 {
					t.Errorf("%s: %s must take its trace as the last parameter, trace *Trace", file.set.Position(param.Pos()), function.Name.Name)
				}
			}
			if results := function.Type.Results; results != nil && slices.ContainsFunc(results.List, func(result *ast.Field) bool { return isTrace(result.Type) }) {
				t.Errorf("%s: %s returns a Trace; it must take one", file.set.Position(function.Pos()), function.Name.Name)
			}
		}
	}
	if traced < 20 {
		t.Errorf("%d decisions take a trace, want all of them", traced)
	}
}

func pointerTo(pointer *ast.StarExpr, is bool) ast.Expr {
	if !is {
		return nil
	}
	return pointer.X
}

// TestInputsAndVerdictsHoldNoTrace: an input does not say whether to explain, and a verdict costs nothing that is only explained. The
// trace of a decision that is made of others holds theirs, and what runs one decision may hold its trace.
func TestInputsAndVerdictsHoldNoTrace(t *testing.T) {
	for _, file := range decisions(t) {
		for _, declared := range types(file) {
			if declared.Name.Name == "Trace" || !declared.Name.IsExported() {
				continue
			}
			structure, ok := declared.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, field := range structure.Fields.List {
				named := slices.ContainsFunc(field.Names, func(name *ast.Ident) bool { return name.Name == "Trace" || name.Name == "Explain" })
				if named || isTrace(field.Type) {
					t.Errorf("%s: %s must not hold a trace, nor ask for one", file.set.Position(field.Pos()), declared.Name.Name)
				}
			}
		}
	}
}

// types are the types that a file declares.
func types(file source) []*ast.TypeSpec {
	var out []*ast.TypeSpec
	for _, declared := range file.Decls {
		if group, ok := declared.(*ast.GenDecl); ok {
			for _, spec := range group.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					out = append(out, spec)
				}
			}
		}
	}
	return out
}

// TestThereIsOneWaterfall: what applies operators to a running value is waterfall.Waterfall.
func TestThereIsOneWaterfall(t *testing.T) {
	const home = "core/waterfall"
	for _, file := range decisions(t) {
		if file.folder == home {
			continue
		}
		for _, declared := range types(file) {
			if name := strings.ToLower(declared.Name.Name); name == "waterfall" || name == "recorder" {
				t.Errorf("%s: %s is a second waterfall", file.set.Position(declared.Pos()), declared.Name.Name)
			}
		}
		ast.Inspect(file.File, func(node ast.Node) bool {
			if function, ok := node.(*ast.FuncType); ok && slices.ContainsFunc(function.Params.List, func(param *ast.Field) bool { return unqualifiedName(param.Type) == "Operator" }) {
				t.Errorf("%s: only %s applies operators", file.set.Position(function.Pos()), home)
			}
			return true
		})
	}
}

// places are the files in which types are declared.
var places = map[string]string{"Args": "args.go", "Input": "input.go", "Trace": "trace.go"}

// TestPackagesThatDecideHaveTheSameFiles: doc.go introduces each package; its arguments, input and trace are in files of those names,
// and decide.go has a function that takes the input or the trace.
func TestPackagesThatDecideHaveTheSameFiles(t *testing.T) {
	documented, asked, answered := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, file := range decisions(t) {
		documented[file.folder] = documented[file.folder] || file.name == "doc.go" && strings.HasPrefix(file.Doc.Text(), "Package "+file.Name.Name+" ")
		if file.Doc != nil && file.name != "doc.go" {
			t.Errorf("%s/%s introduces its package; doc.go must", file.folder, file.name)
		}
		for _, declared := range types(file) {
			place := places[declared.Name.Name]
			if _, structure := declared.Type.(*ast.StructType); !structure || place == "" {
				continue
			}
			if file.name != place {
				t.Errorf("%s/%s declares %s; %s must", file.folder, file.name, declared.Name.Name, place)
			}
			asked[file.folder] = asked[file.folder] || declared.Name.Name != "Args"
		}
		answered[file.folder] = answered[file.folder] || file.name == "decide.go" && decides(file)
	}
	for folder := range documented {
		if !documented[folder] {
			t.Errorf("%s has no doc.go that begins with \"Package ...\"", folder)
		}
		if asked[folder] && !answered[folder] {
			t.Errorf("%s has an Input or a Trace, and no function in decide.go that takes it", folder)
		}
	}
}

// decides is true for a file with an exported function that takes an Input or a Trace.
func decides(file source) bool {
	return slices.ContainsFunc(file.Decls, func(declared ast.Decl) bool {
		function, ok := declared.(*ast.FuncDecl)
		return ok && function.Name.IsExported() && slices.ContainsFunc(function.Type.Params.List, func(param *ast.Field) bool {
			return isTrace(param.Type) || unqualifiedName(param.Type) == "Input"
		})
	})
}
