package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host/simulated"
	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/scheduling/numa"
)

// machineNode is a node of so many CPUs with 4 GiB each, of which its kubelet keeps 500m and 1 GiB.
func machineNode(cpus int64) *corev1.Node {
	size := func(milli, gibs int64) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewMilliQuantity(milli, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(gibs<<30, resource.BinarySI),
		}
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "sim-1", UID: "uid-1", Labels: map[string]string{}, Annotations: map[string]string{}},
		Status:     corev1.NodeStatus{Capacity: size(cpus*1000, cpus*4), Allocatable: size(cpus*1000-500, cpus*4-1)},
	}
}

func topologyInput(t *testing.T, node *corev1.Node) TopologyInput {
	t.Helper()
	sim, err := simulated.FromNode(node)
	if err != nil {
		t.Fatal(err)
	}
	return TopologyInput{Node: TopologyNodeOf(node), Machine: sim.Topology()}
}

func parsed(t *testing.T, list string) cpuset.CPUSet {
	t.Helper()
	cpus, err := cpuset.Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	return cpus
}

func TestTopologyGolden(t *testing.T) {
	node := machineNode(32)
	node.Labels[extension.LabelNodeEnableNUMAReservation] = "true"
	node.Annotations[extension.AnnotationNodeReservation] = `{"reservedCPUs":"0,16"}`
	node.Annotations[extension.AnnotationSystemQOSResource] = `{"cpuset":"1","cpusetExclusive":true}`
	in := topologyInput(t, node)
	in.Kubelet = Kubelet{
		CPUManager:     extension.KubeletCPUManagerPolicy{Policy: extension.KubeletCPUManagerPolicyStatic, ReservedCPUs: "0,16"},
		TopologyPolicy: "single-numa-node", TopologyScope: "pod",
		Pods: []extension.PodCPUAlloc{{Namespace: "kube", Name: "static", UID: "static-1", CPUSet: "2,18", ManagedByKubelet: true}},
	}
	in.Pods = []BoundPod{{QoS: extension.QoSLSR, CPUs: parsed(t, "8-11,24-27")}, {QoS: extension.QoSLSE, CPUs: parsed(t, "12,28")}}
	topology, err := Topology(in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(topology, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "topology.golden.json")
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("differs from %s (-want +got):\n%s", file, diff)
	}
}

// TestTheSchedulerAcceptsEveryMachine has what is reported read as the scheduler reads it.
func TestTheSchedulerAcceptsEveryMachine(t *testing.T) {
	for cpus := int64(1); cpus <= 256; cpus++ {
		t.Run(fmt.Sprint(cpus, " CPUs"), func(t *testing.T) {
			node := machineNode(cpus)
			topology, err := Topology(topologyInput(t, node))
			if err != nil {
				t.Fatal(err)
			}
			offer := numa.Observe(node, topology)
			if len(offer.Problems) > 0 || offer.Demanding() {
				t.Errorf("problems %q, demanding %t", offer.Problems, offer.Demanding())
			}
			if offer.CPUs == nil || offer.Usable.Len() != int(cpus) || !offer.CPUs.Countable() {
				t.Fatalf("usable CPUs %s of %d", offer.Usable, cpus)
			}
			if threads := offer.CPUs.CPUsPerCore(); threads != 2-int(cpus%2) {
				t.Errorf("%d CPUs to a core", threads)
			}
			wantZones := 1
			if cpus >= 32 {
				wantZones = 2
			}
			var cpu, memory int64
			for _, zone := range offer.Zones {
				cpu, memory = cpu+zone.Total["cpu"], memory+zone.Total["memory"]
			}
			if len(offer.Zones) != wantZones || cpu != node.Status.Capacity.Cpu().MilliValue() || memory != node.Status.Capacity.Memory().Value() {
				t.Errorf("%d zones of %dm and %d bytes together", len(offer.Zones), cpu, memory)
			}
		})
	}
}

