package scaledownbinpack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/decision/descheduling/scaledown"
	"koordinator.sh/koord/descheduler/plugins/plugintest"
)

func pod(name, cpu, verdict string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Annotations: map[string]string{plugintest.VerdictKey: verdict}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu),
		}}}}},
	}
}

// balance makes a pass over two nodes, of which the second is emptier. The pod gone exists in the cache alone.
func balance(t *testing.T, args *scaledown.Args, dryRun bool) (*plugintest.Handle, *fake.Clientset) {
	t.Helper()
	pods := map[string][]*corev1.Pod{
		"a": {pod("large", "3", ""), pod("small", "1", ""), pod("held", "1", plugintest.Filtered)}, "b": {pod("lone", "1", ""), pod("gone", "500m", "")},
	}
	client := fake.NewClientset(pods["a"][0], pods["a"][1], pods["a"][2], pods["b"][0])
	handle := plugintest.NewHandle(client, pods)
	handle.Dry = dryRun
	scaledown.SetDefaults(args)
	plugin, err := New(t.Context(), args, handle)
	if err != nil {
		t.Fatal(err)
	}
	var nodes []*corev1.Node
	for _, name := range []string{"a", "b"} {
		nodes = append(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10")}}})
	}
	if status := plugin.(frameworktypes.BalancePlugin).Balance(t.Context(), nodes); status != nil {
		t.Fatal(status.Err)
	}
	return handle, client
}

// costs reads the deletion costs of the pods.
func costs(t *testing.T, client *fake.Clientset) map[string]string {
	t.Helper()
	list, err := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i := range list.Items {
		if cost, set := list.Items[i].Annotations[corev1.PodDeletionCost]; set {
			out[list.Items[i].Name] = cost
		}
	}
	return out
}

func TestDeletionCostsAreWritten(t *testing.T) {
	handle, client := balance(t, &scaledown.Args{}, false)
	want := map[string]string{"lone": "0", "large": "2", "small": "3", "held": "2147483647"}
	if diff := cmp.Diff(want, costs(t, client)); diff != "" {
		t.Errorf("costs (-want +got):\n%s", diff)
	}
	if len(handle.Evicts.Evicted) > 0 {
		t.Errorf("evicted %v", handle.Evicts.Evicted)
	}
}

func TestNothingIsWrittenInADryRun(t *testing.T) {
	if _, client := balance(t, &scaledown.Args{}, true); len(costs(t, client)) > 0 {
		t.Errorf("wrote %v", costs(t, client))
	}
}

func TestTheFirstPodsAreEvicted(t *testing.T) {
	handle, client := balance(t, &scaledown.Args{Strategy: scaledown.EvictDirectly, MaxPodsToEvict: new(int32(3))}, false)
	if diff := cmp.Diff([]string{"lone", "gone", "large"}, handle.Evicts.Evicted); diff != "" {
		t.Errorf("evicted (-want +got):\n%s", diff)
	}
	if len(costs(t, client)) > 0 {
		t.Errorf("wrote %v", costs(t, client))
	}
}
