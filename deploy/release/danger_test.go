package release

import (
	"slices"
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

// checkOwnNode evaluates the policy's rules for an agent of node a.
func checkOwnNode(t *testing.T, policy *unstructured.Unstructured, inDanger bool) {
	t.Helper()
	extra := map[string]any{"authentication.kubernetes.io/node-name": []string{"a"}}
	request := func(operation, resource string, extra map[string]any) map[string]any {
		return map[string]any{"operation": operation, "resource": map[string]any{"resource": resource}, "userInfo": map[string]any{"extra": extra}}
	}
	named := func(name string) map[string]any { return map[string]any{"metadata": map[string]any{"name": name}} }
	on := func(node string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": "pod"}, "spec": map[string]any{"nodeName": node}}
	}
	event := func(controller, action, kind, name string) map[string]any {
		return map[string]any{"reportingController": controller, "action": action, "regarding": map[string]any{"kind": kind, "name": name}}
	}
	own := event("koordlet", "Evict", "Pod", "p")
	const reports = "nodemetrics"
	tests := map[string]struct {
		variables map[string]any
		want      bool
		danger    bool
	}{
		"its own report":               {map[string]any{"request": request("UPDATE", reports, extra), "object": named("a"), "oldObject": named("a")}, true, false},
		"the report of another":        {map[string]any{"request": request("UPDATE", reports, extra), "object": named("b"), "oldObject": named("b")}, false, false},
		"a token that names no node":   {map[string]any{"request": request("UPDATE", reports, nil), "object": named("a"), "oldObject": named("a")}, false, false},
		"a pod of its own node":        {map[string]any{"request": request("DELETE", "pods", extra), "object": nil, "oldObject": on("a")}, true, true},
		"a pod of another node":        {map[string]any{"request": request("DELETE", "pods", extra), "object": nil, "oldObject": on("b")}, false, true},
		"a pod, by a token of no node": {map[string]any{"request": request("DELETE", "pods", nil), "object": nil, "oldObject": on("a")}, false, true},
		"an event of an eviction":      {map[string]any{"request": request("CREATE", "events", extra), "object": own, "oldObject": nil}, true, false},
		"the same event once more":     {map[string]any{"request": request("UPDATE", "events", extra), "object": own, "oldObject": own}, true, false},
		"an event of an OOM kill":      {map[string]any{"request": request("CREATE", "events", extra), "object": event("koordlet", "ReportOOMKill", "Pod", "p"), "oldObject": nil}, true, false},
		"an OOM kill of a node":        {map[string]any{"request": request("CREATE", "events", extra), "object": event("koordlet", "ReportOOMKill", "Node", "b"), "oldObject": nil}, false, false},
		"an event of somebody else":    {map[string]any{"request": request("CREATE", "events", extra), "object": event("kubelet", "Evict", "Pod", "p"), "oldObject": nil}, false, false},
		"an event of something else":   {map[string]any{"request": request("CREATE", "events", extra), "object": event("koordlet", "Kill", "Pod", "p"), "oldObject": nil}, false, false},
		"an event about a node":        {map[string]any{"request": request("CREATE", "events", extra), "object": event("koordlet", "Evict", "Node", "b"), "oldObject": nil}, false, false},
		"an event turned to another":   {map[string]any{"request": request("UPDATE", "events", extra), "object": event("koordlet", "Evict", "Pod", "q"), "oldObject": own}, false, false},
		"an event taken over":          {map[string]any{"request": request("UPDATE", "events", extra), "object": own, "oldObject": event("kubelet", "Kill", "Pod", "q")}, false, false},
	}
	rules := compiledRules(t, policy)
	for name, tc := range tests {
		if tc.danger && !inDanger {
			continue
		}
		allowed := true
		for _, rule := range rules {
			got, _, err := rule.Program.Eval(tc.variables)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			allowed = allowed && got.Value() == true
		}
		if allowed != tc.want {
			t.Errorf("%s: allowed %t, want %t", name, allowed, tc.want)
		}
	}
}

func compiledRules(t *testing.T, policy *unstructured.Unstructured) []plugincel.CompilationResult {
	t.Helper()
	validations, _, _ := unstructured.NestedSlice(policy.Object, "spec", "validations")
	compiler := plugincel.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	var out []plugincel.CompilationResult
	for _, validation := range validations {
		expression := validation.(map[string]any)["expression"].(string)
		compiled := compiler.CompileCELExpression(&validating.ValidationCondition{Expression: expression}, plugincel.OptionalVariableDeclarations{}, environment.StoredExpressions)
		if compiled.Error != nil {
			t.Fatalf("%s: %v", expression, compiled.Error)
		}
		out = append(out, compiled)
	}
	return out
}
