package fragmentationaware

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/decision/descheduling/fragmentation"
	"koordinator.sh/koord/descheduler/plugins/plugintest"
)

func pod(name, cpu, memory, verdict string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Annotations: map[string]string{plugintest.VerdictKey: verdict}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
		}}}}},
	}
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("10Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}}}
}

func TestPodsAreEvictedFromImbalancedNodes(t *testing.T) {
	tests := map[string]struct {
		verdict string
		dryRun  bool
		want    []string
	}{
		"the one that balances it":          {want: []string{"cpu"}},
		"another where it is not evictable": {verdict: plugintest.Filtered, want: []string{"less"}},
		"none where it is refused at last":  {verdict: plugintest.Late},
		"none where the eviction fails":     {verdict: plugintest.Failing},
		"none in a dry run":                 {dryRun: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			handle := plugintest.NewHandle(nil, map[string][]*corev1.Pod{
				"a": {pod("cpu", "5", "1Gi", tc.verdict), pod("less", "3", "1Gi", "")}, "b": {pod("memory", "1", "6Gi", "")},
			})
			args := &fragmentation.Args{DryRun: &tc.dryRun}
			fragmentation.SetDefaults(args)
			plugin, err := New(t.Context(), args, handle)
			if err != nil {
				t.Fatal(err)
			}
			if status := plugin.(frameworktypes.BalancePlugin).Balance(t.Context(), []*corev1.Node{node("a"), node("b")}); status != nil {
				t.Fatal(status.Err)
			}
			if diff := cmp.Diff(tc.want, handle.Evicts.Evicted); diff != "" {
				t.Errorf("evicted (-want +got):\n%s", diff)
			}
		})
	}
}
