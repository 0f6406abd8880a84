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

// rackLabel and spineLabel are also the names of the layers: some racks to a spine.
const rackLabel, spineLabel = "rack", "spine"

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

// racks connects the nodes by their labels.
func racks() *schedulingv1alpha1.ClusterNetworkTopology {
	network := &schedulingv1alpha1.ClusterNetworkTopology{ObjectMeta: metav1.ObjectMeta{Name: schedulingv1alpha1.ClusterNetworkTopologyName}}
	network.Spec.NetworkTopologySpec = []schedulingv1alpha1.NetworkTopologySpec{
		{TopologyLayer: spineLabel, LabelKey: []string{spineLabel}}, {TopologyLayer: rackLabel, ParentTopologyLayer: spineLabel, LabelKey: []string{rackLabel}},
	}
	return network
}

// drawGang fills a cluster and makes the pod "asked" a member of a gang, of which some members may be missing, and which may have
// to be in one rack.
func (c *cluster) drawGang(t *rapid.T) {
	c.drawShipped(t)
	asked := c.pods["asked"].DeepCopy()
	if len(asked.Spec.Containers[0].Resources.Requests) > 2 { // devices have their own tests
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
		layer := rapid.SampledFrom([]string{"rack", "rack", "rack", "spine", "aisle"}).Draw(t, "layer")
		group.Annotations[extension.AnnotationGangNetworkTopologySpec] = fmt.Sprintf(`{"gatherStrategy":[{"layer":%q,"strategy":%q}]}`, layer, strategy)
		for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
			edited := c.nodes[name].DeepCopy()
			edited.Labels[rackLabel] = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "rack of "+name)
			edited.Labels[spineLabel] = "s"
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
	kinds, codes, counted := map[string]int{}, map[string]int{}, newTally()
	for range rounds(16) { // of as many clusters as rapid draws at a time
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
			if status = c.checkExplanation(t, kinds); status.Verdict == diagnosticsv1alpha1.PodUnschedulable {
				c.count(status, counted)
			}
		})
	}
	expectKinds(t, codes, string(finding.GangMembersMissing), string(finding.GangTopologyUnsatisfied), string(finding.GangTopologyInvalid), string(finding.InsufficientResources))
	expectKinds(t, kinds, "lowerMinMember", "removeGatherRules", "addNode")
	// What gives one member a node may not be enough where several members of the gang have none.
	counted.report(t, map[int]int{1: 1, 2: 2})
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

// TestGangsThatFindNoPartOfTheNetwork has three racks of two nodes with 16 CPUs each, on two spines, and says what is proposed.
func TestGangsThatFindNoPartOfTheNetwork(t *testing.T) {
	tests := map[string]struct {
		rules          string
		members        int
		minMember      int32
		cpu            string
		wantKind, want string
	}{
		"some members fit together, and fewer are enough": {
			`{"gatherStrategy":[{"layer":"rack","strategy":"MustGather"}]}`, 3, 3, "9",
			"lowerMinMember", "lower minMember of PodGroup default/team from 3 to 2, which is how many members have room together",
		},
		"no member may be left out, and a spine has room": {
			`{"gatherStrategy":[{"layer":"rack","strategy":"MustGather","podCountMultiple":3}]}`, 3, 3, "9",
			"gatherFurtherUp", "let the members of PodGroup default/team gather in layer spine instead of rack",
		},
		"no spine has room for a multiple, nor do all together": {
			`{"gatherStrategy":[{"layer":"spine","strategy":"MustGather","podCountMultiple":5}]}`, 5, 5, "9",
			"removeGatherRules", "remove the network topology requirements of PodGroup default/team",
		},
		"a layer that the network does not have": {
			`{"gatherStrategy":[{"layer":"aisle","strategy":"MustGather"}]}`, 1, 1, "9",
			"removeGatherRules", "remove the network topology requirements of PodGroup default/team",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newShippedCluster(t)
			for i := range 6 {
				node := newNode(i)
				node.Labels[rackLabel], node.Labels[spineLabel] = fmt.Sprint("rack-", i/2), fmt.Sprint("spine-", i/4)
				c.addNode(node)
			}
			c.addNetwork(racks())
			group := newGroup("team", test.minMember)
			group.Annotations[extension.AnnotationGangNetworkTopologySpec] = test.rules
			c.addGroup(group)
			c.addPod(inGang("team", newPod("asked", "cpu", test.cpu)))
			for i := range test.members - 1 {
				c.addPod(inGang("team", newPod(fmt.Sprint("member-", i), "cpu", test.cpu)))
			}
			status := c.explain("asked")
			if status.Fix == nil || status.Fix.Kind != test.wantKind || status.Fix.Description != test.want || !status.Fix.Verified {
				t.Errorf("fix %+v, want %s: %q", status.Fix, test.wantKind, test.want)
			}
		})
	}
}
