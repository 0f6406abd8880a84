package device

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/reservation"
)

// allocated are devices of one type in the annotation of a bound pod, with so much of each.
func allocated(kind string, minors int, resource, amount string) string {
	text := ""
	for minor := range minors {
		text += fmt.Sprintf(`{"minor":%d,"resources":{%q:%q}},`, minor, resource, amount)
	}
	return fmt.Sprintf(`{%q:[%s]}`, kind, text[:len(text)-1])
}

// both is one annotation of two.
func both(a, b string) string { return strings.TrimSuffix(a, "}") + "," + strings.TrimPrefix(b, "{") }

func TestHeldBy(t *testing.T) {
	const rdma, gpuCore = "koordinator.sh/rdma", "koordinator.sh/gpu-core"
	tests := map[string]struct {
		requests []string
		// wishes are annotations that a user writes.
		wishes    map[string]string
		allocated string
		// stands is true for the pod of a Reservation, which has its UID as its name.
		stands bool
		// wantHeld are the amounts of the first dimension, by type.
		wantHeld map[string][]int64
	}{
		"what was requested": {
			requests: []string{"nvidia.com/gpu", "2"}, allocated: allocated("gpu", 2, gpuCore, "100"), wantHeld: map[string][]int64{"gpu": {100, 100}},
		},
		"more devices than requested": {
			requests: []string{"nvidia.com/gpu", "2"}, allocated: allocated("gpu", 3, gpuCore, "100"), wantHeld: map[string][]int64{"gpu": {100, 100}},
		},
		"more of a device than requested": {
			requests: []string{gpuCore, "30", "koordinator.sh/gpu-memory-ratio", "40"}, allocated: allocated("gpu", 1, gpuCore, "100"), wantHeld: map[string][]int64{"gpu": {30}},
		},
		"compute that was not requested": {
			requests: []string{"koordinator.sh/gpu-memory-ratio", "40"}, allocated: allocated("gpu", 1, gpuCore, "100"), wantHeld: map[string][]int64{"gpu": {0}},
		},
		"a type that was not requested": {
			requests: []string{"nvidia.com/gpu", "1"}, allocated: allocated("rdma", 1, rdma, "1"), wantHeld: map[string][]int64{},
		},
		"nothing was requested":              {requests: []string{"cpu", "1"}, allocated: allocated("gpu", 1, gpuCore, "1"), wantHeld: map[string][]int64{}},
		"requests that nobody can serve":     {requests: []string{gpuCore, "130", "koordinator.sh/gpu-memory-ratio", "40"}, allocated: allocated("gpu", 1, gpuCore, "100"), wantHeld: map[string][]int64{}},
		"an allocation that nobody can read": {requests: []string{"nvidia.com/gpu", "1"}, allocated: `{"gpu":`, wantHeld: map[string][]int64{}},
		"a hint that nobody can read": {
			requests: []string{"nvidia.com/gpu", "1"}, allocated: allocated("gpu", 1, gpuCore, "100"),
			wishes: map[string]string{extension.AnnotationDeviceAllocateHint: `[]`}, wantHeld: map[string][]int64{"gpu": {100}},
		},
		"a hint with an unknown strategy": {
			requests: []string{rdma, "50"}, allocated: allocated("rdma", 1, rdma, "50"),
			wishes: map[string]string{extension.AnnotationDeviceAllocateHint: `{"rdma":{"allocateStrategy":"Lucky"}}`}, wantHeld: map[string][]int64{"rdma": {50}},
		},
		"joint allocation and a partition that nobody can read": {
			requests: []string{"nvidia.com/gpu", "1"}, allocated: allocated("gpu", 1, gpuCore, "100"),
			wishes:   map[string]string{extension.AnnotationDeviceJointAllocate: `?`, extension.AnnotationGPUPartitionSpec: `{"allocatePolicy":"x"}`},
			wantHeld: map[string][]int64{"gpu": {100}},
		},
		"a share of every device, when the wish for it is gone": {
			requests: []string{rdma, "5"}, allocated: allocated("rdma", 4, rdma, "5"), wantHeld: map[string][]int64{"rdma": {5, 5, 5, 5}},
		},
		"whole devices for percents, when the wish for it is gone": {
			requests: []string{rdma, "3"}, allocated: allocated("rdma", 3, rdma, "100"), wantHeld: map[string][]int64{"rdma": {100, 100, 100}},
		},
		"the pod of a Reservation, of which a user left what no pod can request": {
			requests: []string{gpuCore, "150", "koordinator.sh/gpu-memory-ratio", "150"}, allocated: allocated("gpu", 2, gpuCore, "75"),
			wishes: map[string]string{reservation.AnnotationReservePod: "true"}, stands: true, wantHeld: map[string][]int64{"gpu": {75, 75}},
		},
		"a pod that poses as the pod of a Reservation": {
			requests: []string{"nvidia.com/gpu", "1"}, allocated: allocated("gpu", 2, gpuCore, "100"),
			wishes: map[string]string{reservation.AnnotationReservePod: "true"}, wantHeld: map[string][]int64{"gpu": {100}},
		},
		"a whole device beside each GPU, for one percent": {
			requests: []string{"nvidia.com/gpu", "3", rdma, "1"}, allocated: both(allocated("gpu", 3, gpuCore, "100"), allocated("rdma", 2, rdma, "100")),
			wantHeld: map[string][]int64{"gpu": {100, 100, 100}, "rdma": {100, 100}},
		},
		"more whole devices than GPUs": {
			requests: []string{"nvidia.com/gpu", "2", rdma, "1"}, allocated: both(allocated("gpu", 5, gpuCore, "100"), allocated("rdma", 3, rdma, "100")),
			wantHeld: map[string][]int64{"gpu": {100, 100}, "rdma": {100, 100, 1}},
		},
		"more whole devices than percents": {
			requests: []string{rdma, "3"}, allocated: allocated("rdma", 4, rdma, "100"), wantHeld: map[string][]int64{"rdma": {100, 100, 100, 3}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pod := annotated(podOf(tt.requests...), extension.AnnotationDeviceAllocated, tt.allocated)
			for key, text := range tt.wishes {
				annotated(pod, key, text)
			}
			if pod.UID = "uid"; tt.stands {
				pod.Name = "uid"
			}
			allocation, found := HeldBy(pod)
			held := map[string][]int64{}
			for _, item := range allocation.Items {
				held[item.kind.String()] = append(held[item.kind.String()], item.Amount[item.kind.first()])
			}
			if diff := cmp.Diff(tt.wantHeld, held); diff != "" || found != (len(tt.wantHeld) > 0) {
				t.Errorf("found %v, held (-want +got):\n%s", found, diff)
			}
		})
	}
}

