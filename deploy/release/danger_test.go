package release

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/environment"
)

// TestPodsAreDeletedOnlyWhereThatIsAskedFor: the right, the flag, and which pods.
func TestPodsAreDeletedOnlyWhereThatIsAskedFor(t *testing.T) {
	for name, inDanger := range map[string]bool{"by default": false, "in danger": true} {
		t.Run(name, func(t *testing.T) {
			var values map[string]any
			if inDanger {
				values = map[string]any{"koordlet": map[string]any{"evictInDanger": true}}
			}
			_, container := agentOf(t, values)
			if flagged := slices.Contains(container["args"].([]any), any("--evict-in-danger")); flagged != inDanger {
				t.Errorf("flag %t, want %t", flagged, inDanger)
			}
			manifest := renderForTest(t, values)
			granted, policed := false, false
			for _, object := range objectsOf(t, manifest) {
				switch {
				case object.GetKind() == "ClusterRole" && object.GetName() == "koordlet":
					rules, _, _ := unstructured.NestedSlice(object.Object, "rules")
					for _, rule := range rules {
						verbs, resources := rule.(map[string]any)["verbs"].([]any), rule.(map[string]any)["resources"].([]any)
						granted = granted || slices.Contains(verbs, any("delete")) && slices.Contains(resources, any("pods"))
					}
				case object.GetKind() == "ValidatingAdmissionPolicy" && object.GetName() == "koordlet-own-node":
					checkOwnNode(t, object, inDanger)
					policed = true
				}
			}
			if granted != inDanger || !policed {
				t.Errorf("granted %t, policed %t; want %t and a policy", granted, policed, inDanger)
			}
		})
	}
}

// checkOwnNode evaluates the policy's rule for an agent of node a.
func checkOwnNode(t *testing.T, policy *unstructured.Unstructured, inDanger bool) {
	t.Helper()
	validations, _, _ := unstructured.NestedSlice(policy.Object, "spec", "validations")
	expression := validations[0].(map[string]any)["expression"].(string)
	compiler := plugincel.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	compiled := compiler.CompileCELExpression(&validating.ValidationCondition{Expression: expression}, plugincel.OptionalVariableDeclarations{}, environment.StoredExpressions)
	if compiled.Error != nil {
		t.Fatalf("%s: %v", expression, compiled.Error)
	}
	extra := map[string]any{"authentication.kubernetes.io/node-name": []string{"a"}}
	request := func(operation string, extra map[string]any) map[string]any {
		return map[string]any{"operation": operation, "userInfo": map[string]any{"extra": extra}}
	}
	named := func(name string) map[string]any { return map[string]any{"metadata": map[string]any{"name": name}} }
	on := func(node string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": "pod"}, "spec": map[string]any{"nodeName": node}}
	}
	tests := map[string]struct {
		variables map[string]any
		want      bool
		danger    bool
	}{
		"its own report":               {map[string]any{"request": request("UPDATE", extra), "object": named("a"), "oldObject": named("a")}, true, false},
		"the report of another":        {map[string]any{"request": request("UPDATE", extra), "object": named("b"), "oldObject": named("b")}, false, false},
		"a token that names no node":   {map[string]any{"request": request("UPDATE", map[string]any{}), "object": named("a"), "oldObject": named("a")}, false, false},
		"a pod of its own node":        {map[string]any{"request": request("DELETE", extra), "object": nil, "oldObject": on("a")}, true, true},
		"a pod of another node":        {map[string]any{"request": request("DELETE", extra), "object": nil, "oldObject": on("b")}, false, true},
		"a pod, by a token of no node": {map[string]any{"request": request("DELETE", map[string]any{}), "object": nil, "oldObject": on("a")}, false, true},
	}
	for name, tc := range tests {
		if tc.danger && !inDanger {
			continue
		}
		got, _, err := compiled.Program.Eval(tc.variables)
		if err != nil || got.Value() != tc.want {
			t.Errorf("%s: %v, %v, want %t by\n%s", name, got, err, tc.want, strings.TrimSpace(expression))
		}
	}
}
