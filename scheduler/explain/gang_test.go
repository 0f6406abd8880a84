package explain

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

const rackLabel = "rack"

// addGroup takes over a PodGroup, and addNetwork how the nodes are connected.
func (c *cluster) addGroup(group *schedulingsigsv1alpha1.PodGroup) {
	c.shared.gangEvents.OnAdd(group, false)
	c.shared.gangObjects = append(c.shared.gangObjects, group)
}

func (c *cluster) addNetwork(network *schedulingv1alpha1.ClusterNetworkTopology) {
	c.shared.gangEvents.OnAdd(network, false)
	c.shared.gangObjects = append(c.shared.gangObjects, network)
}

// newGroup is a gang whose members come together.
func newGroup(name string, minMember int32) *schedulingsigsv1alpha1.PodGroup {
	group := &schedulingsigsv1alpha1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{}}}
	group.Spec.MinMember = minMember
	return group
}

func inGang(name string, pod *corev1.Pod) *corev1.Pod {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[extension.LabelPodGroup] = name
	return pod
}

// racks connects the nodes by a label.
func racks() *schedulingv1alpha1.ClusterNetworkTopology {
	network := &schedulingv1alpha1.ClusterNetworkTopology{ObjectMeta: metav1.ObjectMeta{Name: schedulingv1alpha1.ClusterNetworkTopologyName}}
	network.Spec.NetworkTopologySpec = []schedulingv1alpha1.NetworkTopologySpec{{TopologyLayer: rackLabel, LabelKey: []string{rackLabel}}}
	return network
}

// drawGang fills a cluster and makes the pod "asked" a member of a gang, of which some members may be missing, and which may have
// to be in one rack.
func (c *cluster) drawGang(t *rapid.T) {
	c.drawShipped(t)
	asked := c.pods["asked"].DeepCopy()
	if len(asked.Spec.Containers[0].Resources.Requests) > 2 { // devices have tests of their own
		asked.Spec.Containers[0].Resources.Requests = list("cpu", "2", "memory", "1Gi")
	}
	c.updatePod(inGang("team", asked))
	group := newGroup("team", rapid.Int32Range(1, 3).Draw(t, "min member"))
	for i := range rapid.IntRange(0, 3).Draw(t, "other members") {
		member := asked.DeepCopy()
		member.Name = fmt.Sprint("member-", i)
		member.UID = types.UID(member.Name)
		c.addPod(member)
	}
	if rapid.Bool().Draw(t, "gathers") {
		strategy := rapid.SampledFrom([]string{"MustGather", "PreferGather"}).Draw(t, "strategy")
		group.Annotations[extension.AnnotationGangNetworkTopologySpec] = fmt.Sprintf(`{"gatherStrategy":[{"layer":"rack","strategy":%q}]}`, strategy)
		for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
			edited := c.nodes[name].DeepCopy()
			edited.Labels[rackLabel] = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "rack of "+name)
			c.addNode(edited)
		}
		c.addNetwork(racks())
	}
	c.addGroup(group)
}

// TestEveryGangHasAReason keeps the promise of an explanation for members of gangs: one that is gated is so for what is missing,
// and no longer once that is there.
func TestEveryGangHasAReason(t *testing.T) {
	c := newShippedCluster(t)
	kinds, codes := map[string]int{}, map[string]int{}
	for range 8 { // of as many clusters as rapid draws at a time
		rapid.Check(t, func(t *rapid.T) {
			c.drawGang(t)
			status := c.explain("asked")
			for _, g := range status.Groups {
				codes[g.Code]++
			}
			if status.Verdict == diagnosticsv1alpha1.PodGated {
				c.checkGate(t, status)
				return
			}
			c.checkExplanation(t, kinds)
		})
	}
	expectKinds(t, codes, string(finding.GangMembersMissing), string(finding.GangTopologyUnsatisfied), string(finding.InsufficientResources))
	t.Logf("fixes: %v; codes: %v", kinds, codes)
}

// checkGate adds the members that the gate waits for.
func (c *cluster) checkGate(t *rapid.T, status *diagnosticsv1alpha1.PodExplanationStatus) {
	if status.Code != string(finding.GangMembersMissing) || len(status.Groups) != 1 || status.Groups[0].Code != status.Code || status.Groups[0].Message == "" {
		t.Fatalf("gated without a reason: %+v", status)
	}
	for i := range 3 {
		member := c.pods["asked"].DeepCopy()
		member.Name = fmt.Sprint("late-", i)
		member.UID = types.UID(member.Name)
		c.addPod(member)
	}
	if after := c.explain("asked"); after.Verdict == diagnosticsv1alpha1.PodGated {
		t.Fatalf("gated although all members are there: %s", after.Summary)
	}
}
