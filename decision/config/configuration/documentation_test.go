package configuration

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/core/configmerge"
)

var update = flag.Bool("update", false, "rewrite the generated and golden files")

// TestDocumentationIsThatOfTheAPI keeps documentation.json equal to the comments of the API types.
func TestDocumentationIsThatOfTheAPI(t *testing.T) {
	texts := map[string]string{}
	for _, dir := range []string{"../../../api/configuration", "../../../api/slo/v1alpha1"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no sources in %s: %v", dir, err)
		}
		for _, file := range files {
			readComments(t, file, texts)
		}
	}
	used := map[string]string{}
	for _, key := range configuration.Keys() {
		for _, field := range configmerge.Fields(key) {
			name := field.Owner.Name() + "." + field.Name
			if texts[name] == "" {
				if uncommented[name] == "" {
					t.Errorf("%s: %s says nowhere what it is", key, name)
				}
				continue
			}
			used[name] = texts[name]
		}
	}
	encoded, err := json.MarshalIndent(used, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("documentation.json", append(encoded, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(used, documentation()); diff != "" {
		t.Errorf("documentation.json is old, -update writes it (-want +got):\n%s", diff)
	}
}

func readComments(t *testing.T, file string, into map[string]string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		structure, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				into[spec.Name.Name+"."+name.Name] = commentText(field.Doc.Text())
			}
		}
		return true
	})
}

// commentText is a comment on one line, without markers.
func commentText(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "+") {
			kept = append(kept, strings.TrimSpace(line))
		}
	}
	return strings.TrimSpace(strings.Join(kept, " "))
}
