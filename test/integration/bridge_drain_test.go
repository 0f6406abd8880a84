package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/bridge/yarn"
	"koordinator.sh/koord/bridge/yarn/resourcemanagersim"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestADrainedNodeKeepsWhatYARNRuns, and no more: its capability shrinks as containers end, and what they used is given back. Events and the
// forecast of the drain tell of them.
func TestADrainedNodeKeepsWhatYARNRuns(t *testing.T) {
	const node = "sim-0011"
	id := yarn.NodeID{Host: "nm", Port: 8041}
	rm, err := resourcemanagersim.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rm.Close)
	rm.SetNode(yarn.Node{ID: id, State: yarn.StateRunning})
	annotate(t.Context(), t, node, extension.AnnotationNodeColocationStrategy, `{"cpuReclaimThresholdPercent":150,"memoryReclaimThresholdPercent":120}`)
	annotate(t.Context(), t, node, extension.AnnotationYARNNodeID, id.String())
	t.Cleanup(func() {
		cordon(context.WithoutCancel(t.Context()), t, node, false)
		for _, key := range []string{extension.AnnotationNodeColocationStrategy, extension.AnnotationYARNNodeID, extension.AnnotationNodeThirdPartyAllocations} {
			annotate(context.WithoutCancel(t.Context()), t, node, key, "")
		}
	})
	startBridge(t, rm.Address())
	container, all := yarn.Resource{VCores: 1, MiB: 512}, yarn.Resource{VCores: 2, MiB: 1024}
	sandboxtest.Eventually(t, patience, func() error {
		if got := rm.Node(id.String()).Capability; got.VCores < 3 || got.MiB < 2048 || !rm.Allocate(id.String(), all) {
			return fmt.Errorf("YARN may use %+v", got)
		}
		return nil
	})
	cordon(t.Context(), t, node, true)
	holds := func(want yarn.Resource) {
		t.Helper()
		awaitNode(t, node, func(n *corev1.Node) error {
			has, err := batchOf(n)
			if err != nil {
				return err
			}
			taken := yarn.Resource{VCores: want.VCores * 1000, MiB: want.MiB << 20}
			if got := rm.Node(id.String()).Capability; got != want || has.taken != taken {
				return fmt.Errorf("YARN may use %+v, and Kubernetes counts %+v as taken; want %+v", got, has.taken, want)
			}
			return nil
		})
	}
	holds(all)
	awaitNodeEvent(t, node, "EngineWorkRemains", "KOORD1607", "still runs some with 2 cores of batch-cpu and 1Gi of batch-memory")
	result, err := shared.Koordctl(t.Context(), "whatif", "drain", node)
	if want := "node " + node + " may run work of hadoop-yarn"; err != nil || result.Code != 0 || !strings.Contains(result.Stdout, want) {
		t.Errorf("whatif drain ended with %d, %v, and does not tell that %s:\n%s%s", result.Code, err, want, result.Stdout, result.Stderr)
	}
	rm.Release(id.String(), container)
	holds(container)
	rm.Release(id.String(), container)
	holds(yarn.Resource{})
	awaitNodeEvent(t, node, "EngineWorkEnded", "No work of hadoop-yarn is left on the node")
	cordon(t.Context(), t, node, false)
	sandboxtest.Eventually(t, patience, func() error {
		if got := rm.Node(id.String()).Capability; got.VCores == 0 || got.MiB == 0 {
			return fmt.Errorf("YARN may use %+v of a node that takes work again", got)
		}
		return nil
	})
}

// cordon has a node take no pods, or take them again.
func cordon(ctx context.Context, t *testing.T, node string, unschedulable bool) {
	t.Helper()
	patch := fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, unschedulable)
	if _, err := client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// awaitNodeEvent waits for an event of a node in which all of some texts are.
func awaitNodeEvent(t *testing.T, node, reason string, texts ...string) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		events, err := client.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "regarding.name=" + node + ",reason=" + reason})
		if err != nil {
			return err
		}
		for i := range events.Items {
			if note := events.Items[i].Note; !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(note, text) }) {
				return nil
			}
		}
		return fmt.Errorf("no event %s says %q: %v", reason, texts, events.Items)
	})
}