// TestWhatWasGivenIsBelieved gives devices to pods with any wishes, edits the wishes, and reads back what was given.
func TestWhatWasGivenIsBelieved(t *testing.T) {
	node := DecodeNode(&eight().object)
	rapid.Check(t, func(t *rapid.T) {
		pod := drawPod(t)
		hinted(pod, rapid.SampledFrom([]string{
			`{}`, `{"rdma":{"allocateStrategy":"ApplyForAll"}}`, `{"rdma":{"allocateStrategy":"RequestsAsCount"}}`,
			`{"rdma":{"allocateStrategy":"RequestsAsCount","exclusivePolicy":"DeviceLevel"}}`, `{"gpu":{"exclusivePolicy":"PCIeLevel"}}`,
		}).Draw(t, "hint"))
		if rapid.Bool().Draw(t, "joint") {
			joined(pod, `{"deviceTypes":["gpu","rdma"]}`)
		}
		request, refusal := ParseRequest(pod, defaults, nil)
		if refusal != nil {
			return
		}
		allocation, refusal := Allocate(Input{Ledger: NewLedger(node, nil, nil), Request: request, Policy: defaults}, nil)
		if refusal != nil {
			return
		}
		if err := extension.SetDeviceAllocations(pod, allocation.Annotation()); err != nil {
			t.Fatal(err)
		}
		want, _ := ReadAllocation(pod)
		for _, key := range []string{extension.AnnotationDeviceAllocateHint, extension.AnnotationDeviceJointAllocate, extension.AnnotationGPUPartitionSpec} {
			pod.Annotations[key] = rapid.SampledFrom([]string{"", "{}", "[]", "?", `{"rdma":{"allocateStrategy":"x"}}`}).Draw(t, key)
		}
		held, _ := HeldBy(pod)
		if diff := cmp.Diff(want.Items, held.Items, cmp.AllowUnexported(Item{})); diff != "" {
			t.Fatalf("held by %v (-given +held):\n%s", pod.Annotations, diff)
		}
	})
}