func TestSharedPools(t *testing.T) {
	tests := []struct {
		name                    string
		annotations             [2]string
		kubelet                 string
		pods                    []BoundPod
		wantServices, wantBatch string
		wantProblem             string
	}{
		{name: "an idle node shares everything", wantServices: "0-15", wantBatch: "0-15"},
		{name: "LSR lends to batch", pods: []BoundPod{{extension.QoSLSR, cpuset.Of(0, 1)}}, wantServices: "2-15", wantBatch: "0-15"},
		{name: "LSE does not", pods: []BoundPod{{extension.QoSLSE, cpuset.Of(0, 1)}}, wantServices: "2-15", wantBatch: "2-15"},
		{name: "a pod that the node's policy bound owns its CPUs", pods: []BoundPod{{extension.QoSLS, cpuset.Of(0, 1)}}, wantServices: "2-15", wantBatch: "0-15"},
		{name: "the kubelet's pods share with nobody", kubelet: "4-5", wantServices: "0-3,6-15", wantBatch: "0-3,6-15"},
		{name: "reserved for what runs outside", annotations: [2]string{`{"reservedCPUs":"0-3"}`}, wantServices: "4-15", wantBatch: "4-15"},
		{name: "of system pods alone", annotations: [2]string{"", `{"cpuset":"14-15"}`}, wantServices: "0-13", wantBatch: "0-13"},
		{name: "of system pods, shared", annotations: [2]string{"", `{"cpuset":"14-15","cpusetExclusive":false}`}, wantServices: "0-15", wantBatch: "0-15"},
		{name: "what cannot be read keeps nothing", annotations: [2]string{`{"reservedCPUs":"3-"}`, `{"cpuset":"15"}`}, wantServices: "0-14", wantBatch: "0-14", wantProblem: extension.AnnotationNodeReservation},
		{name: "a zone without shared CPUs has no pool", pods: []BoundPod{{extension.QoSLSE, cpuset.Of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)}}},
		{name: "CPUs that the machine does not have", pods: []BoundPod{{extension.QoSLSE, cpuset.Of(15, 16, 90)}}, wantServices: "0-14", wantBatch: "0-14"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			node := machineNode(16)
			for i, key := range copiedAnnotations {
				if test.annotations[i] != "" {
					node.Annotations[key] = test.annotations[i]
				}
			}
			in := topologyInput(t, node)
			in.Pods = test.pods
			if test.kubelet != "" {
				in.Kubelet.Pods = []extension.PodCPUAlloc{{CPUSet: test.kubelet, ManagedByKubelet: true}}
			}
			topology, err := Topology(in)
			if topology == nil || (err == nil) != (test.wantProblem == "") || (err != nil && !strings.Contains(err.Error(), test.wantProblem)) {
				t.Fatalf("error %v, want one that names %q and a topology", err, test.wantProblem)
			}
			if _, copied := topology.Annotations[test.wantProblem]; copied {
				t.Error("an annotation that cannot be read is copied")
			}
			services, err := extension.GetCPUSharedPools(topology.Annotations)
			if err != nil {
				t.Fatal(err)
			}
			batch, err := extension.GetBECPUSharedPools(topology.Annotations)
			if err != nil {
				t.Fatal(err)
			}
			want := func(cpus string) []extension.CPUSharedPool {
				if cpus == "" {
					return []extension.CPUSharedPool{}
				}
				return []extension.CPUSharedPool{{CPUSet: cpus}}
			}
			if diff := cmp.Diff(want(test.wantServices), services); diff != "" {
				t.Errorf("LS pools (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want(test.wantBatch), batch); diff != "" {
				t.Errorf("BE pools (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKubeletPolicies(t *testing.T) {
	for _, test := range []struct{ policy, scope, want string }{
		{"", "", "None"}, {"none", "container", "None"}, {"best-effort", "container", "BestEffortContainerLevel"},
		{"restricted", "pod", "RestrictedPodLevel"}, {"single-numa-node", "pod", "SingleNUMANodePodLevel"}, {"single-numa-node", "", "SingleNUMANodeContainerLevel"}, {"single-numa-node", "machine", "None"},
	} {
		in := topologyInput(t, machineNode(4))
		in.Kubelet = Kubelet{TopologyPolicy: test.policy, TopologyScope: test.scope}
		topology, err := Topology(in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{test.want}, topology.TopologyPolicies); diff != "" {
			t.Errorf("%s of scope %s (-want +got):\n%s", test.policy, test.scope, diff)
		}
	}
}

func TestNoTopologyWithoutCPUs(t *testing.T) {
	if topology, err := Topology(topologyInput(t, machineNode(0))); topology != nil || err == nil {
		t.Errorf("a machine without CPUs: %v, %v", topology, err)
	}
	in := topologyInput(t, machineNode(4))
	in.Kubelet.Pods = []extension.PodCPUAlloc{{CPUSet: "1-"}}
	if topology, err := Topology(in); topology != nil || err == nil {
		t.Errorf("a kubelet whose pods cannot be read: %v, %v", topology, err)
	}
}

func TestMergeTopology(t *testing.T) {
	wanted, err := Topology(topologyInput(t, machineNode(16)))
	if err != nil {
		t.Fatal(err)
	}
	batch := topologyv1alpha1.ResourceInfo{Name: "kubernetes.io/batch-cpu", Capacity: resource.MustParse("7")}
	current := wanted.DeepCopy()
	current.Labels["team"], current.Annotations["note"] = "shop", "kept"
	current.Annotations[extension.AnnotationNodePodCPUAllocs] = `[{"cpuset":"1"}]`
	current.OwnerReferences[0].UID = "an earlier node"
	current.OwnerReferences = append(current.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "other"})
	current.TopologyPolicies = nil
	current.Zones[0].Resources = topologyv1alpha1.ResourceInfoList{batch}
	current.Zones[0].Costs = topologyv1alpha1.CostList{{Name: "node-0", Value: 10}}
	current.Zones = append(current.Zones, topologyv1alpha1.Zone{Name: "node-1", Type: "Node"})

	want := wanted.DeepCopy()
	want.Labels["team"], want.Annotations["note"] = "shop", "kept"
	want.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "other"}, wanted.OwnerReferences[0]}
	want.Zones[0].Resources = append(topologyv1alpha1.ResourceInfoList{batch}, want.Zones[0].Resources...)
	want.Zones[0].Costs = current.Zones[0].Costs
	before := current.DeepCopy()
	got := MergeTopology(current, wanted)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, current); diff != "" {
		t.Errorf("the current object was changed:\n%s", diff)
	}
	if diff := cmp.Diff(got, MergeTopology(got, wanted)); diff != "" {
		t.Errorf("merged twice it is another:\n%s", diff)
	}
}
