package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// building are the files of scheduler/explain that build simulations: they hand plugins the states that these are made with, and
// so import the plugins' State interfaces.
var building = []string{"added.go", "engine.go", "simulation.go"}

// TestExplainingKnowsNoPlugin keeps what a plugin knows of its refusals in the folder of the plugin, behind scheduler/reason.
func TestExplainingKnowsNoPlugin(t *testing.T) {
	names := pluginNames(t)
	if len(names) < 10 {
		t.Fatalf("only %d names of plugins were found: %v", len(names), names)
	}
	for path, file := range parsed(t, "../../scheduler/explain") {
		for _, imported := range file.Imports {
			if target, _ := strconv.Unquote(imported.Path.Value); within(target, module+"/scheduler/plugins") && !slices.Contains(building, filepath.Base(path)) {
				t.Errorf("%s imports %s", path, target)
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch typed := node.(type) {
			case *ast.SelectorExpr:
				if from, is := typed.X.(*ast.Ident); is && typed.Sel.Name == "PluginName" && imports(file, from.Name) {
					t.Errorf("%s names a plugin as %s.PluginName", path, from.Name)
				}
			case *ast.BasicLit:
				if value, err := strconv.Unquote(typed.Value); err == nil && slices.Contains(names, value) {
					t.Errorf("%s names plugin %s", path, value)
				}
			}
			return true
		})
	}
}

// imports is true for the name of a package that a file imports.
func imports(file *ast.File, name string) bool {
	return slices.ContainsFunc(file.Imports, func(imported *ast.ImportSpec) bool {
		if imported.Name != nil {
			return imported.Name.Name == name
		}
		target, _ := strconv.Unquote(imported.Path.Value)
		return target == name || strings.HasSuffix(target, "/"+name)
	})
}

// pluginNames are the names under which the scheduler's own plugins are configured.
func pluginNames(t *testing.T) []string {
	t.Helper()
	var names []string
	folders, err := filepath.Glob("../../scheduler/plugins/*")
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := filepath.Glob("../../decision/scheduling/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range append(folders, decisions...) {
		for _, file := range parsed(t, folder) {
			for _, declared := range file.Decls {
				names = append(names, namesIn(declared)...)
			}
		}
	}
	return names
}

// namesIn are the texts of the constants Name and PluginName.
func namesIn(declared ast.Decl) []string {
	constants, is := declared.(*ast.GenDecl)
	if !is || constants.Tok != token.CONST {
		return nil
	}
	var names []string
	for _, spec := range constants.Specs {
		values := spec.(*ast.ValueSpec)
		for i, name := range values.Names {
			if (name.Name != "Name" && name.Name != "PluginName") || i >= len(values.Values) {
				continue
			}
			if literal, is := values.Values[i].(*ast.BasicLit); is {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					names = append(names, text)
				}
			}
		}
	}
	return names
}

// parsed are the files of a folder, without its tests.
func parsed(t *testing.T, folder string) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = file
	}
	return files
}
