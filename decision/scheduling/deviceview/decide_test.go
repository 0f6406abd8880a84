package deviceview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// summary of a type in a line: state, healthy/devices, free percent, idle, largest, holders.
func summary(t *diagnosticsv1alpha1.DeviceTypeOverview) string {
	free, idle, largest := "?", "?", "?"
	if t.FreePercent != nil {
		free, idle = fmt.Sprint(*t.FreePercent), fmt.Sprint(*t.IdleDevices)
		largest = fmt.Sprintf("%d+%d%%", *t.LargestDevices, *t.LargestPercent)
	}
	return fmt.Sprintf("%s %s %d/%d free %s idle %s largest %s holders %d", t.Type, t.State, t.Healthy, t.Devices, free, idle, largest, t.Holders)
}

func TestTheStateOfTheDevicesOfANode(t *testing.T) {
	const idleNICs = "rdma Idle 2/2 free 200 idle 2 largest 2+0% holders 0"
	tests := map[string]struct {
		edit         func(*Input)
		want         []string
		wantReason   string
		wantFindings []string
	}{
		"nothing is held": {want: []string{"gpu Idle 4/4 free 400 idle 4 largest 4+0% holders 0", idleNICs}},
		"a pod holds two whole GPUs": {
			edit: func(in *Input) { in.Pods = []*corev1.Pod{holding(t, pod("train", "200"), 100, 0, 2)} },
			want: []string{"gpu Used 4/4 free 200 idle 2 largest 2+0% holders 1", idleNICs},
		},
		"every GPU is held in part, so that no whole one is left": {
			edit: func(in *Input) {
				for i, percent := range []int{50, 30, 80, 60} {
					in.Pods = append(in.Pods, holding(t, pod(fmt.Sprint("infer-", i), fmt.Sprint(percent)), percent, int32(i)))
				}
			},
			want: []string{"gpu Used 4/4 free 180 idle 0 largest 0+70% holders 4", idleNICs},
		},
		"everything is held": {
			edit: func(in *Input) {
				in.Pods = []*corev1.Pod{holding(t, pod("train", "400"), 100, 0, 1, 2, 3), nic(t, "store", 40, 1)}
			},
			want: []string{"gpu Full 4/4 free 0 idle 0 largest 0+0% holders 1", "rdma Used 2/2 free 160 idle 1 largest 1+0% holders 1"},
		},
		"a pod that has ended holds nothing": {
			edit: func(in *Input) {
				in.Pods = []*corev1.Pod{holding(t, pod("train", "100"), 100, 0, 1)}
				in.Pods[0].Status.Phase = corev1.PodSucceeded
			},
			want: []string{"gpu Idle 4/4 free 400 idle 4 largest 4+0% holders 0", idleNICs},
		},
		"a device is not healthy": {
			edit: func(in *Input) {
				infoOf(in.Object, schedulingv1alpha1.GPU, 1).Health = false
			},
			want: []string{"gpu Unhealthy 3/4 free 300 idle 3 largest 3+0% holders 0", idleNICs}, wantReason: "1 of 4 devices not healthy",
		},
		"a pod holds a device that is not healthy": {
			edit: func(in *Input) {
				infoOf(in.Object, schedulingv1alpha1.GPU, 1).Health = false
				in.Pods = []*corev1.Pod{holding(t, pod("train", "100"), 100, 1)}
			},
			want: []string{"gpu Stray 3/4 free 300 idle 3 largest 3+0% holders 1", idleNICs}, wantReason: "gpu 1 is held: the device is not healthy",
			wantFindings: []string{"KOORD1144 Pod ml/train holds gpu 1 of node node: the device is not healthy. | kubectl -n ml delete pod train"},
		},
		"a pod holds a device that the node no longer has": {
			edit: func(in *Input) { in.Pods = []*corev1.Pod{holding(t, pod("train", "100"), 100, 7)} },
			want: []string{"gpu Stray 4/4 free 400 idle 4 largest 4+0% holders 0", idleNICs}, wantReason: "gpu 7 is held: the node no longer has the device",
			wantFindings: []string{"KOORD1144 Pod ml/train holds gpu 7 of node node: the node no longer has the device. | kubectl -n ml delete pod train"},
		},
		"the Device lists nothing any more": {
			edit: func(in *Input) {
				in.Object.Spec.Devices = nil
				in.Pods = []*corev1.Pod{holding(t, pod("train", "100"), 100, 0)}
			},
			want: []string{"gpu Stray 0/0 free 0 idle 0 largest 0+0% holders 0"}, wantReason: "gpu 0 is held: the node no longer has the device",
			wantFindings: []string{"KOORD1144 Pod ml/train holds gpu 0 of node node: the node no longer has the device. | kubectl -n ml delete pod train"},
		},
		"two pods hold more of a GPU than there is": {
			edit: func(in *Input) {
				in.Pods = []*corev1.Pod{holding(t, pod("a", "100"), 100, 0), holding(t, pod("b", "50"), 50, 0)}
			},
			want:       []string{"gpu Overheld 4/4 free 300 idle 3 largest 3+0% holders 2", idleNICs},
			wantReason: "150% of gpu 0 is held, by ml/a, ml/b", wantFindings: []string{"KOORD0305 150% of gpu 0 of node node is held, by ml/a, ml/b. | koordctl why KOORD0305"},
		},
		"a pod claims more devices than it requests": {
			edit: func(in *Input) { in.Pods = []*corev1.Pod{holding(t, pod("greedy", "100"), 100, 0, 1)} },
			want: []string{"gpu Used 4/4 free 300 idle 3 largest 3+0% holders 1", idleNICs},
			wantFindings: []string{
				"KOORD0305 Pod ml/greedy on node node: 1 of 2 devices are claimed beyond what the pod requests. | kubectl -n ml delete pod greedy",
			},
		},
		"pods cannot be seen": {
			edit: func(in *Input) { in.Unseen = true },
			want: []string{"gpu Unknown 4/4 free ? idle ? largest ? holders 0", "rdma Unknown 2/2 free ? idle ? largest ? holders 0"}, wantReason: "what pods hold is not known",
		},
		"a Reservation holds GPUs": {
			edit: func(in *Input) { in.Reservations = []*schedulingv1alpha1.Reservation{reserved(t, "night", 0, 1)} },
			want: []string{"gpu Used 4/4 free 200 idle 2 largest 2+0% holders 1", idleNICs},
		},
		"a pod uses one of the GPUs that a Reservation holds": {
			edit: func(in *Input) {
				in.Reservations = []*schedulingv1alpha1.Reservation{reserved(t, "night", 0, 1)}
				in.Pods = []*corev1.Pod{using(holding(t, pod("train", "100"), 100, 0), "night")}
			},
			want: []string{"gpu Used 4/4 free 200 idle 2 largest 2+0% holders 2", idleNICs},
		},
		"a pod uses one of the GPUs that a pod in operating mode holds": {
			edit: func(in *Input) {
				in.Pods = []*corev1.Pod{operating(holding(t, pod("night", "200"), 100, 0, 1)), using(holding(t, pod("train", "100"), 100, 0), "night")}
			},
			want: []string{"gpu Used 4/4 free 200 idle 2 largest 2+0% holders 2", idleNICs},
		},
		"a pod uses all that a pod in operating mode holds": {
			edit: func(in *Input) {
				in.Pods = []*corev1.Pod{operating(holding(t, pod("night", "100"), 100, 0)), using(holding(t, pod("train", "100"), 100, 0), "night")}
			},
			want: []string{"gpu Used 4/4 free 300 idle 3 largest 3+0% holders 1", idleNICs},
		},
		"no pod uses what a pod in operating mode holds": {
			edit: func(in *Input) { in.Pods = []*corev1.Pod{operating(holding(t, pod("night", "100"), 100, 0))} },
			want: []string{"gpu Used 4/4 free 300 idle 3 largest 3+0% holders 1", idleNICs},
		},
		"a Reservation that has ended holds nothing": {
			edit: func(in *Input) {
				in.Reservations = []*schedulingv1alpha1.Reservation{reserved(t, "night", 0, 1)}
				in.Reservations[0].Status.Phase = schedulingv1alpha1.ReservationSucceeded
			},
			want: []string{"gpu Idle 4/4 free 400 idle 4 largest 4+0% holders 0", idleNICs},
		},
		"a Reservation holds a device that is gone": {
			edit: func(in *Input) { in.Reservations = []*schedulingv1alpha1.Reservation{reserved(t, "night", 7)} },
			want: []string{"gpu Stray 4/4 free 400 idle 4 largest 4+0% holders 0", idleNICs}, wantReason: "gpu 7 is held: the node no longer has the device",
			wantFindings: []string{"KOORD1144 Reservation night holds gpu 7 of node node: the node no longer has the device. | kubectl delete reservation night"},
		},
		"only partitions are allocated, and three idle GPUs make none of three": {
			edit: func(in *Input) {
				in.Labels = map[string]string{extension.LabelGPUPartitionPolicy: "Honor"}
				in.Object.Annotations[extension.AnnotationGPUPartitions] = `{"1":[{"minors":[0]},{"minors":[1]}],"2":[{"minors":[0,1]},{"minors":[2,3]}]}`
				in.Pods = []*corev1.Pod{holding(t, pod("train", "100"), 100, 0)}
			},
			want: []string{"gpu Used 4/4 free 300 idle 3 largest 2+0% holders 1", idleNICs},
		},
		"a type that the scheduler does not allocate": {
			edit: func(in *Input) {
				in.Object.Spec.Devices = nil
				add(in.Object, schedulingv1alpha1.XPU, 3, 0, list("example.com/xpu", "1"))
			},
			want: []string{"xpu Unmanaged 1/1 free ? idle ? largest ? holders 0"}, wantReason: "koord-scheduler does not allocate devices of this type",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Object: machine()}
			if tc.edit != nil {
				tc.edit(&in)
			}
			got := Overview(in)
			var lines, found []string
			for i := range got.Types {
				lines = append(lines, summary(&got.Types[i]))
			}
			for _, f := range got.Findings {
				found = append(found, f.Code+" "+f.Message+" | "+f.Hint)
			}
			if diff := cmp.Diff(tc.want, lines); diff != "" {
				t.Errorf("unexpected types (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantFindings, found); diff != "" {
				t.Errorf("unexpected findings (-want +got):\n%s", diff)
			}
			if got.Types[0].Reason != tc.wantReason {
				t.Errorf("reason %q, want %q", got.Types[0].Reason, tc.wantReason)
			}
		})
	}
}

