package topologies

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/test/eventually"
)

type fixture struct {
	t                    *testing.T
	state                *State
	pods, nodes, reports *cachetesting.FakeControllerSource
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, pods: cachetesting.NewFakeControllerSource(), nodes: cachetesting.NewFakeControllerSource(), reports: cachetesting.NewFakeControllerSource()}
	pods := cache.NewSharedIndexInformer(f.pods, &corev1.Pod{}, 0, nil)
	nodes := cache.NewSharedIndexInformer(f.nodes, &corev1.Node{}, 0, nil)
	state, err := NewFrom(f.reports, pods, nodes)
	if err != nil {
		t.Fatal(err)
	}
	f.state = state
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 3)
	for _, run := range []func(context.Context){pods.RunWithContext, nodes.RunWithContext, state.Run} {
		go func() { run(ctx); done <- struct{}{} }()
	}
	t.Cleanup(func() {
		cancel()
		for range 3 {
			<-done
		}
	})
	return f
}

func newNode(labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels}}
}

func newReport(cpus int, available string) *topologyv1alpha1.NodeResourceTopology {
	detail := extension.CPUTopology{}
	for id := range cpus {
		detail.Detail = append(detail.Detail, extension.CPUInfo{ID: int32(id), Core: int32(id)})
	}
	encoded, err := json.Marshal(detail)
	if err != nil {
		panic(err)
	}
	quantity := resource.MustParse(fmt.Sprint(cpus))
	return &topologyv1alpha1.NodeResourceTopology{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{extension.AnnotationNodeCPUTopology: string(encoded)}},
		Zones: topologyv1alpha1.ZoneList{{Name: "node-0", Type: "Node", Resources: topologyv1alpha1.ResourceInfoList{
			{Name: "cpu", Capacity: quantity, Allocatable: quantity, Available: resource.MustParse(available)},
		}}},
	}
}

func TestStateFollowsTheCluster(t *testing.T) {
	f := newFixture(t)
	node := newNode(nil)
	f.nodes.Add(node)
	f.reports.Add(newReport(4, "4"))
	eventually.True(f.t, "the report is read", func() bool { return f.state.Node(node).Usable.Len() == 4 })
	f.state.Refresh("n") // what the report's event does; it may come after the report is read
	first, changes := f.state.Node(node), f.state.Changes()

	f.reports.Modify(newReport(4, "1"))
	eventually.True(f.t, "the next report arrives", func() bool {
		return f.state.Report("n").Zones[0].Resources[0].Available.String() == "1"
	})
	f.state.Refresh("n")
	if f.state.Node(node) != first || f.state.Changes() != changes {
		t.Error("what is in use by the agent's account made another offer")
	}
	if f.state.Demanding() {
		t.Error("a node without labels demands something")
	}

	labelled := newNode(map[string]string{extension.LabelNodeNUMATopologyPolicy: "SingleNUMANode"})
	f.nodes.Modify(labelled)
	eventually.True(f.t, "the policy of the node is known", f.state.Demanding)
	if got := f.state.Node(labelled).Policy; got != extension.NUMATopologyPolicySingleNUMANode {
		t.Errorf("policy %q", got)
	}
	if f.state.Changes() == changes {
		t.Error("the change is not counted")
	}
	f.nodes.Delete(labelled)
	eventually.True(f.t, "the node is forgotten", func() bool { return !f.state.Demanding() })
	f.reports.Delete(newReport(4, "1"))
	eventually.True(f.t, "its report too", func() bool { return f.state.Report("n") == nil })
}

func TestNodesAsTheyAreNot(t *testing.T) {
	f := newFixture(t)
	node := newNode(nil)
	f.nodes.Add(node)
	eventually.True(f.t, "the node is known", func() bool { return f.state.Changes() > 0 })
	other := newNode(map[string]string{extension.LabelNodeCPUBindPolicy: "FullPCPUsOnly"})
	if got := f.state.Node(other).BindPolicy; got != extension.NodeCPUBindPolicyFullPCPUsOnly {
		t.Errorf("bind policy of the node with another label is %q", got)
	}
	if got := f.state.Node(node).BindPolicy; got != extension.NodeCPUBindPolicyNone {
		t.Errorf("bind policy of the node itself became %q", got)
	}
	if f.state.Demanding() {
		t.Error("a node that is not in the cluster demands something of it")
	}
	same := node.DeepCopy()
	if f.state.Node(same) != f.state.Node(node) {
		t.Error("a heartbeat made another offer")
	}
}

// TestAnOwnerIsNeverForgottenInBetween follows a pod from Reserve to its end. The scheduler's cache shows it without
// annotations for longer than the API server does.
func TestAnOwnerIsNeverForgottenInBetween(t *testing.T) {
	f := newFixture(t)
	node := newNode(nil)
	f.nodes.Add(node)
	f.reports.Add(newReport(4, "4"))
	eventually.True(f.t, "the report is read", func() bool { return f.state.Node(node).Usable.Len() == 4 })
	assumed := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "web"}, Spec: corev1.PodSpec{
		NodeName:   "n",
		Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}},
	}}
	info := framework.NewNodeInfo(assumed)
	info.SetNode(node)
	free := func() string { return f.state.Ledger(info).Free.String() }
	if free() != "0-3" {
		t.Fatalf("before Reserve %s are free", free())
	}
	f.state.Reserve("n", assumed, numa.Allocation{CPUs: cpuset.Of(1)})
	if free() != "0,2-3" {
		t.Errorf("after Reserve %s are free", free())
	}
	bound := assumed.DeepCopy()
	bound.Annotations = map[string]string{extension.AnnotationResourceStatus: `{"cpuset":"1"}`, extension.AnnotationReservationAllocated: `{"name":"r","uid":"r"}`}
	f.pods.Add(bound)
	eventually.True(f.t, "the pod says what it uses", func() bool { held, _ := f.state.allocations.Reserved("web"); return held.Reservation == "r" })
	if free() != "0,2-3" {
		t.Errorf("%s are free as the scheduler's cache shows the pod", free())
	}
	moved := bound.DeepCopy()
	moved.Annotations[extension.AnnotationResourceStatus] = `{"cpuset":"2"}`
	f.pods.Modify(moved)
	eventually.True(f.t, "it owns another CPU", func() bool { return free() == "0-1,3" })
	f.pods.Delete(moved)
	eventually.True(f.t, "it is gone", func() bool { _, reserved := f.state.allocations.Reserved("web"); return !reserved })
}
