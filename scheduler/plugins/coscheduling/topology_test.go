package coscheduling

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fcache "k8s.io/client-go/tools/cache/testing"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/test/eventually"
)

// newNetwork has racks of three nodes with two CPUs each.
func newNetwork(t *testing.T, racks int) *cluster {
	t.Helper()
	c := newCluster(t, 3*racks, 2)
	c.network = fcache.NewFakeControllerSource()
	object := &schedulingv1alpha1.ClusterNetworkTopology{ObjectMeta: metav1.ObjectMeta{Name: schedulingv1alpha1.ClusterNetworkTopologyName}}
	object.Spec.NetworkTopologySpec = []schedulingv1alpha1.NetworkTopologySpec{{TopologyLayer: "rack", LabelKey: []string{"rack"}}}
	c.network.Add(object)
	for i := range 3 * racks {
		node, err := c.client.CoreV1().Nodes().Get(t.Context(), fmt.Sprintf("n%d", i), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		node.Labels = map[string]string{"rack": rackOf(node.Name)}
		if _, err := c.client.CoreV1().Nodes().Update(t.Context(), node, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func rackOf(node string) string {
	var index int
	_, _ = fmt.Sscanf(node, "n%d", &index)
	return fmt.Sprintf("rack-%d", index/3)
}

func (c *cluster) createGathered(t *testing.T, name, rules string, members int) {
	t.Helper()
	group := c.group(name, int32(members))
	group.Annotations = map[string]string{extension.AnnotationGangNetworkTopologySpec: rules}
	c.groups.Add(group)
	for i := range members {
		c.createPod(t, fmt.Sprintf("%s-%d", name, i), name)
	}
}

func (c *cluster) racks(t *testing.T, group string) map[string]int {
	t.Helper()
	list, err := c.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	racks := map[string]int{}
	for i := range list.Items {
		if pod := &list.Items[i]; pod.Labels[extension.LabelPodGroup] == group && pod.Spec.NodeName != "" {
			racks[rackOf(pod.Spec.NodeName)]++
		}
	}
	return racks
}

// TestGangsGather has gangs that fill a rack each, between plain pods, and one more that finds none until room is made.
func TestGangsGather(t *testing.T) {
	const must = `{"gatherStrategy":[{"layer":"rack","strategy":"MustGather"}]}`
	c := newNetwork(t, 4)
	c.start(t)
	eventually.True(t, "the network is known", func() bool { return c.state.Topology() != nil })
	for i := range 3 {
		c.createPod(t, fmt.Sprintf("p%d", i), "")
	}
	eventually.True(t, "plain pods run", func() bool { return c.bound(t)[""] == 3 })
	c.createGathered(t, "a", must, 4)
	c.createGathered(t, "b", must, 5)
	eventually.True(t, "both gangs run", func() bool { return c.bound(t)["a"] == 4 && c.bound(t)["b"] == 5 })
	for _, name := range []string{"a", "b"} {
		if racks := c.racks(t, name); len(racks) != 1 {
			t.Errorf("gang %s is in %v", name, racks)
		}
	}
	c.createGathered(t, "c", must, 6)
	eventually.True(t, "a gang that finds no rack says so", func() bool {
		list, err := c.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			for _, condition := range list.Items[i].Status.Conditions {
				if condition.Type == corev1.PodScheduled && strings.Contains(condition.Message, "no domain of network layer rack has room for 6 members together") {
					return true
				}
			}
		}
		return len(c.racks(t, "c")) == 1 // the plain pods left a whole rack
	})
	for i := range 3 {
		c.remove(t, fmt.Sprintf("p%d", i))
	}
	for i := range 4 {
		c.remove(t, fmt.Sprintf("a-%d", i))
	}
	eventually.True(t, "it runs once there is a rack", func() bool {
		return c.racks(t, "c")["rack-0"]+c.racks(t, "c")["rack-1"]+c.racks(t, "c")["rack-2"]+c.racks(t, "c")["rack-3"] == 6
	})
	if racks := c.racks(t, "c"); len(racks) != 1 {
		t.Errorf("gang c is in %v", racks)
	}
}

// TestMultiplesAreKept has two members on each node.
func TestMultiplesAreKept(t *testing.T) {
	c := newNetwork(t, 2)
	c.start(t)
	eventually.True(t, "the network is known", func() bool { return c.state.Topology() != nil })
	c.createPod(t, "p", "")
	eventually.True(t, "a plain pod runs", func() bool { return c.bound(t)[""] == 1 })
	c.createGathered(t, "a", `{"gatherStrategy":[{"layer":"rack","strategy":"PreferGather"},{"layer":"NodeTopologyLayer","strategy":"PreferGather","podCountMultiple":2}]}`, 4)
	eventually.True(t, "the gang runs", func() bool { return c.bound(t)["a"] == 4 })
	list, err := c.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]int{}
	for i := range list.Items {
		if list.Items[i].Labels[extension.LabelPodGroup] == "a" {
			nodes[list.Items[i].Spec.NodeName]++
		}
	}
	if len(nodes) != 2 || len(c.racks(t, "a")) != 1 {
		t.Errorf("members are on %v", nodes)
	}
}

func TestMembersThatGatherAreNotSigned(t *testing.T) {
	c := newNetwork(t, 1)
	c.start(t)
	c.createGathered(t, "a", `{"gatherStrategy":[{"layer":"rack","strategy":"MustGather"}]}`, 2)
	eventually.True(t, "the gang is known", func() bool { return c.state.Spec(keyIn("a")) != nil })
	member := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a-0", UID: types.UID("a-0"), Labels: map[string]string{extension.LabelPodGroup: "a"}}}
	if _, status := c.plugin.SignPod(t.Context(), member); status.IsSuccess() {
		t.Error("a member that gathers is signed")
	}
	member.Labels = nil
	if _, status := c.plugin.SignPod(t.Context(), member); !status.IsSuccess() {
		t.Errorf("a plain pod is not signed: %v", status)
	}
}
