package explain

import (
	"context"
	"slices"
	"strings"
	"testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/disclosure"
)

// tenantOf may do everything with the objects of one namespace, and nothing beside it.
func tenantOf(namespace string) disclosure.Access {
	return func(r disclosure.Request) bool { return r.Namespace == namespace }
}

// reader may get everything and change nothing.
func reader(r disclosure.Request) bool { return r.Verb == "get" }

func TestOnlyChangesThatTheCallerMayMakeAreProposed(t *testing.T) {
	cordoned := func(c *cluster) {
		node := newNode(1)
		node.Spec.Unschedulable = true
		c.addNode(node)
		c.addPod(newPod("asked", "cpu", "2"))
	}
	full := func(namespaces ...string) func(*cluster) {
		return func(c *cluster) {
			c.addNode(newNode(1))
			for i, namespace := range namespaces {
				pod := on(1, newPod("held-"+string(rune('a'+i)), "cpu", "15"))
				pod.Namespace, pod.Spec.Priority = namespace, new(int32(0))
				c.addPod(pod)
			}
			c.addPod(newPod("asked", "cpu", "16"))
		}
	}
	// spare has a cordoned node with room beside one on which nearly nothing is free.
	spare := func(c *cluster) {
		full("shop")(c)
		node := newNode(2)
		node.Spec.Unschedulable = true
		c.addNode(node)
	}
	tests := map[string]struct {
		build func(*cluster)
		may   disclosure.Access
		// wantKind of the fix, empty for none, and the rights that a smaller one takes.
		wantKind  string
		wantNeeds []string
	}{
		"who may do everything is told the smallest":        {build: cordoned, wantKind: "uncordon"},
		"a node is not the tenant's to uncordon":            {build: cordoned, may: tenantOf("default"), wantNeeds: []string{"get nodes", "patch nodes"}},
		"who may get a node may not uncordon it":            {build: cordoned, may: reader, wantNeeds: []string{"patch nodes"}},
		"the request is the tenant's own to reduce":         {build: full("shop"), may: tenantOf("default"), wantKind: "reduceRequest"},
		"a node in the place of the pod, for who may":       {build: spare, wantKind: "uncordon"},
		"a change of the pod in the place of one of a node": {build: spare, may: tenantOf("default"), wantKind: "reduceRequest", wantNeeds: []string{"get nodes", "patch nodes"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			tc.build(c)
			answer, err := c.engine.ExplainFor(context.Background(), question("asked"), tc.may)
			if err != nil {
				t.Fatal(err)
			}
			kind := ""
			if fix := answer.Status.Fix; fix != nil {
				kind = fix.Kind
				if tc.may != nil {
					if missing := disclosure.Missing(fix, "default", tc.may); len(missing) > 0 {
						t.Errorf("%q takes %v", fix.Description, missing)
					}
				}
			}
			var needs []string
			if beyond := answer.Status.FixBeyondRights; beyond != nil {
				needs = beyond.Needs
			}
			if kind != tc.wantKind || !slices.Equal(needs, tc.wantNeeds) {
				t.Errorf("fix %q beside one that takes %q, want %q and %q\n%+v", kind, needs, tc.wantKind, tc.wantNeeds, answer.Status.Fix)
			}
		})
	}
}

// TestWhatTheTenantMayNotEvictIsNotProposed: a pod that only fits in the place of others, of which some are the tenant's own.
func TestWhatTheTenantMayNotEvictIsNotProposed(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(1))
	c.addNode(newNode(2))
	for node, namespace := range map[int]string{1: "aaa-other", 2: "default"} {
		held := on(node, newPod("held-"+namespace, "cpu", "15"))
		held.Namespace, held.Spec.Priority = namespace, new(int32(0))
		c.addPod(held)
	}
	asked := newPod("asked", "cpu", "16")
	c.addPod(asked)
	ask := func(may disclosure.Access) *diagnosticsv1alpha1.PodExplanationStatus {
		answer, err := c.engine.ExplainFor(t.Context(), question("asked"), may)
		if err != nil {
			t.Fatal(err)
		}
		return &answer.Status
	}
	// Nothing of the pod itself may change, so that evictions are what is left.
	noEdits := func(r disclosure.Request) bool {
		return r.Namespace == "default" && (r.Verb == "get" || r.Verb == "delete")
	}
	if fix := ask(noEdits).Fix; fix == nil || fix.Kind != "evictPod" || !strings.Contains(fix.Description, "default/held-default") {
		t.Errorf("proposed is %+v, want the eviction of the tenant's own pod", fix)
	}
}
