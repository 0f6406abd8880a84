package deviceresource

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func card(kind schedulingv1alpha1.DeviceType, minor int32, healthy bool, pairs ...string) schedulingv1alpha1.DeviceInfo {
	return schedulingv1alpha1.DeviceInfo{Type: kind, Minor: &minor, Health: healthy, Resources: list(pairs...)}
}

func gpu(minor int32, healthy bool) schedulingv1alpha1.DeviceInfo {
	return card(schedulingv1alpha1.GPU, minor, healthy, "koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory", "80Gi", "koordinator.sh/gpu-memory-ratio", "100")
}

func device(infos ...schedulingv1alpha1.DeviceInfo) *schedulingv1alpha1.Device {
	return &schedulingv1alpha1.Device{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}, Spec: schedulingv1alpha1.DeviceSpec{Devices: infos}}
}

func TestOffers(t *testing.T) {
	tests := []struct {
		name   string
		device *schedulingv1alpha1.Device
		shared bool
		want   map[corev1.ResourceName]int64
	}{
		{name: "no Device"},
		{name: "two GPUs and one that is broken", device: device(gpu(0, true), gpu(1, true), gpu(2, false)), want: map[corev1.ResourceName]int64{
			"koordinator.sh/gpu": 200, "koordinator.sh/gpu-core": 200, "koordinator.sh/gpu-memory": 160 << 30, "koordinator.sh/gpu-memory-ratio": 200}},
		{name: "all GPUs are broken", device: device(gpu(0, false)), want: map[corev1.ResourceName]int64{
			"koordinator.sh/gpu": 0, "koordinator.sh/gpu-core": 0, "koordinator.sh/gpu-memory": 0, "koordinator.sh/gpu-memory-ratio": 0}},
		{name: "shares", device: device(gpu(0, true)), shared: true, want: map[corev1.ResourceName]int64{
			"koordinator.sh/gpu": 100, "koordinator.sh/gpu-core": 100, "koordinator.sh/gpu-memory": 80 << 30, "koordinator.sh/gpu-memory-ratio": 100, "koordinator.sh/gpu.shared": 100}},
		{name: "network cards and FPGAs", device: device(card(schedulingv1alpha1.RDMA, 0, true, "koordinator.sh/rdma", "100"), card(schedulingv1alpha1.RDMA, 1, true, "koordinator.sh/rdma", "100"),
			card(schedulingv1alpha1.FPGA, 0, true, "kubernetes.io/fpga", "100")), want: map[corev1.ResourceName]int64{"koordinator.sh/rdma": 200, "koordinator.sh/fpga": 100}},
		{name: "the present name counts and not the older one too", device: device(card(schedulingv1alpha1.RDMA, 0, true, "koordinator.sh/rdma", "100", "kubernetes.io/rdma", "70")),
			want: map[corev1.ResourceName]int64{"koordinator.sh/rdma": 100}},
		{name: "what is not Koordinator's is not published", device: device(card(schedulingv1alpha1.GPU, 0, true, "nvidia.com/gpu", "1"), card("tpu", 0, true, "koordinator.sh/gpu-core", "100"))},
		{name: "of two with one minor number the first counts", device: device(gpu(0, true), card(schedulingv1alpha1.GPU, 0, true, "koordinator.sh/gpu-core", "50")), want: map[corev1.ResourceName]int64{
			"koordinator.sh/gpu": 100, "koordinator.sh/gpu-core": 100, "koordinator.sh/gpu-memory": 80 << 30, "koordinator.sh/gpu-memory-ratio": 100}},
		{name: "less than nothing is nothing, more than can be counted is the most", device: device(card(schedulingv1alpha1.RDMA, 0, true, "koordinator.sh/rdma", "-1"),
			card(schedulingv1alpha1.FPGA, 0, true, "koordinator.sh/fpga", "9E"), card(schedulingv1alpha1.FPGA, 1, true, "koordinator.sh/fpga", "9E")),
			want: map[corev1.ResourceName]int64{"koordinator.sh/rdma": 0, "koordinator.sh/fpga": 1<<63 - 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result := Decide(Input{Node: &corev1.Node{}, Device: test.device, Shared: test.shared})
			var got map[corev1.ResourceName]int64
			for _, offer := range result.Offers {
				if got == nil {
					got = map[corev1.ResourceName]int64{}
				}
				got[offer.Resource] = offer.Value
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("offers (-want +got):\n%s", diff)
			}
			written := result.Changes(nil)
			if len(written) != len(test.want) {
				t.Errorf("writes %v", written)
			}
			if again := result.Changes(written); len(again) > 0 {
				t.Errorf("once written, it writes %v", again)
			}
		})
	}
}

