package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/invariants"
	"koordinator.sh/koord/test/sandboxtest"
)

// agrees checks, once nothing changes any more, that what a scheduler knows is what the API server lists: what is requested
// on each node of a pool, by a pod that fits nowhere and so is told; and the statuses that schedulers write.
func agrees(t *testing.T, watcher *invariants.Watcher, by *scheduler, namespace string, nodes []string) {
	t.Helper()
	const name = "agreement-probe"
	pod := demand(namespace, name, strings.TrimSuffix(nodes[0], "-0"), "cpu", "5k", "memory", "500Ti")
	mustSubmit(t, by.places(pod))
	defer func() {
		if err := remove(context.WithoutCancel(t.Context()), namespace, name); err != nil {
			t.Error(err)
		}
	}()
	sandboxtest.Eventually(t, patience, func() error {
		if err := watcher.Settle(t.Context()); err != nil {
			return err
		}
		answer, err := by.explain(t.Context(), namespace, name)
		if err != nil {
			return err
		}
		violations := watcher.StatusesAgree()
		said := requestedOf(answer)
		for _, node := range watcher.Nodes(nodes) {
			if got := slices.Sorted(maps.Keys(said[node.Name])); len(got) != 2 {
				return fmt.Errorf("the scheduler tells what is requested of %v on %s, want cpu and memory: %s", got, node.Name, answer.Status.Summary)
			}
			violations = append(violations, node.RequestedAgrees(said[node.Name])...)
		}
		if len(violations) > 0 {
			return fmt.Errorf("%v", violations)
		}
		return nil
	})
}

// requestedOf reads from the refusals of a pod that no node has room for what is requested on each node.
func requestedOf(answer *diagnosticsv1alpha1.PodExplanation) map[string]map[corev1.ResourceName]int64 {
	said := map[string]map[corev1.ResourceName]int64{}
	for _, group := range answer.Status.Groups {
		if group.Plugin != "NodeResourcesFit" {
			continue
		}
		for _, node := range group.Nodes {
			var resource corev1.ResourceName
			for _, operand := range node.Operands {
				switch operand.Name {
				case "asked":
					resource = corev1.ResourceName(operand.Note)
				case "requested":
					if said[node.Node] == nil {
						said[node.Node] = map[corev1.ResourceName]int64{}
					}
					said[node.Node][resource] = operand.Value
				}
			}
		}
	}
	return said
}
