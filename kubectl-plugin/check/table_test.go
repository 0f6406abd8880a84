package check

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/finding"
)

func TestEveryCheckIsDeclaredInFull(t *testing.T) {
	form, seen := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`), map[string]bool{}
	for _, c := range All() {
		if !form.MatchString(c.ID) || seen[c.ID] {
			t.Errorf("ID %q is not kebab-case, or not unique", c.ID)
		}
		seen[c.ID] = true
		if c.Title == "" || strings.HasSuffix(c.Title, ".") {
			t.Errorf("%s: title %q", c.ID, c.Title)
		}
		if !slices.Contains(Categories(), c.Category) {
			t.Errorf("%s: unknown category %q", c.ID, c.Category)
		}
		if c.Judge == nil {
			t.Errorf("%s: judges nothing", c.ID)
		}
		if len(c.Codes) == 0 && c.ID != registeredID { // which only tells whether there is something for the others
			t.Errorf("%s: reports no code", c.ID)
		}
		for _, code := range c.Codes {
			if _, known := finding.Lookup(code); !known {
				t.Errorf("%s: code %q is not in the catalogue", c.ID, code)
			}
		}
	}
}

func TestNeedsExistAndDoNotGoInCircles(t *testing.T) {
	byID := map[string]Check{}
	for _, c := range All() {
		byID[c.ID] = c
	}
	var visit func(id string, path []string)
	visit = func(id string, path []string) {
		if slices.Contains(path, id) {
			t.Fatalf("needs go in circles: %s", strings.Join(append(path, id), " -> "))
		}
		c, known := byID[id]
		if !known {
			t.Fatalf("%s needs %q, which does not exist", path[len(path)-1], id)
		}
		for _, need := range c.Needs {
			visit(need, append(slices.Clone(path), id))
		}
	}
	for id := range byID {
		visit(id, nil)
	}
}

// TestChecksBeforeAnInstallationNeedNoneAfterIt: these have not run then.
func TestChecksBeforeAnInstallationNeedNoneAfterIt(t *testing.T) {
	byID := map[string]Check{}
	for _, c := range All() {
		byID[c.ID] = c
	}
	for _, c := range byID {
		for _, need := range c.Needs {
			if needed := byID[need]; c.Stage.applies(true) && !needed.Stage.applies(true) {
				t.Errorf("%s needs %s", c.ID, need)
			}
		}
	}
}

func TestCategoriesAreParsed(t *testing.T) {
	tests := map[string]struct {
		names   []string
		want    []Category
		wantErr string
	}{
		"none are all":       {want: Categories()},
		"in the order":       {names: []string{"config", "node"}, want: []Category{Node, Config}},
		"twice the same":     {names: []string{"agent", "agent"}, want: []Category{Agent}},
		"one that is not":    {names: []string{"node", "nodes"}, wantErr: `unknown category "nodes": must be one of kubernetes, node, scheduler, manager, agent, webhook, config`},
		"one that is hidden": {names: []string{""}, wantErr: `unknown category "": must be one of kubernetes, node, scheduler, manager, agent, webhook, config`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseCategories(tc.names)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != tc.wantErr || err == nil && !slices.Equal(got, tc.want) {
				t.Errorf("got %v, %q; want %v, %q", got, text, tc.want, tc.wantErr)
			}
		})
	}
}

// TestTheDocumentationListsEveryCheck: docs/checks.md is what the checks say.
func TestTheDocumentationListsEveryCheck(t *testing.T) {
	page, err := os.ReadFile("../../docs/checks.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Reference(), string(page)); diff != "" {
		t.Errorf("docs/checks.md is out of date, make generate writes it (-want +got):\n%s", diff)
	}
}
