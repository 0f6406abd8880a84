package yarn_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/bridge/engine"
	"koordinator.sh/koord/bridge/yarn"
)

// TestKeys: which NodeManagers of a ResourceManager run on a node.
func TestKeys(t *testing.T) {
	rm := start(t)
	for _, host := range []string{"annotated", "10.0.0.7", "nm-0.nm.yarn.svc.cluster.local", "worker-1", "worker-1.example.com", "nm-old", "nm-young"} {
		rm.SetNode(yarn.Node{ID: yarn.NodeID{Host: host, Port: 8041}, State: yarn.StateRunning})
	}
	e := yarn.NewEngine(yarn.Cluster{Name: yarn.DefaultCluster, ResourceManagers: []yarn.Addresses{rm.Addresses("")}}, yarn.Caller{User: "yarn"}, 5*time.Second)
	t.Cleanup(e.Close)
	if _, err := e.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	pod := func(name string, change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "yarn"}, Spec: corev1.PodSpec{NodeName: "worker-1"}}
		change(p)
		return p
	}
	as := func(created int64) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.CreationTimestamp = metav1.Unix(created, 0) }
	}
	annotated := func(id, cluster string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Annotations = map[string]string{extension.AnnotationYARNNodeID: id, extension.AnnotationYARNClusterID: cluster}
		}
	}
	tests := map[string]struct {
		pods []*corev1.Pod
		node map[string]string
		want []string
	}{
		"a pod that says its ID":   {pods: []*corev1.Pod{pod("a", annotated("annotated:8041", ""))}, want: []string{"annotated:8041"}},
		"a pod of another cluster": {pods: []*corev1.Pod{pod("a", annotated("annotated:8041", "other"))}},
		"a pod that says nonsense": {pods: []*corev1.Pod{pod("nm-old", annotated("nonsense", ""))}},
		"a pod by its address":     {pods: []*corev1.Pod{pod("a", func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.7" })}, want: []string{"10.0.0.7:8041"}},
		"a pod of a StatefulSet":   {pods: []*corev1.Pod{pod("nm-0", func(p *corev1.Pod) { p.Spec.Subdomain = "nm" })}, want: []string{"nm-0.nm.yarn.svc.cluster.local:8041"}},
		"a pod in the network of its node": {
			pods: []*corev1.Pod{pod("a", func(p *corev1.Pod) { p.Spec.HostNetwork = true })}, want: []string{"worker-1.example.com:8041", "worker-1:8041"},
		},
		"not by the node without its network":   {pods: []*corev1.Pod{pod("a", func(*corev1.Pod) {})}, want: []string{"a:unknown"}},
		"the older of two first":                {pods: []*corev1.Pod{pod("nm-young", as(2)), pod("nm-old", as(1))}, want: []string{"nm-old:8041", "nm-young:8041"}},
		"a node that says the ID, without pods": {node: map[string]string{extension.AnnotationYARNNodeID: "annotated:8041"}, want: []string{"annotated:8041"}},
		"the pod's before the node's, each once": {
			pods: []*corev1.Pod{pod("a", annotated("annotated:8041", ""))}, node: map[string]string{extension.AnnotationYARNNodeID: "annotated:8041"}, want: []string{"annotated:8041"},
		},
		"neither": {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1", Annotations: test.node}}
			node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalDNS, Address: "worker-1.example.com"}}
			if diff := cmp.Diff(test.want, e.Keys(node, test.pods)); diff != "" {
				t.Errorf("Keys() (-want +got):\n%s", diff)
			}
		})
	}
}

// TestVCoresThatAreLessThanACore: capacities are read and set in what the cluster counts in.
func TestVCoresThatAreLessThanACore(t *testing.T) {
	rm, id := start(t), yarn.NodeID{Host: "worker-1", Port: 8041}
	rm.SetNode(yarn.Node{ID: id, State: yarn.StateRunning, Capability: yarn.Resource{VCores: 4, MiB: 1024}, Used: yarn.Resource{VCores: 1, MiB: 512}})
	cluster := yarn.Cluster{Name: yarn.DefaultCluster, ResourceManagers: []yarn.Addresses{rm.Addresses("")}, MilliCPUPerVCore: 250}
	e := yarn.NewEngine(cluster, yarn.Caller{User: "yarn"}, 5*time.Second)
	t.Cleanup(e.Close)
	got, err := e.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := engine.State{Grain: engine.Amount{MilliCPU: 250, Memory: 1 << 20}, Nodes: map[string]engine.Node{"worker-1:8041": {
		Capacity: engine.Amount{MilliCPU: 1000, Memory: 1 << 30}, Allocated: engine.Amount{MilliCPU: 250, Memory: 512 << 20},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Observe() (-want +got):\n%s", diff)
	}
	change := engine.Change{Key: "worker-1:8041", Capacity: engine.Amount{MilliCPU: 600, Memory: 2 << 30}, Deadline: time.Second}
	if err := e.SetCapacity(t.Context(), []engine.Change{change}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(yarn.Resource{VCores: 2, MiB: 2048}, rm.Node(id.String()).Capability); diff != "" {
		t.Errorf("capability (-want +got):\n%s", diff)
	}
}
