package architecture

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// districts of decision/, and those that each may import from beside itself. A district is listed after all that it imports, so that
// no arrow points upward.
var districts = []struct {
	name    string
	imports []string
}{
	{name: "core"},
	{name: "scheduling", imports: []string{"core"}},
	{name: "nodeqos", imports: []string{"core", "scheduling"}},
	{name: "noderesource", imports: []string{"core", "scheduling"}},
	{name: "descheduling", imports: []string{"core", "scheduling"}},
	{name: "admission", imports: []string{"core"}},
	{name: "config", imports: []string{"core", "descheduling", "nodeqos", "noderesource", "scheduling"}},
}

// mostArrows between districts: one more makes a maze of them again.
const mostArrows = 13

func TestDistrictsPointOneWay(t *testing.T) {
	arrows := 0
	var below []string
	for _, district := range districts {
		for _, to := range district.imports {
			arrows++
			if !slices.Contains(below, to) {
				t.Errorf("%s may import %s, which is not below it", district.name, to)
			}
		}
		below = append(below, district.name)
	}
	if arrows > mostArrows {
		t.Errorf("%d arrows between districts, at most %d are allowed", arrows, mostArrows)
	}
	got := map[string][]string{}
	for _, p := range list(t, "./decision/...") {
		from, _ := districtOf(p.ImportPath)
		if _, known := got[from]; !known {
			got[from] = nil
		}
		for _, imported := range p.Imports {
			if to, decides := districtOf(imported); decides && to != from && !slices.Contains(got[from], to) {
				got[from] = append(got[from], to)
			}
		}
	}
	want := map[string][]string{}
	for _, district := range districts {
		want[district.name] = district.imports
		slices.Sort(got[district.name])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("imports between districts (-want +got):\n%s", diff)
	}
}

// districtOf is the first folder of a package below decision/; false for packages elsewhere.
func districtOf(importPath string) (string, bool) {
	inside, decides := strings.CutPrefix(importPath, module+"/decision/")
	first, _, _ := strings.Cut(inside, "/")
	return first, decides
}

// row is one line of the table on the page of a district.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.+) \\|$")

// TestPagesOfDistrictsNameEachPackageOnce: a question has one place where it is asked, and anyone who looks for it finds it.
func TestPagesOfDistrictsNameEachPackageOnce(t *testing.T) {
	packages := map[string][]string{}
	for _, p := range list(t, "./decision/...") {
		district, _ := districtOf(p.ImportPath)
		packages[district] = append(packages[district], strings.TrimPrefix(p.ImportPath, module+"/decision/"+district+"/"))
	}
	overview := read(t, "../../decision/README.md")
	for _, district := range districts {
		page := read(t, path.Join("../../decision", district.name, "README.md"))
		var named []string
		for _, match := range row.FindAllStringSubmatch(page, -1) {
			named = append(named, match[1])
			for i, cell := range strings.Split(match[2], " | ") {
				if strings.TrimSpace(cell) == "" || i == 0 && !strings.HasSuffix(cell, "?") {
					t.Errorf("decision/%s/README.md: %s has no question, or nobody who applies or explains it", district.name, match[1])
				}
			}
		}
		slices.Sort(packages[district.name])
		if diff := cmp.Diff(packages[district.name], named); diff != "" {
			t.Errorf("decision/%s/README.md must name each package once, in order (-packages +page):\n%s", district.name, diff)
		}
		if link := "(" + district.name + "/README.md)"; strings.Count(overview, link) != 1 {
			t.Errorf("decision/README.md must link to %s once", link)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
