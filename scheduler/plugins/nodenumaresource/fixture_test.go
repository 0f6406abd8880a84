package nodenumaresource

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/state/topologies"
)

// fixture is a plugin in a real framework, over a cluster that only the test changes.
type fixture struct {
	t      testing.TB
	plugin *Plugin
	state  *topologies.State
	hooks  *Hooks
	handle fwk.Handle
	shared informers.SharedInformerFactory
	pods   []*corev1.Pod
	nodes  []*corev1.Node
}

func newFixture(t testing.TB, args string, nodes ...*corev1.Node) *fixture {
	t.Helper()
	metrics.Register()
	f := &fixture{t: t, shared: informers.NewSharedInformerFactory(fake.NewClientset(), 0), hooks: NewHooks(), nodes: nodes}
	core := f.shared.Core().V1()
	state, err := topologies.NewFrom(&cache.ListWatch{}, core.Pods().Informer(), core.Nodes().Informer())
	f.must(err)
	f.state = state
	for _, node := range nodes {
		f.must(core.Nodes().Informer().GetIndexer().Add(node))
		state.Refresh(node.Name)
	}
	f.build(args)
	return f
}

// build replaces the framework by a new one, with the present pods.
func (f *fixture) build(args string) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f.t.Cleanup(cancel)
	handle, err := frameworkruntime.NewFramework(ctx, nil, nil, frameworkruntime.WithInformerFactory(f.shared),
		frameworkruntime.WithSnapshotSharedLister(schedulercache.NewSnapshot(f.pods, f.nodes)))
	f.must(err)
	f.handle = handle
	var object runtime.Object
	if args != "" {
		object = &runtime.Unknown{Raw: []byte(args), ContentType: runtime.ContentTypeJSON}
	}
	plugin, err := Factory(f.state, f.hooks)(ctx, object, handle)
	f.must(err)
	f.plugin = plugin.(*Plugin)
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// report gives a node a NodeResourceTopology.
func (f *fixture) report(report *topologyv1alpha1.NodeResourceTopology) {
	f.t.Helper()
	f.must(f.state.Informer().GetIndexer().Add(report))
	f.state.Refresh(report.Name)
}

// assume puts a pod on a node as the scheduler's cache does between Reserve and binding.
func (f *fixture) assume(pod *corev1.Pod, node string) {
	f.t.Helper()
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = node
	f.pods = append(f.pods, assumed)
	f.build("")
}

func (f *fixture) info(node string) fwk.NodeInfo {
	f.t.Helper()
	info, err := f.handle.SnapshotSharedLister().NodeInfos().Get(node)
	f.must(err)
	return info
}

// schedule runs a pod through all extension points on one node, and returns its annotations.
func (f *fixture) schedule(pod *corev1.Pod, node string) (map[string]string, *fwk.Status) {
	f.t.Helper()
	state, ctx := framework.NewCycleState(), f.t.Context()
	if _, status := f.plugin.PreFilter(ctx, state, pod, nil); !status.IsSuccess() {
		return nil, status
	}
	if status := f.plugin.Filter(ctx, state, pod, f.info(node)); !status.IsSuccess() {
		return nil, status
	}
	if status := f.plugin.PreScore(ctx, state, pod, []fwk.NodeInfo{f.info(node)}); status.IsSuccess() {
		if score, status := f.plugin.Score(ctx, state, pod, f.info(node)); !status.IsSuccess() || score < 0 || score > fwk.MaxScore {
			f.t.Errorf("score %d, %v", score, status)
		}
	}
	if status := f.plugin.Reserve(ctx, state, pod, node); !status.IsSuccess() {
		return nil, status
	}
	if _, status := f.plugin.PreBindPreFlight(ctx, state, pod, node); !status.IsSkip() {
		f.t.Error("the plugin wants to write by itself")
	}
	return defaultprebind.Annotations(state), nil
}

func newNode(name string, labels map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: map[string]string{}}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		"cpu": resource.MustParse("8"), "memory": resource.MustParse("16Gi"), "pods": resource.MustParse("100"),
	}}}
}

// newReport has two zones of two cores with two CPUs each, and 8Gi.
func newReport(node string) *topologyv1alpha1.NodeResourceTopology {
	report := &topologyv1alpha1.NodeResourceTopology{ObjectMeta: metav1.ObjectMeta{Name: node, Annotations: map[string]string{}}}
	detail := extension.CPUTopology{}
	for id := range int32(8) {
		detail.Detail = append(detail.Detail, extension.CPUInfo{ID: id, Core: id / 2, Node: id / 4, Socket: id / 4})
	}
	encoded, err := json.Marshal(detail)
	if err != nil {
		panic(err)
	}
	report.Annotations[extension.AnnotationNodeCPUTopology] = string(encoded)
	for zone := range 2 {
		cpu, memory := resource.MustParse("4"), resource.MustParse("8Gi")
		report.Zones = append(report.Zones, topologyv1alpha1.Zone{Name: fmt.Sprintf("node-%d", zone), Type: "Node", Resources: topologyv1alpha1.ResourceInfoList{
			{Name: "cpu", Capacity: cpu, Allocatable: cpu, Available: cpu}, {Name: "memory", Capacity: memory, Allocatable: memory, Available: memory},
		}})
	}
	return report
}

func newPod(name string, qos extension.QoSClass, cpu string, annotations ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{extension.LabelPodQoS: string(qos)}, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{Priority: new(int32(9500)), Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)},
		}}}},
	}
	for i := 0; i < len(annotations); i += 2 {
		pod.Annotations[annotations[i]] = annotations[i+1]
	}
	return pod
}
