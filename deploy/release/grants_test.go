package release

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// everything switches on what grants rights.
var everything = map[string]any{
	"koordlet":       map[string]any{"enabled": true, "evictInDanger": true},
	"descheduler":    map[string]any{"enabled": true, "deletePods": true},
	"admission":      map[string]any{"enabled": true, "existingPods": true, "migrateOnEviction": true},
	"recommender":    map[string]any{"enabled": true, "apply": true},
	"elasticWorkers": map[string]any{"enabled": true},
	"bridge":         map[string]any{"enabled": true, "yarn": map[string]any{"config": map[string]any{"yarn-site.xml": "<configuration/>"}}},
}

// TestEveryGrantHasAReason compares the rights that the chart grants with the table of docs/rights.md, which says why.
func TestEveryGrantHasAReason(t *testing.T) {
	text, err := os.ReadFile("../../docs/rights.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	_, table, _ := strings.Cut(string(text), "| role | on | verbs | why |\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if strings.HasPrefix(line, "| ---") {
			continue
		}
		if len(cells) != 4 {
			break
		}
		role, verbs := strings.TrimPrefix(cells[0], "| "), cells[2]
		for on := range strings.SplitSeq(strings.ReplaceAll(cells[1], "`", ""), "; ") {
			documented[fmt.Sprintf("%s | %s | %s", role, on, verbs)] = len(strings.Trim(cells[3], " |")) > 0
		}
	}
	granted := map[string]bool{}
	for _, object := range objectsOf(t, renderForTest(t, everything)) {
		for _, right := range rightsIn(t, object) {
			granted[right] = true
		}
	}
	if diff := cmp.Diff(granted, documented); diff != "" {
		t.Errorf("the chart's grants and those that docs/rights.md gives a reason for (-granted +documented):\n%s", diff)
	}
}

// rightsIn are the rights of a role, a row for each resource, or the cluster's own role that a binding grants.
func rightsIn(t *testing.T, object *unstructured.Unstructured) []string {
	t.Helper()
	kind, name := object.GetKind(), object.GetName()
	if strings.HasSuffix(kind, "Binding") && strings.Contains(name, ":") {
		role, _, err := unstructured.NestedString(object.Object, "roleRef", "name")
		if err != nil {
			t.Fatal(err)
		}
		return []string{fmt.Sprintf("%s | role %s | all it has", strings.SplitN(name, ":", 2)[0], role)}
	}
	if !strings.HasSuffix(kind, "Role") {
		return nil
	}
	rules, _, err := unstructured.NestedSlice(object.Object, "rules")
	if err != nil {
		t.Fatal(err)
	}
	var rights []string
	for _, entry := range rules {
		rule := entry.(map[string]any)
		list := func(field string) []string {
			found, _, err := unstructured.NestedStringSlice(rule, field)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		where := ""
		if kind == "Role" {
			where = " in the system's namespace"
		}
		if names := list("resourceNames"); len(names) > 0 {
			where += " named " + strings.Join(names, ", ")
		}
		verbs := strings.Join(list("verbs"), ", ")
		for _, path := range list("nonResourceURLs") {
			rights = append(rights, fmt.Sprintf("%s | path %s | %s", name, path, verbs))
		}
		for _, resource := range list("resources") {
			for _, group := range list("apiGroups") {
				full := strings.TrimSuffix(resource+"."+group, ".")
				rights = append(rights, fmt.Sprintf("%s | %s%s | %s", name, full, where, verbs))
			}
		}
	}
	slices.Sort(rights)
	return rights
}
