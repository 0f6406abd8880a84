package explain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// draw fills the cluster with a few nodes and pods in every state that matters, and one pending pod, "asked".
func (c *cluster) draw(t *rapid.T) {
	c.clear()
	for i := range rapid.IntRange(0, 6).Draw(t, "nodes") {
		node := newNode(i)
		node.Labels["disk"] = rapid.SampledFrom([]string{"ssd", "hdd"}).Draw(t, "disk")
		if rapid.IntRange(0, 3).Draw(t, "cordon") == 0 {
			node.Spec.Unschedulable = true
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
		if rapid.IntRange(0, 2).Draw(t, "taint") == 0 {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "dedicated", Value: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "team"), Effect: corev1.TaintEffectNoSchedule})
		}
		c.addNode(node)
		if rapid.IntRange(0, 3).Draw(t, "has metric") > 0 {
			ago := rapid.SampledFrom([]time.Duration{10 * time.Second, 10 * time.Minute}).Draw(t, "age")
			c.addMetric(i, ago, "cpu", fmt.Sprintf("%dm", rapid.IntRange(0, 16000).Draw(t, "used")), "memory", "1Gi")
		}
		for j := range rapid.IntRange(0, 2).Draw(t, "pods") {
			c.drawNeighbour(t, i, fmt.Sprintf("p-%d-%d", i, j))
		}
	}
	c.addPod(drawAsked(t))
}

func (c *cluster) drawNeighbour(t *rapid.T, node int, name string) {
	// Some pods leave no room at all, so that only their eviction makes any.
	cpu := rapid.OneOf(rapid.IntRange(1000, 12000), rapid.Just(16000)).Draw(t, "cpu")
	pod := on(node, newPod(name, "cpu", fmt.Sprintf("%dm", cpu)))
	pod.Spec.Priority = new(rapid.SampledFrom([]int32{100, 9500}).Draw(t, "priority"))
	c.addPod(pod)
	if metric := c.state.metrics[pod.Spec.NodeName]; metric != nil && rapid.Bool().Draw(t, "reported") {
		metric.Status.PodsMetric = append(metric.Status.PodsMetric, &slov1alpha1.PodMetricInfo{
			Namespace: "default", Name: name, PodUsage: slov1alpha1.ResourceMap{ResourceList: list("cpu", "100m", "memory", "100Mi")},
		})
	}
}

func drawAsked(t *rapid.T) *corev1.Pod {
	pod := newPod("asked", "cpu", fmt.Sprintf("%dm", rapid.IntRange(100, 20000).Draw(t, "cpu")), "memory", fmt.Sprint(rapid.IntRange(1, 80<<30).Draw(t, "memory")))
	if rapid.IntRange(0, 3).Draw(t, "is batch") == 0 {
		pod = newPod("asked", "kubernetes.io/batch-cpu", fmt.Sprint(rapid.IntRange(100, 5000).Draw(t, "batch-cpu")))
		pod.Spec.Priority = new(int32(5500))
	}
	if rapid.IntRange(0, 2).Draw(t, "selects") == 0 {
		pod.Spec.NodeSelector = map[string]string{"disk": rapid.SampledFrom([]string{"ssd", "nvme"}).Draw(t, "wants")}
	}
	if rapid.IntRange(0, 3).Draw(t, "tolerates") == 0 {
		pod.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "a"}}
	}
	return pod
}

// TestEveryRefusalHasAReasonAndEveryFixWorks is the promise of an explanation: each node that does not take the pod is
// in some group, the counts add up, and the fix, carried out by hand as its text says, makes the pod schedulable.
func TestEveryRefusalHasAReasonAndEveryFixWorks(t *testing.T) {
	c := newCluster(t)
	kinds := map[string]int{}
	for range rounds(8) { // of as many clusters as rapid draws at a time
		rapid.Check(t, func(t *rapid.T) { c.draw(t); c.checkExplanation(t, kinds) })
	}
	expectKinds(t, kinds, "reduceRequest", "addToleration", "removeNodeSelector", "uncordon", "evictPod", "raiseThreshold", "refreshNodeMetric", "pair", "none")
}

