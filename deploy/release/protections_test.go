package release

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/decision/admission/protection"
)

// protections are the objects of group admissionregistration.k8s.io in a manifest, by their keys, and the data of the ConfigMap.
func protections(t *testing.T, values map[string]any) (objects map[string]*unstructured.Unstructured, data map[string]string) {
	t.Helper()
	objects = map[string]*unstructured.Unstructured{}
	for _, object := range objectsOf(t, renderForTest(t, values)) {
		switch {
		case object.GroupVersionKind().Group == "admissionregistration.k8s.io":
			objects[object.GetKind()+"."+object.GetName()] = object
		case object.GetKind() == "ConfigMap" && object.GetName() == protection.ConfigMapName:
			data, _, _ = unstructured.NestedStringMap(object.Object, "data")
		}
	}
	return objects, data
}

// TestEveryProtectionIsDeclared compares the table with the objects that the chart makes, and with what it says of them: an object that
// is added to the chart and not to the table would go unnoticed.
func TestEveryProtectionIsDeclared(t *testing.T) {
	on := map[string]any{"admission": map[string]any{"enabled": true, "protectAllocations": true}, "koordlet": map[string]any{"enabled": true, "restrictToOwnNode": true}}
	tests := map[string]struct {
		values map[string]any
		// wantNot are the switches that are off.
		wantNot []string
	}{
		"all of it":         {on, nil},
		"no admission":      {map[string]any{"admission": map[string]any{"enabled": false}}, []string{"admission.enabled"}},
		"no allocations":    {map[string]any{"admission": map[string]any{"protectAllocations": false}}, []string{"admission.protectAllocations"}},
		"one agent for all": {map[string]any{"koordlet": map[string]any{"restrictToOwnNode": false}}, []string{"koordlet.restrictToOwnNode"}},
		"no agent":          {map[string]any{"koordlet": map[string]any{"enabled": false}}, []string{"koordlet.restrictToOwnNode"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, p := range protection.All() {
				if p.Keeper == protection.ByChart && !slices.Contains(tc.wantNot, p.Switch) {
					want = append(want, p.Key())
				}
			}
			objects, data := protections(t, tc.values)
			var made, said []string
			for key := range objects {
				made = append(made, key)
			}
			for key := range data {
				said = append(said, key)
			}
			for _, list := range [][]string{want, made, said} {
				slices.Sort(list)
			}
			if diff := cmp.Diff(want, made); diff != "" {
				t.Errorf("objects of the chart (-table +chart):\n%s", diff)
			}
			if diff := cmp.Diff(want, said); diff != "" {
				t.Errorf("keys of the ConfigMap (-table +chart):\n%s", diff)
			}
			for _, p := range protection.Expected(data) {
				if p.Kind == protection.MutatingWebhooks || p.Kind == protection.ValidatingWebhooks {
					continue
				}
				if got := protection.Assess(p, data[p.Key()], objects[p.Key()].Object); got.State != protection.InForce {
					t.Errorf("%s is %s: %q", p.Key(), got.State, got.Changes)
				}
			}
		})
	}
}
