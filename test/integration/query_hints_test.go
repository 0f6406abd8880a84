package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/test/sandboxtest"
)

// reportMemory has a koordlet say how much of the 64 GiB of a machine is used.
func reportMemory(ctx context.Context, node string, gib int) error {
	patch := fmt.Sprintf(`{"status":{"updateTime":%q,"nodeMetric":{"nodeUsage":{"resources":{"cpu":"100m","memory":"%dGi"}}}}}`, time.Now().Format(time.RFC3339), gib)
	_, err := dynamicClient.Resource(metricResource).Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	return err
}

// ofEngine is a pod of a query engine, by the label of its role.
func ofEngine(namespace, name, label, engine string) *corev1.Pod {
	pod := demand(namespace, name, "query", "cpu", "1")
	pod.Labels[label] = engine
	return pod
}

// awaitHints waits until hints prefer these nodes and no others while machines use so much memory, or none because of a code.
func awaitHints(t *testing.T, namespace string, used map[string]int, wantNodes int, wantCode string, not string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		for node, gib := range used { // again and again, for machines are reported as idle every minute
			if err := reportMemory(t.Context(), node, gib); err != nil {
				return err
			}
		}
		pod, err := client.CoreV1().Pods(namespace).Create(t.Context(), ofEngine(namespace, "probe", extension.LabelQueryWorker, "probe"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		hint, err := extension.GetSchedulingHint(pod.Annotations)
		if err != nil || hint == nil {
			return fmt.Errorf("hint %v, error %w", hint, err)
		}
		query, err := extension.GetQueryHint(hint)
		if err != nil || query == nil {
			return fmt.Errorf("note %v, error %w", query, err)
		}
		if got := strings.Join(hint.PreferredNodeNames, " "); len(hint.PreferredNodeNames) != wantNodes || query.Code != wantCode || not != "" && strings.Contains(got, not) {
			return fmt.Errorf("the hint prefers [%s], code %q, left out %v", got, query.Code, query.LeftOut)
		}
		return nil
	})
}

// nodesOf are the pods of a namespace by node, of those with a label.
func nodesOf(t *testing.T, namespace, label, engine string) map[string]int {
	t.Helper()
	pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: label + "=" + engine})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for i := range pods.Items {
		out[pods.Items[i].Spec.NodeName]++
	}
	return out
}

// TestQueryEnginesArePlacedByHints creates the workers of two engines at once on four machines, one of which is hot, and caches after them.
func TestQueryEnginesArePlacedByHints(t *testing.T) {
	names := machines(t, "query", 4)
	namespace := space(t, "query")
	awaitHints(t, namespace, map[string]int{names[0]: 60}, 3, "", names[0])

	var creating sync.WaitGroup
	for i := range 6 {
		creating.Go(func() {
			if err := submit(t.Context(), ofEngine(namespace, fmt.Sprintf("trino-%d", i), extension.LabelQueryWorker, "trino")); err != nil {
				t.Error(err)
			}
		})
	}
	creating.Go(func() {
		if err := submit(t.Context(), ofEngine(namespace, "presto-0", extension.LabelQueryWorker, "presto")); err != nil {
			t.Error(err)
		}
	})
	creating.Wait()
	awaitBound(t, patience, namespace, 7, 0)
	if diff := cmp.Diff(map[string]int{names[1]: 2, names[2]: 2, names[3]: 2}, nodesOf(t, namespace, extension.LabelQueryWorker, "trino")); diff != "" {
		t.Errorf("workers by node (-want +got):\n%s", diff)
	}

	mustSubmit(t, ofEngine(namespace, "presto-cache", extension.LabelQueryCache, "presto"))
	for i := range 3 {
		mustSubmit(t, ofEngine(namespace, fmt.Sprintf("trino-cache-%d", i), extension.LabelQueryCache, "trino"))
	}
	awaitBound(t, patience, namespace, 11, 0)
	for engine, want := range map[string]map[string]int{
		"presto": nodesOf(t, namespace, extension.LabelQueryWorker, "presto"), "trino": {names[1]: 1, names[2]: 1, names[3]: 1},
	} {
		if diff := cmp.Diff(want, nodesOf(t, namespace, extension.LabelQueryCache, engine)); diff != "" {
			t.Errorf("caches of %s by node (-want +got):\n%s", engine, diff)
		}
	}

	explained := koordctl(t, 0, "explain", "pod", "trino-0", "-n", namespace).Stdout
	for _, want := range []string{"koord-manager's scheduling hint for this worker of engine trino prefers 3 nodes", names[0] + " (93%)", "memory is hot"} {
		if !strings.Contains(explained, want) {
			t.Errorf("explain pod does not say %q:\n%s", want, explained)
		}
	}
	if brief := koordctl(t, 0, "why", "pod/trino-0", "-n", namespace).Stdout; !strings.Contains(brief, "; first "+names[1][:len(names[1])-1]) {
		t.Errorf("why does not say which node comes first:\n%s", brief)
	}
}

// TestHintsThatAreNotWritten are those of pods that came with one, and those for which no node is suitable: the former are obeyed, and
// the pods of the latter are scheduled all the same.
func TestHintsThatAreNotWritten(t *testing.T) {
	names := machines(t, "query", 2)
	namespace := space(t, "query")
	awaitHints(t, namespace, map[string]int{names[0]: 1, names[1]: 20}, 2, "", "")

	own := ofEngine(namespace, "own", extension.LabelQueryWorker, "trino")
	own.Annotations[extension.AnnotationSchedulingHint] = fmt.Sprintf(`{"preferredNodeNames":[%q]}`, names[1])
	garbage := ofEngine(namespace, "garbage", extension.LabelQueryWorker, "trino")
	garbage.Annotations[extension.AnnotationSchedulingHint] = `]`
	mustSubmit(t, own, garbage)
	awaitBound(t, patience, namespace, 1, 1)
	if diff := cmp.Diff(map[string]int{names[1]: 1, "": 1}, nodesOf(t, namespace, extension.LabelQueryWorker, "trino")); diff != "" {
		t.Errorf("pods by node (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"own": "a scheduling hint that koord-manager did not write prefers 1 node", "garbage": "KOORD1232"} {
		if got := koordctl(t, 0, "explain", "pod", name, "-n", namespace).Stdout; !strings.Contains(got, want) {
			t.Errorf("explain pod %s does not say %q:\n%s", name, want, got)
		}
	}

	awaitHints(t, namespace, map[string]int{names[0]: 60, names[1]: 62}, 0, "KOORD1234", "")
	large := ofEngine(namespace, "hot", extension.LabelQueryWorker, "trino")
	large.Spec.Containers[0].Resources = demand(namespace, "", "", "cpu", "100").Spec.Containers[0].Resources
	mustSubmit(t, ofEngine(namespace, "unhinted", extension.LabelQueryWorker, "trino"), large)
	awaitBound(t, patience, namespace, 2, 2)
	explained := koordctl(t, 0, "explain", "pod", "hot", "-n", namespace).Stdout
	for _, want := range []string{"KOORD1234", "the memory of all 2 nodes that the pod may run on is hot"} {
		if !strings.Contains(explained, want) {
			t.Errorf("explain pod does not say %q:\n%s", want, explained)
		}
	}
}
