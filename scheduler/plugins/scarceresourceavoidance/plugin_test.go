package scarceresourceavoidance

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

func listOf(names ...corev1.ResourceName) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, name := range names {
		list[name] = resource.MustParse("4")
	}
	return list
}

func podAsking(names ...corev1.ResourceName) *corev1.Pod {
	requirements := corev1.ResourceRequirements{Requests: listOf(names...)}
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: requirements}}}}
}

func nodeWith(names ...corev1.ResourceName) fwk.NodeInfo {
	info := framework.NewNodeInfo()
	node := &corev1.Node{}
	node.Name, node.Status.Allocatable = "n", listOf(names...)
	info.SetNode(node)
	return info
}

func newPlugin(t *testing.T, args string, nodes ...fwk.NodeInfo) *Plugin {
	t.Helper()
	handle, err := frameworkruntime.NewFramework(t.Context(), nil, nil, frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(fake.NewClientset(), 0)))
	if err != nil {
		t.Fatal(err)
	}
	created, err := New(t.Context(), &runtime.Unknown{Raw: []byte(args)}, handle)
	if err != nil {
		t.Fatal(err)
	}
	plugin := created.(*Plugin)
	for _, info := range nodes {
		plugin.counter().OnAdd(info.Node(), false)
	}
	return plugin
}

const scarceGPUs = `{"resources":["nvidia.com/gpu"]}`

func TestScore(t *testing.T) {
	plain, gpu := nodeWith("cpu", "memory", "pods"), nodeWith("cpu", "memory", "pods", "nvidia.com/gpu")
	tests := map[string]struct {
		pod   *corev1.Pod
		nodes []fwk.NodeInfo
		// want is nil when the plugin skips the pod.
		want []int64
	}{
		"without a scarce node there is nothing to avoid": {pod: podAsking("cpu"), nodes: []fwk.NodeInfo{plain}},
		"a pod without use for GPUs keeps away":           {pod: podAsking("cpu", "memory"), nodes: []fwk.NodeInfo{plain, gpu}, want: []int64{100, 50}},
		"a pod that needs one does not":                   {pod: podAsking("cpu", "nvidia.com/gpu"), nodes: []fwk.NodeInfo{plain, gpu}, want: []int64{100, 100}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plugin := newPlugin(t, scarceGPUs, test.nodes...)
			state := framework.NewCycleState()
			if status := plugin.PreScore(t.Context(), state, test.pod, test.nodes); status.IsSkip() != (test.want == nil) {
				t.Fatalf("PreScore %v", status)
			}
			for i, want := range test.want {
				if got, status := plugin.Score(t.Context(), state, test.pod, test.nodes[i]); got != want || !status.IsSuccess() {
					t.Errorf("node %d: score %d, status %v, want %d", i, got, status, want)
				}
			}
		})
	}
}

func TestNodesWithSomethingScarceAreCounted(t *testing.T) {
	plain, gpu := nodeWith("cpu").Node(), nodeWith("cpu", "nvidia.com/gpu").Node()
	plugin := newPlugin(t, scarceGPUs)
	handler := plugin.counter()
	check := func(when string, want int64) {
		t.Helper()
		if got := plugin.owners.Load(); got != want {
			t.Errorf("%s: %d nodes, want %d", when, got, want)
		}
	}
	handler.OnAdd(plain, true)
	check("a plain node came", 0)
	handler.OnUpdate(plain, gpu)
	check("it got a GPU", 1)
	handler.OnUpdate(gpu, gpu)
	check("it was changed otherwise", 1)
	handler.OnAdd(gpu, false)
	check("another one came", 2)
	handler.OnUpdate(gpu, plain)
	check("one lost its GPU", 1)
	handler.OnDelete(cache.DeletedFinalStateUnknown{Obj: gpu})
	check("the other one is gone", 0)
}

func TestSignaturesHoldTheNamesOnly(t *testing.T) {
	plugin := newPlugin(t, scarceGPUs, nodeWith("nvidia.com/gpu"))
	if fragments, status := plugin.SignPod(t.Context(), podAsking("cpu")); len(fragments) != 1 || !status.IsSuccess() {
		t.Errorf("fragments %v, status %v", fragments, status)
	}
	if fragments, _ := newPlugin(t, scarceGPUs).SignPod(t.Context(), podAsking("cpu")); len(fragments) != 0 {
		t.Errorf("without scarce resources in the cluster the signature has %v", fragments)
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	_, err := New(t.Context(), &runtime.Unknown{Raw: []byte(`{"resources":["a","a"]}`)}, nil)
	if err == nil || !strings.Contains(err.Error(), "resources[1]") {
		t.Errorf("error %v, want one about resources[1]", err)
	}
}