func TestLabelsFollowTheDevice(t *testing.T) {
	all := map[string]string{
		"node.koordinator.sh/gpu-vendor": "nvidia", "node.koordinator.sh/gpu-model": "A100", "node.koordinator.sh/gpu-driver-version": "550.90",
		"node.koordinator.sh/gpu-driver": "550.90", "kubernetes.io/gpu-model": "A100", "kubernetes.io/gpu-driver": "550.90",
	}
	tests := []struct {
		name                 string
		device               *schedulingv1alpha1.Device
		labels, deviceLabels map[string]string
		want                 map[string]string
	}{
		{name: "present keys", device: device(gpu(0, true)), want: all,
			deviceLabels: map[string]string{"node.koordinator.sh/gpu-vendor": "nvidia", "node.koordinator.sh/gpu-model": "A100", "node.koordinator.sh/gpu-driver-version": "550.90"}},
		{name: "older keys", device: device(gpu(0, true)), deviceLabels: map[string]string{"kubernetes.io/gpu-model": "A100", "kubernetes.io/gpu-driver": "550.90"},
			want: map[string]string{"node.koordinator.sh/gpu-model": "A100", "node.koordinator.sh/gpu-driver-version": "550.90", "node.koordinator.sh/gpu-driver": "550.90",
				"kubernetes.io/gpu-model": "A100", "kubernetes.io/gpu-driver": "550.90"}},
		{name: "nothing differs", device: device(gpu(0, true)), labels: all, deviceLabels: all},
		{name: "a Device without a GPU", device: device(card(schedulingv1alpha1.RDMA, 0, true)), deviceLabels: all},
		{name: "no Device, and the labels are another's", labels: all},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.device != nil {
				test.device.Labels = test.deviceLabels
			}
			result := Decide(Input{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: test.labels}}, Device: test.device})
			if diff := cmp.Diff(test.want, result.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if len(result.Unlabelled) > 0 {
				t.Errorf("removes %v", result.Unlabelled)
			}
		})
	}
}

func TestWhatKoordManagerWroteGoesWithTheDevice(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{"kubernetes.io/gpu-model": "A100", "node.koordinator.sh/gpu-model": "A100"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "koord-manager", Subresource: "status", FieldsV1: metav1.NewFieldsV1(
			`{"f:metadata":{"f:labels":{"f:kubernetes.io/gpu-model":{}}},"f:status":{"f:allocatable":{"f:koordinator.sh/gpu":{},"f:koordinator.sh/gpu-core":{}}}}`)}},
	}}
	node.Status.Allocatable = list("koordinator.sh/gpu", "100", "koordinator.sh/rdma", "100")
	node.Status.Capacity = list("koordinator.sh/gpu-core", "100")
	result := Decide(Input{Node: node})
	if diff := cmp.Diff([]corev1.ResourceName{"koordinator.sh/gpu", "koordinator.sh/gpu-core"}, result.Withdrawn); diff != "" {
		t.Errorf("withdrawn (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"kubernetes.io/gpu-model"}, result.Unlabelled); diff != "" {
		t.Errorf("unlabelled (-want +got):\n%s", diff)
	}
	if falls, published := result.Explain(Input{Node: node}, 10); len(falls) != 0 || len(published) != 2 || published[0].State != "Pending" {
		t.Errorf("waterfalls %v, published %+v", falls, published)
	}
}

func TestExplain(t *testing.T) {
	in := Input{Node: &corev1.Node{}, Device: device(gpu(0, true), gpu(1, true), gpu(2, false))}
	falls, published := Decide(in).Explain(in, 1)
	if len(falls) != 4 || len(published) != 4 || published[0].State != "NotPublished" {
		t.Fatalf("waterfalls %+v, published %+v", falls, published)
	}
	sum := falls[1].Terms[0]
	if falls[1].Resource != "koordinator.sh/gpu-core" || falls[1].Result != 200 || len(sum.Parts) != 1 || sum.PartsOmitted != 1 || sum.Parts[0].Value != 100 || falls[1].Terms[1].Value != 1 {
		t.Errorf("waterfall %+v", falls[1])
	}
}
