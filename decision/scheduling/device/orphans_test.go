package device

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestOrphanFindings(t *testing.T) {
	held := func(name, minor string) *corev1.Pod {
		pod := annotated(podOf("koordinator.sh/gpu", "100"), extension.AnnotationDeviceAllocated, `{"gpu":[{"minor":`+minor+`,"resources":{"koordinator.sh/gpu-core":"100"}}]}`)
		pod.Name = name
		return pod
	}
	object := &eight().broken(schedulingv1alpha1.GPU, 3).object
	want := []diagnosticsv1alpha1.Finding{
		{
			Code: "KOORD1144", Severity: diagnosticsv1alpha1.SeverityWarning, Message: "Pod default/lost holds gpu 12 of node node: the node no longer has the device.",
			Hint: "kubectl -n default delete pod lost", Object: &diagnosticsv1alpha1.SourceRef{Kind: "Device", Name: "node", Field: "spec.devices"},
		},
		{
			Code: "KOORD1144", Severity: diagnosticsv1alpha1.SeverityWarning, Message: "Pod default/broken holds gpu 3 of node node: the device is not healthy.",
			Hint: "kubectl -n default delete pod broken", Object: &diagnosticsv1alpha1.SourceRef{Kind: "Device", Name: "node", Field: "spec.devices"},
		},
	}
	got := OrphanFindings(object, nil, []*corev1.Pod{held("fine", "0"), held("lost", "12"), podOf("cpu", "1"), held("broken", "3")})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if got := OrphanFindings(object, nil, []*corev1.Pod{podOf("cpu", "1")}); got != nil {
		t.Errorf("pods without devices: %v", got)
	}
}

func TestSummaryAddsUp(t *testing.T) {
	ledger := eight().broken(schedulingv1alpha1.GPU, 7).ledger(share(t, 1, 30), whole(t, schedulingv1alpha1.RDMA, 2))
	summary := ledger.Summary([]Held{share(t, 1, 30), whole(t, schedulingv1alpha1.RDMA, 2)})
	for name, want := range map[corev1.ResourceName][3]int64{"koordinator.sh/gpu-core": {800, 670, 30}, "koordinator.sh/rdma": {400, 300, 100}, "koordinator.sh/fpga": {100, 100, 0}} {
		total, free, used := summary.DeviceTotal[name], summary.DeviceFree[name], summary.DeviceUsed[name]
		if got := [3]int64{total.Value(), free.Value(), used.Value()}; got != want {
			t.Errorf("%s: total, free and used are %v, want %v", name, got, want)
		}
	}
	core := summary.AllocateSet[schedulingv1alpha1.GPU]["default/share-1-30"]["1"]["koordinator.sh/gpu-core"]
	if core.Value() != 30 || len(summary.DeviceTotalDetail[schedulingv1alpha1.GPU]) != 8 || len(summary.Orphans) != 0 {
		t.Errorf("summary %+v", summary)
	}
}
