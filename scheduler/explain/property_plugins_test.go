package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// gpusOn are the nodes with Devices, and how many GPUs those have.
var gpusOn = map[string]int{"node-0": 4, "node-3": 2}

// drawShipped fills the cluster with up to five nodes that differ in everything the plugins look at, pods that hold some
// of it, a tree of quotas, and one pending pod, "asked".
func (c *cluster) drawShipped(t *rapid.T) {
	c.clear()
	nodes := rapid.IntRange(1, 5).Draw(t, "nodes")
	for i := range nodes {
		node := newNode(i)
		drawTopology(t, c, node)
		if gpus := gpusOn[node.Name]; gpus > 0 {
			offerGPUs(node, int64(gpus))
		}
		if rapid.IntRange(0, 7).Draw(t, "cordon") == 0 {
			node.Spec.Unschedulable = true
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
		if rapid.IntRange(0, 7).Draw(t, "taint") == 0 {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "dedicated", Value: "a", Effect: corev1.TaintEffectNoSchedule})
		}
		c.addNode(node)
		if rapid.Bool().Draw(t, "has metric") {
			ago := rapid.SampledFrom([]time.Duration{10 * time.Second, 10 * time.Second, 10 * time.Minute}).Draw(t, "age")
			metric := c.addMetric(i, ago, "cpu", fmt.Sprintf("%dm", rapid.IntRange(0, 16000).Draw(t, "used")), "memory", "1Gi")
			if rapid.IntRange(0, 9).Draw(t, "silent") == 0 {
				metric.Status = slov1alpha1.NodeMetricStatus{} // its agent never reported a usage
			}
		}
		for j := range rapid.IntRange(0, 3).Draw(t, "pods") {
			c.addPod(drawHolder(t, i, fmt.Sprintf("p-%d-%d", i, j)))
		}
	}
	c.drawQuotas(t)
	c.drawReservations(t, nodes)
	pod := drawWish(t)
	drawOwner(t, pod)
	c.addPod(pod)
}

func drawTopology(t *rapid.T, c *cluster, node *corev1.Node) {
	if rapid.IntRange(0, 2).Draw(t, "reported") > 0 {
		c.addReport(newReport(node.Name))
	}
	if policy := rapid.SampledFrom([]string{"", "", "", "SingleNUMANode", "Restricted"}).Draw(t, "node NUMA policy"); policy != "" {
		node.Labels[extension.LabelNodeNUMATopologyPolicy] = policy
	}
	if policy := rapid.SampledFrom([]string{"", "", "", "", "FullPCPUsOnly", "SpreadByPCPUs"}).Draw(t, "node bind policy"); policy != "" {
		node.Labels[extension.LabelNodeCPUBindPolicy] = policy
	}
}

func offerGPUs(node *corev1.Node, gpus int64) {
	for name, amount := range map[corev1.ResourceName]int64{
		extension.ResourceNvidiaGPU: gpus, extension.ResourceGPU: 100 * gpus, extension.ResourceGPUCore: 100 * gpus,
		extension.ResourceGPUMemoryRatio: 100 * gpus, extension.ResourceGPUMemory: gpus << 36, extension.ResourceRDMA: 100 * (gpus / 2),
	} {
		node.Status.Allocatable[name] = *resource.NewQuantity(amount, resource.DecimalSI)
	}
}

// drawHolder is a pod on a node that holds CPUs, GPUs, quota or a share of its usage class.
func drawHolder(t *rapid.T, node int, name string) *corev1.Pod {
	cpu := rapid.SampledFrom([]int{1, 2, 4, 6, 12}).Draw(t, "cpu held")
	pod := on(node, newPod(name, "cpu", fmt.Sprint(cpu)))
	pod.Labels = map[string]string{}
	switch rapid.SampledFrom([]string{"cpus", "gpus", "class", "plain"}).Draw(t, "holds") {
	case "cpus":
		first := rapid.IntRange(0, 16-cpu).Draw(t, "first cpu")
		holdingCPUs(pod, fmt.Sprintf("%d-%d", first, first+cpu-1))
		pod.Labels[extension.LabelPodQoS] = string(extension.QoSLSR)
	case "gpus":
		percent := rapid.SampledFrom([]int{50, 100, 100}).Draw(t, "gpu percent")
		holdingGPUs(pod, percent, rapid.SampledFrom([][]int{{0}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2}}).Draw(t, "gpus held")...)
	case "class":
		pod.Labels[extension.LabelUsageClass] = rapid.SampledFrom([]string{"search", "video"}).Draw(t, "class held")
	}
	if quota := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "quota held"); quota != "" {
		pod.Labels[extension.LabelQuotaName] = quota
	}
	pod.Spec.Priority = new(rapid.SampledFrom([]int32{100, 9500, 9900}).Draw(t, "priority held"))
	return pod
}

