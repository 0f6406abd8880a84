package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// TestFeaturesOfTheNodeAreNamedOnce: everything else takes the name of a gate from its declaration.
func TestFeaturesOfTheNodeAreNamedOnce(t *testing.T) {
	found := map[string][]string{}
	for _, root := range []string{"agent", "decision", "source"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, spec := range nodefeature.All() {
				if strings.Contains(string(content), `"`+spec.Name+`"`) {
					relative, _ := filepath.Rel("../..", path) // both are relative to this folder
					found[spec.Name] = append(found[spec.Name], relative)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string][]string{}
	for _, spec := range nodefeature.All() {
		want[spec.Name] = []string{"decision/nodeqos/nodefeature/" + strings.ToLower(spec.Name) + ".go"}
		if spec.Kind == nodefeature.Eviction || spec.Name == nodefeature.SoftEvict.Name {
			want[spec.Name] = []string{"decision/nodeqos/eviction/feature.go"} // pods name these features in an annotation
		}
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("files that have the name of a gate (-want +got):\n%s", diff)
	}
}
