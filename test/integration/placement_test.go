package integration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestScalingAndNewNodesDoWhatTheirForecastsSay counts how many pods of a workload fit, scales it beyond that, and adds the node that the
// rest needs: each step is forecast, then done.
func TestScalingAndNewNodesDoWhatTheirForecastsSay(t *testing.T) {
	const pool = "it-scale"
	namespace := space(t, pool)
	nodes := machines(t, pool, 2)
	pod := demand(namespace, "web", pool, "cpu", "3", "memory", "1Gi")
	pod.Labels["app"] = "web"
	pod.Spec.RestartPolicy = corev1.RestartPolicyAlways
	replicaSet(t, pod, 1)
	awaitBound(t, patience, namespace, 1, 0)

	capacity := answer[diagnosticsv1alpha1.PlacementForecast](t, "PlacementForecast", "forecast", "capacity", "rs/web", "-n", namespace)
	fits := capacity.Copies.Placed
	if fits < 1 || capacity.Verdict != diagnosticsv1alpha1.PlacementFits || capacity.Copies.Verdict != diagnosticsv1alpha1.PlacementNone {
		t.Fatalf("%s: %s; want that some pods fit, and one does not", capacity.Verdict, capacity.Message)
	}
	replicas := 1 + fits + 2
	scaled := answer[diagnosticsv1alpha1.PlacementForecast](t, "PlacementForecast", "whatif", "scale", "rs/web", "-n", namespace, "--replicas", fmt.Sprint(replicas))
	if scaled.Verdict != diagnosticsv1alpha1.PlacementPartial || scaled.Copies.Placed != fits || scaled.Copies.Asked != fits+2 {
		t.Errorf("%s: %s; want %d of %d pods", scaled.Verdict, scaled.Message, fits, fits+2)
	}
	want := map[string]int{`web on ""`: 2}
	for _, node := range scaled.Copies.Nodes {
		want[fmt.Sprintf("web on %q", node.Name)] = int(node.Copies)
	}
	before, err := outcome(t, namespace)
	if err != nil {
		t.Fatal(err)
	}
	for where, n := range before {
		want[where] += n
	}
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if _, err := client.AppsV1().ReplicaSets(namespace).Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	becomes(t, namespace, want)

	added := answer[diagnosticsv1alpha1.PlacementForecast](t, "PlacementForecast", "whatif", "add-nodes", nodes[0])
	for i := range added.Waiting {
		if p := &added.Waiting[i]; p.Namespace == namespace && (p.Node != nodes[0]+"-new-1" || p.NodeWithout != "") {
			t.Errorf("pod %s gets node %q, and %q without the new one: %s", p.Name, p.Node, p.NodeWithout, p.Summary)
		}
	}
	if len(added.NewNodes) != 1 || added.NewNodes[0].Pods < 2 {
		t.Errorf("new nodes %+v, want one that takes the 2 pods that wait", added.NewNodes)
	}
	more := machines(t, pool+"-more", 1, func(node *corev1.Node) {
		node.Labels["pool"], node.Spec.Taints[0].Value = pool, pool
	})[0]
	delete(want, `web on ""`)
	want[fmt.Sprintf("web on %q", more)] = 2
	becomes(t, namespace, want)
}

// becomes waits until the pods of a namespace are where they should be.
func becomes(t *testing.T, namespace string, want map[string]int) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		got, err := outcome(t, namespace)
		if err == nil {
			if diff := cmp.Diff(want, got); diff != "" {
				err = fmt.Errorf("pods by node (-forecast +done):\n%s", diff)
			}
		}
		return err
	})
}