// TestADeviceSaysWhereItIsAndWhoHoldsIt: all that is known of one device.
func TestADeviceSaysWhereItIsAndWhoHoldsIt(t *testing.T) {
	in := Input{Object: machine(), Pods: []*corev1.Pod{holding(t, pod("infer", "25"), 25, 1)}}
	got := Overview(in).Types[0].Minors[1]
	held := []diagnosticsv1alpha1.ForecastAmount{
		{Resource: "koordinator.sh/gpu-core", Amount: 25, Unit: diagnosticsv1alpha1.Percent},
		{Resource: "koordinator.sh/gpu-memory", Amount: 16 << 30, Unit: diagnosticsv1alpha1.Bytes},
		{Resource: "koordinator.sh/gpu-memory-ratio", Amount: 25, Unit: diagnosticsv1alpha1.Percent},
	}
	want := diagnosticsv1alpha1.DeviceMinor{
		Minor: 1, ID: "gpu-1", Healthy: true, NUMANode: new(int32(0)), Socket: new(int32(0)), PCIe: "pcie-0", FreePercent: new(int64(75)),
		Resources: []diagnosticsv1alpha1.DeviceResource{
			{Resource: "koordinator.sh/gpu-core", Unit: diagnosticsv1alpha1.Percent, Total: 100, Held: 25, Free: new(int64(75))},
			{Resource: "koordinator.sh/gpu-memory", Unit: diagnosticsv1alpha1.Bytes, Total: 64 << 30, Held: 16 << 30, Free: new(int64(48 << 30))},
			{Resource: "koordinator.sh/gpu-memory-ratio", Unit: diagnosticsv1alpha1.Percent, Total: 100, Held: 25, Free: new(int64(75))},
		},
		Near:    []diagnosticsv1alpha1.DevicePeer{{Type: "rdma", Minor: 0, Scope: "PCIe"}},
		Holders: []diagnosticsv1alpha1.DeviceHolder{{Kind: "Pod", Namespace: "ml", Name: "infer", Percent: 25, Resources: held}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected device (-want +got):\n%s", diff)
	}
}

// TestWhatIsNearADevice is on its PCIe switch, or else on its NUMA node.
func TestWhatIsNearADevice(t *testing.T) {
	tests := map[string]struct {
		edit func(*schedulingv1alpha1.Device)
		want string
	}{
		"the same switch": {want: "rdma 0 PCIe"},
		"another switch of the same NUMA node": {edit: func(d *schedulingv1alpha1.Device) {
			infoOf(d, schedulingv1alpha1.RDMA, 0).Topology.PCIEID = "pcie-9"
		}, want: "rdma 0 NUMANode"},
		"another NUMA node": {edit: func(d *schedulingv1alpha1.Device) {
			infoOf(d, schedulingv1alpha1.RDMA, 0).Topology = &schedulingv1alpha1.DeviceTopology{NodeID: 1, PCIEID: "pcie-1"}
		}},
		"the kernel knows neither NUMA node": {edit: func(d *schedulingv1alpha1.Device) {
			infoOf(d, schedulingv1alpha1.RDMA, 0).Topology = &schedulingv1alpha1.DeviceTopology{NodeID: -1, PCIEID: "pcie-9"}
			infoOf(d, schedulingv1alpha1.GPU, 0).Topology.NodeID = -1
		}},
		"the place is not reported": {edit: func(d *schedulingv1alpha1.Device) { infoOf(d, schedulingv1alpha1.GPU, 0).Topology = nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			object := machine()
			if tc.edit != nil {
				tc.edit(object)
			}
			var got []string
			for _, peer := range Overview(Input{Object: object}).Types[0].Minors[0].Near {
				got = append(got, fmt.Sprintf("%s %d %s", peer.Type, peer.Minor, peer.Scope))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("unexpected peers (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPartitionsSayHowManyOfTheirGPUsAreIdle, and an unhealthy device why it is not healthy.
func TestPartitionsSayHowManyOfTheirGPUsAreIdle(t *testing.T) {
	object := machine()
	object.Annotations[extension.AnnotationGPUPartitions] = `{"2":[{"minors":[0,1],"allocationScore":1},{"minors":[2,3],"allocationScore":2}],"4":[{"minors":[0,1,2,3]},{"minors":[0,9,2,3]}]}`
	broken := infoOf(object, schedulingv1alpha1.GPU, 2)
	broken.Health, broken.Conditions = false, []metav1.Condition{{Type: "Healthy", Status: metav1.ConditionFalse, Message: "XID 79"}}
	got := Overview(Input{Object: object, Pods: []*corev1.Pod{holding(t, pod("a", "100"), 100, 0)}})
	want := []diagnosticsv1alpha1.DevicePartition{
		{Minors: []int32{2, 3}, Idle: new(int32(1)), Score: 2}, {Minors: []int32{0, 1}, Idle: new(int32(1)), Score: 1},
		{Minors: []int32{0, 1, 2, 3}, Idle: new(int32(2))},
	}
	if diff := cmp.Diff(want, got.Partitions); diff != "" {
		t.Errorf("unexpected partitions (-want +got):\n%s", diff)
	}
	if len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "no GPU with minor 9") {
		t.Errorf("problems %q", got.Problems)
	}
	if reason := got.Types[0].Minors[2].Reason; reason != "XID 79" {
		t.Errorf("the device is not healthy because %q", reason)
	}
	if got := Overview(Input{Object: object, Unseen: true}); got.Partitions[0].Idle != nil {
		t.Errorf("%d GPUs are idle although pods cannot be seen", *got.Partitions[0].Idle)
	}
}