// drawQuotas plants org with its children a and b, or nothing.
func (c *cluster) drawQuotas(t *rapid.T) {
	if !rapid.Bool().Draw(t, "has quotas") {
		return
	}
	amount := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
	org := newQuota("org", "", amount("min of org", 20), 20+amount("max of org", 20))
	org.Labels[extension.LabelQuotaIsParent] = "true"
	c.addQuota(org)
	for _, name := range []string{"a", "b"} {
		c.addQuota(newQuota(name, "org", amount("min of "+name, 10), 1+amount("max of "+name, 30)))
	}
}

// drawWish is a pending pod that wants something of one plugin, or of several.
func drawWish(t *rapid.T) *corev1.Pod {
	cpu := rapid.SampledFrom([]string{"500m", "1", "1500m", "2", "4", "7", "9", "14", "17"}).Draw(t, "cpu")
	pod := newPod("asked", "cpu", cpu, "memory", "1Gi")
	pod.Labels, pod.Annotations = map[string]string{}, map[string]string{}
	wants := func(what string) bool { return rapid.IntRange(0, 4).Draw(t, what) == 0 }
	if wants("binds") {
		pod.Labels[extension.LabelPodQoS] = string(extension.QoSLSR)
		if policy := rapid.SampledFrom([]string{"", "FullPCPUs", "SpreadByPCPUs"}).Draw(t, "bind policy"); policy != "" {
			pod.Annotations[extension.AnnotationResourceSpec] = fmt.Sprintf(`{"requiredCPUBindPolicy":%q}`, policy)
		}
	}
	if wants("aligns") {
		policy := rapid.SampledFrom([]string{"SingleNUMANode", "Restricted", "BestEffort"}).Draw(t, "NUMA policy")
		pod.Annotations[extension.AnnotationNUMATopologySpec] = fmt.Sprintf(`{"numaTopologyPolicy":%q}`, policy)
	}
	if rapid.IntRange(0, 2).Draw(t, "accelerates") == 0 {
		drawDevices(t, pod)
	}
	if wants("hinted") {
		pod.Annotations[extension.AnnotationSchedulingHint] = rapid.SampledFrom([]string{`{"nodeNames":["node-0"]}`, `{"nodeNames":["node-9"]}`, `{"nodeNames":`}).Draw(t, "hint")
	}
	if wants("classed") {
		pod.Labels[extension.LabelUsageClass] = rapid.SampledFrom([]string{"search", "video"}).Draw(t, "class")
	}
	if wants("quota") {
		pod.Labels[extension.LabelQuotaName] = rapid.SampledFrom([]string{"a", "b", "gone"}).Draw(t, "quota")
		if rapid.IntRange(0, 2).Draw(t, "stays") == 0 {
			pod.Labels[extension.LabelQuotaPreemptible] = "false"
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "never preempts") == 0 {
		pod.Spec.PreemptionPolicy = new(corev1.PreemptNever)
	}
	return pod
}

func drawDevices(t *rapid.T, pod *corev1.Pod) {
	requests := pod.Spec.Containers[0].Resources.Requests
	switch rapid.SampledFrom([]string{"whole", "whole", "share", "joint", "nic"}).Draw(t, "devices") {
	case "whole":
		requests[extension.ResourceNvidiaGPU] = resource.MustParse(rapid.SampledFrom([]string{"1", "2", "2", "2", "8"}).Draw(t, "gpus"))
		if rapid.Bool().Draw(t, "scoped") {
			pod.Annotations[extension.AnnotationDeviceAllocateHint] = `{"gpu":{"requiredTopologyScope":"PCIe"}}`
		}
	case "share":
		share := rapid.SampledFrom([]string{"30", "60", "100"}).Draw(t, "share")
		requests[extension.ResourceGPUCore], requests[extension.ResourceGPUMemoryRatio] = resource.MustParse(share), resource.MustParse(share)
	case "joint":
		requests[extension.ResourceGPU], requests[extension.ResourceRDMA] = resource.MustParse("100"), resource.MustParse("100")
		pod.Annotations[extension.AnnotationDeviceJointAllocate] = `{"deviceTypes":["gpu","rdma"],"requiredScope":"SamePCIe"}`
	case "nic":
		requests[extension.ResourceRDMA] = resource.MustParse(rapid.SampledFrom([]string{"50", "100", "200"}).Draw(t, "rdma"))
	}
}

// TestEveryRefusalHasAReasonAndEveryFixWorksWithAllPlugins keeps the promise of an explanation for the shipped profile.
func TestEveryRefusalHasAReasonAndEveryFixWorksWithAllPlugins(t *testing.T) {
	var reported []*schedulingv1alpha1.Device
	for name, gpus := range gpusOn { // and of what is added like them
		reported = append(reported, newDevice(name, gpus), newDevice(addedLike+name, gpus))
	}
	c := newShippedCluster(t, reported...)
	kinds, plugins, verdicts, counted := map[string]int{}, map[string]int{}, map[string]int{}, newTally()
	for range rounds(60) { // of as many clusters as rapid draws at a time
		rapid.Check(t, func(t *rapid.T) {
			c.drawShipped(t)
			status := c.checkExplanation(t, kinds)
			if status.Verdict != diagnosticsv1alpha1.PodUnschedulable {
				return
			}
			for _, g := range status.Groups {
				plugins[g.Plugin]++
			}
			verdicts[string(status.Preemption.Verdict)]++
			c.count(status, counted)
		})
	}
	kinds["dropScope"] = kinds["dropTopologyScope"] + kinds["dropJointScope"]
	expectKinds(t, kinds, "reduceRequest", "raiseRequest", "addToleration", "uncordon", "addNode", "evictPod", "evictPods", "raiseThreshold", "refreshNodeMetric", "pair", "relaxBindPolicy",
		"relaxNUMAPolicy", "relaxNodePolicy", "unbindCPUs", "raiseQuota", "changeQuota", "makePreemptible", "removeUsageClass", "removeSchedulingHint",
		"dropScope", "removeReservationAffinity", "endReservation")
	expectKinds(t, plugins, "NodeNUMAResource", "DeviceShare", "ElasticQuota", "UsageClass", "SchedulingHint", "LoadAwareScheduling", "NodeResourcesFit", "Reservation")
	expectKinds(t, verdicts, "Evicts", "Helpless", "NotAllowed")
	t.Logf("fixes: %v; refusals: %v; preemption: %v", kinds, plugins, verdicts)
	counted.report(t, map[int]int{1: 0, 2: 0, 3: 1, 4: 2})
}

// tally counts the pending pods by what refuses the node that the fewest reasons refuse.
type tally struct {
	pending, withoutFix map[int]int
	texts               map[string]int
	// unoffered are pods that ask every node for something it has none of.
	unoffered int
}

func newTally() *tally {
	return &tally{pending: map[int]int{}, withoutFix: map[int]int{}, texts: map[string]int{}}
}

func (c *cluster) count(status *diagnosticsv1alpha1.PodExplanationStatus, into *tally) {
	byNode, hopeless := map[string][]string{}, map[string]bool{}
	for _, g := range status.Groups {
		for _, node := range g.Nodes {
			byNode[node.Node] = append(byNode[node.Node], g.Plugin+" "+g.Code)
			name, short := strings.CutPrefix(g.Reason, "Insufficient ")
			offered := c.nodes[node.Node].Status.Allocatable[corev1.ResourceName(name)]
			hopeless[node.Node] = hopeless[node.Node] || short && g.Plugin == "NodeResourcesFit" && offered.IsZero()
		}
	}
	var nearest []string
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		if !hopeless[node] && (nearest == nil || len(byNode[node]) < len(nearest)) {
			nearest = byNode[node]
		}
	}
	if nearest == nil {
		into.unoffered++
		return
	}
	into.pending[len(nearest)]++
	if status.Fix == nil {
		slices.Sort(nearest)
		into.withoutFix[len(nearest)]++
		pod := c.pods["asked"]
		into.texts[fmt.Sprintf("%d reasons: %s: labels %v, annotations %v, requests %v", len(nearest), strings.Join(nearest, ", "), pod.Labels, pod.Annotations, pod.Spec.Containers[0].Resources.Requests)]++
	}
}

// report logs what has no fix, and fails when that is more than a percentage of the pods with as many reasons. A chain of changes
// is bounded, and each of its changes is the cheapest that helps by itself, so that it may not reach its end where much is wrong.
func (n *tally) report(t *testing.T, percent map[int]int) {
	for _, text := range slices.SortedFunc(maps.Keys(n.texts), func(a, b string) int { return cmp.Compare(n.texts[b], n.texts[a]) }) {
		t.Logf("%4d without a fix: %s", n.texts[text], text)
	}
	t.Logf("pending by number of reasons: %v, without a fix: %v; %d ask for what no node offers", n.pending, n.withoutFix, n.unoffered)
	if raced { // too few pods for a percentage
		return
	}
	for reasons, most := range percent {
		if n.withoutFix[reasons]*100 > n.pending[reasons]*most {
			t.Errorf("%d of %d pods with %d reasons have no fix, which is more than %d%%", n.withoutFix[reasons], n.pending[reasons], reasons, most)
		}
	}
}
