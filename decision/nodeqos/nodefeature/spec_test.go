package nodefeature

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

var update = flag.Bool("update", false, "write the tables of the docs")

// docs is the folder of the pages.
const docs = "../../../docs"

// missing lists the fields that a declaration leaves empty.
func missing(spec *Spec) []string {
	var out []string
	for field, set := range map[string]bool{
		"Name": spec.Name != "", "Kind": slices.Contains([]Kind{Values, Eviction, Other}, spec.Kind), "Summary": spec.Summary != "", "Docs": spec.Docs != "",
		"Configured": spec.Configured != nil, "Decision": spec.Decision != "" || spec.Kind == Other,
		"Settings.Key": (spec.Settings.Key != "") == (len(spec.Settings.Paths) > 0), "Settings.Paths": spec.Settings.Or == "" || len(spec.Settings.Paths) > 0,
	} {
		if !set {
			out = append(out, field)
		}
	}
	slices.Sort(out)
	return out
}

func TestEveryFeatureIsCompletelyDeclared(t *testing.T) {
	seen := map[string]bool{}
	for _, spec := range All() {
		t.Run(spec.Name, func(t *testing.T) {
			if diff := cmp.Diff([]string(nil), missing(&spec)); diff != "" {
				t.Errorf("fields that are missing (-want +got):\n%s", diff)
			}
			if seen[spec.Name] {
				t.Error("it is declared twice")
			}
			seen[spec.Name] = true
			if state, reason := spec.Configured(&slov1alpha1.NodeSLOSpec{}); state == diagnosticsv1alpha1.FeatureUnknown || state == "" || reason == "" {
				t.Errorf("an empty NodeSLO configures it %q, because of %q", state, reason)
			}
			if state, _ := spec.Configured(&slov1alpha1.NodeSLOSpec{}); spec.NodeSLO == "" && state != diagnosticsv1alpha1.FeatureYes {
				t.Errorf("it names no field of the NodeSLO, and an empty one configures it %q", state)
			}
			if _, err := os.Stat(filepath.Join("../../..", spec.Decision)); err != nil {
				t.Errorf("its decision: %v", err)
			}
			if or, known := Named(spec.Settings.Or); spec.Settings.Or != "" && (!known || or.Kind != spec.Kind) {
				t.Errorf("there is no feature %q that carries out the same", spec.Settings.Or)
			}
			page, section, _ := strings.Cut(spec.Docs, "#")
			content, err := os.ReadFile(filepath.Join(docs, page))
			if err != nil {
				t.Fatalf("its page: %v", err)
			}
			if section != "" && !slices.Contains(sections(string(content)), section) {
				t.Errorf("%s has no section %q", page, section)
			}
		})
	}
}

// sections are the anchors of the headings of a page.
func sections(page string) []string {
	var out []string
	for _, match := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		anchor := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(match[1]), "")
		out = append(out, strings.ReplaceAll(anchor, " ", "-"))
	}
	return out
}

func TestADeclarationThatLacksAFieldIsFound(t *testing.T) {
	tests := map[string]struct {
		spec Spec
		want []string
	}{
		"nothing":           {Spec{}, []string{"Configured", "Decision", "Docs", "Kind", "Name", "Summary"}},
		"a decision":        {Spec{Name: "A", Kind: Values, Summary: "s", Docs: "d", Configured: followsPods}, []string{"Decision"}},
		"settings of a key": {Spec{Name: "A", Kind: Other, Summary: "s", Docs: "d", Configured: followsPods, Settings: Settings{Key: "k", Or: "B"}}, []string{"Settings.Key", "Settings.Paths"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, missing(&tc.spec)); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFeaturesThatEvictAreDeclaredInTheirOrder(t *testing.T) {
	var got []eviction.Feature
	for _, spec := range OfKind(Eviction) {
		got = append(got, eviction.Feature(spec.Name))
	}
	if diff := cmp.Diff(eviction.Features(), got); diff != "" {
		t.Errorf("features (-want +got):\n%s", diff)
	}
}

func TestKindsAreNotMixed(t *testing.T) {
	var kinds []Kind
	for _, spec := range All() {
		kinds = append(kinds, spec.Kind)
	}
	if diff := cmp.Diff([]Kind{Values, Eviction, Other}, slices.Compact(kinds)); diff != "" {
		t.Errorf("kinds in the order of All (-want +got):\n%s", diff)
	}
}

// TestEveryDeclarationIsInAll finds a file that is not registered.
func TestEveryDeclarationIsInAll(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared, listed []string
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`(?m)^var (\w+) = Spec\{`).FindAllStringSubmatch(string(content), -1) {
			declared = append(declared, match[1])
		}
	}
	for _, spec := range All() {
		listed = append(listed, spec.Name)
	}
	slices.Sort(declared)
	slices.Sort(listed)
	if diff := cmp.Diff(declared, listed); diff != "" {
		t.Errorf("features in All (-declared +listed):\n%s", diff)
	}
}

func TestGates(t *testing.T) {
	on, off := Spec{Name: "On", Default: true}, Spec{Name: "Off"}
	gates := map[string]bool{"On": false, "Off": true}
	if !on.On(nil) || off.On(nil) || on.On(gates) || !off.On(gates) {
		t.Error("a gate that is set goes before the default, and the default before nothing")
	}
}

// TestTablesOfTheDocs compares the tables between marks with the declarations; -update writes them.
func TestTablesOfTheDocs(t *testing.T) {
	mark := regexp.MustCompile(`(?s)(<!-- features: ?([a-z.#-]*) -->\n)(.*?)(<!-- end of features -->)`)
	pages, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, name := range pages {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := mark.ReplaceAllStringFunc(string(content), func(found string) string {
			tables++
			parts := mark.FindStringSubmatch(found)
			return parts[1] + Table(parts[2], filepath.Base(name)) + parts[4]
		})
		if *update {
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want, string(content)); diff != "" {
			t.Errorf("%s, write it with -update (-want +got):\n%s", filepath.Base(name), diff)
		}
	}
	if tables < 3 {
		t.Errorf("%d tables are in the docs", tables)
	}
}