// rounds is how often a property is checked on as many clusters as rapid draws at a time: a sixth of it under the race detector.
func rounds(count int) int {
	if raced {
		return max(1, count/6)
	}
	return count
}

func expectKinds(t *testing.T, kinds map[string]int, expected ...string) {
	t.Helper()
	if raced { // too few clusters for the rare kinds
		return
	}
	for _, kind := range expected {
		if kinds[kind] == 0 {
			t.Errorf("no cluster needed %s; the test has lost its power: %v", kind, kinds)
		}
	}
}

// checkExplanation asks, does what the fix says, and asks again.
func (c *cluster) checkExplanation(t *rapid.T, kinds map[string]int) *diagnosticsv1alpha1.PodExplanationStatus {
	ask := question("asked")
	if _, reserves := c.shared.reserved.Get("asked"); reserves {
		ask.Spec.PodName, ask.Spec.ReservationName = "", "asked"
	}
	ask.Spec.MaxNodes = new(int32(100))
	answer, err := c.engine.Explain(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	status := &answer.Status
	checkCounts(t, status, len(c.nodes))
	c.checkCodes(t, status)
	if status.Fix == nil {
		kinds["none"]++
		return status
	}
	steps := strings.Split(status.Fix.Kind, "+")
	for _, kind := range steps {
		kinds[kind]++
	}
	if len(steps) > 1 {
		kinds["pair"]++
	}
	if !status.Fix.Verified {
		t.Fatalf("fix %q was not verified", status.Fix.Description)
	}
	c.carryOut(t, status.Fix)
	after, err := c.engine.Explain(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	if after.Status.Verdict != diagnosticsv1alpha1.PodSchedulable || after.Status.NodesFeasible != status.Fix.NodesUnlocked {
		t.Errorf("after %q the pod is %s with %d nodes, want Schedulable with %d: %s", status.Fix.Description,
			after.Status.Verdict, after.Status.NodesFeasible, status.Fix.NodesUnlocked, after.Status.Summary)
	}
	return status
}

// checkCodes has every reason named by its text alone, as a history does. It may know less than the evaluation.
func (c *cluster) checkCodes(t *rapid.T, status *diagnosticsv1alpha1.PodExplanationStatus) {
	for _, g := range status.Groups {
		code := c.engine.simulations[schedulerName].codeOf(refusal{plugin: g.Plugin, reason: g.Reason})
		if code == finding.OtherPlugin || finding.ClassOf(code) != finding.ClassOf(finding.Code(g.Code)) {
			t.Fatalf("code %s of %s %q, and %s with its state", code, g.Plugin, g.Reason, g.Code)
		}
	}
}

func checkCounts(t *rapid.T, status *diagnosticsv1alpha1.PodExplanationStatus, nodes int) {
	reasons, sole := map[string]int{}, int32(0)
	for _, g := range status.Groups {
		if int(g.Count) != len(g.Nodes) {
			t.Fatalf("group %s counts %d nodes and lists %d", g.Reason, g.Count, len(g.Nodes))
		}
		if _, known := finding.Lookup(finding.Code(g.Code)); !known || g.Code == string(finding.OtherPlugin) || g.Message == "" || g.Class == "" {
			t.Fatalf("group %+v lacks a code, a message or a class", g)
		}
		sole += g.Sole
		for _, node := range g.Nodes {
			reasons[node.Node]++
		}
	}
	if want := nodes - int(status.NodesFeasible); len(reasons) != want || int(status.NodesTotal) != nodes {
		t.Fatalf("%d of %d nodes are refused with a reason, want %d of %d", len(reasons), status.NodesTotal, want, nodes)
	}
	once := int32(0)
	for _, count := range reasons {
		if count == 1 {
			once++
		}
	}
	if once != sole {
		t.Fatalf("groups claim %d nodes for themselves, %d nodes have one reason", sole, once)
	}
	if refused := len(reasons) == nodes; refused != (status.Verdict == diagnosticsv1alpha1.PodUnschedulable) {
		t.Fatalf("verdict %s with %d of %d nodes refused", status.Verdict, len(reasons), nodes)
	}
}
