package device

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

func TestRelaxations(t *testing.T) {
	scored := eight().table(`{"2":[{"minors":[0,1],"allocationScore":1},{"minors":[2,3],"allocationScore":9}]}`)
	tests := map[string]struct {
		machine *machine
		held    []Held
		pod     *corev1.Pod
		want    map[string]string
	}{
		"a share of what is left": {
			machine: eight().broken(gpuType, 1, 2, 3, 4, 5, 6, 7), held: []Held{share(t, 0, 70)}, pod: podOf("koordinator.sh/gpu", "50"),
			want: map[string]string{"reduceRequest": "request 30% koordinator.sh/gpu instead of 50%"},
		},
		"only what is too much is reduced": {
			machine: eight().broken(gpuType, 1, 2, 3, 4, 5, 6, 7), held: []Held{share(t, 0, 70)}, pod: podOf("koordinator.sh/gpu-core", "10", "koordinator.sh/gpu-memory", "32Gi"),
			want: map[string]string{"reduceRequest": "request 19.2Gi koordinator.sh/gpu-memory instead of 32Gi"},
		},
		"fewer GPUs": {
			machine: eight(), held: []Held{whole(t, gpuType, 0, 1, 2, 3, 4)}, pod: podOf("nvidia.com/gpu", "4"),
			want: map[string]string{"reduceRequest": "request 3 GPUs instead of 4"},
		},
		"a scope, or fewer GPUs": {
			machine: eight(), held: []Held{whole(t, gpuType, 0, 2, 4, 6)}, pod: hinted(podOf("nvidia.com/gpu", "2"), `{"gpu":{"requiredTopologyScope":"PCIe"}}`),
			want: map[string]string{"dropTopologyScope": "drop the required topology scope of the devices", "reduceRequest": "request 1 GPU instead of 2"},
		},
		"one PCIe switch": {
			machine: eight(), held: []Held{whole(t, rdmaType, 0, 1), whole(t, gpuType, 4, 5, 6, 7)}, pod: joined(podOf("nvidia.com/gpu", "1", "koordinator.sh/rdma", "100"), samePCIe),
			want: map[string]string{"dropJointScope": "let devices of different types be on different PCIe switches"},
		},
		"the best partitions": {
			machine: scored, held: []Held{whole(t, gpuType, 2)}, pod: annotated(podOf("nvidia.com/gpu", "2"), extension.AnnotationGPUPartitionSpec, `{"allocatePolicy":"Restricted"}`),
			want: map[string]string{"relaxPartition": "accept GPU partitions that are not the best ones"},
		},
		"nothing helps where nothing is": {machine: newMachine(), pod: podOf("nvidia.com/gpu", "1"), want: map[string]string{}},
		"nothing is to be given up":      {machine: eight(), pod: podOf("nvidia.com/gpu", "1"), want: map[string]string{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Ledger: test.machine.ledger(test.held...), Request: mustParse(t, test.pod), Policy: defaults}
			got := map[string]string{}
			for _, change := range Relaxations(test.pod, in, nil) {
				got[change.Kind] = change.Description
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRelaxationsKeepTheRestOfThePod(t *testing.T) {
	pod := hinted(podOf("nvidia.com/gpu", "2", "cpu", "4"), `{"gpu":{"requiredTopologyScope":"PCIe","selector":{"matchLabels":{"a":"b"}}}}`)
	pod.Spec.Containers[0].Resources.Limits = pod.Spec.Containers[0].Resources.Requests.DeepCopy()
	pod.Annotations["mine"] = "kept"
	before := pod.DeepCopy()
	m := eight()
	for i := range 8 {
		m.device(gpuType, int32(i)).Labels = map[string]string{"a": "b"}
	}
	in := Input{Ledger: m.ledger(whole(t, gpuType, 0, 2, 4, 6)), Request: mustParse(t, pod), Policy: defaults}
	for _, change := range Relaxations(pod, in, nil) {
		edited := change.Pod
		if edited.Annotations["mine"] != "kept" {
			t.Errorf("%s: annotations %v", change.Kind, edited.Annotations)
		}
		requests, limits := edited.Spec.Containers[0].Resources.Requests, edited.Spec.Containers[0].Resources.Limits
		if diff := cmp.Diff(requests, limits); diff != "" {
			t.Errorf("%s: requests and limits differ:\n%s", change.Kind, diff)
		}
	}
	if diff := cmp.Diff(before, pod); diff != "" {
		t.Errorf("the pod itself was changed:\n%s", diff)
	}
}

func TestWhatIsGivenUpIsAPartOfTheRequest(t *testing.T) {
	tests := map[string]struct {
		held []Held
		pod  *corev1.Pod
		want map[string]float64
	}{
		"a scope costs nothing of the request, and one of two GPUs half of it": {
			held: []Held{whole(t, gpuType, 0, 2, 4, 6)}, pod: hinted(podOf("nvidia.com/gpu", "2"), `{"gpu":{"requiredTopologyScope":"PCIe"}}`),
			want: map[string]float64{"dropTopologyScope": 0, "reduceRequest": 0.5},
		},
		"three of four GPUs are left": {
			held: []Held{whole(t, gpuType, 0, 1, 2, 3, 4)}, pod: podOf("nvidia.com/gpu", "4"), want: map[string]float64{"reduceRequest": 0.25},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Ledger: eight().ledger(test.held...), Request: mustParse(t, test.pod), Policy: defaults}
			got := map[string]float64{}
			for _, change := range Relaxations(test.pod, in, nil) {
				got[change.Kind] = change.Given
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("given up (-want +got):\n%s", diff)
			}
		})
	}
}
