package device

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// fits is true when a pod that requests so many percent of a type gets devices.
func fits(t testing.TB, l *Ledger, name schedulingv1alpha1.DeviceType, percent int64) bool {
	t.Helper()
	request := mustParse(t, podOf("koordinator.sh/"+string(name), fmt.Sprint(percent)))
	_, refusal := Allocate(Input{Ledger: l, Request: request, Policy: defaults}, nil)
	return refusal == nil
}

// TestTheLargestRequestFitsAndNoLargerOne of a pod without hints, on any machine.
func TestTheLargestRequestFitsAndNoLargerOne(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := drawWorld(r)
		l := w.machine.ledger(w.held...)
		for _, name := range []schedulingv1alpha1.DeviceType{gpuType, rdmaType} {
			devices, percent := l.Largest(name, defaults)
			largest := 100*int64(devices) + percent
			if largest > 0 && !fits(t, l, name, largest) {
				r.Errorf("%s: %d%% are the largest request, and do not fit", name, largest)
			}
			more := largest + 1
			if largest >= 100 {
				more = largest + 100
			}
			if fits(t, l, name, more) {
				r.Errorf("%s: %d%% are the largest request, and %d%% fit", name, largest, more)
			}
		}
	})
}

func TestTheLargestRequest(t *testing.T) {
	npu := newMachine()
	for i := range int32(2) {
		npu.add(gpuType, i, 0, "pcie-0", list("huawei.com/npu-core", "20", "koordinator.sh/gpu-memory", gpuMemory, "koordinator.sh/gpu-memory-ratio", "100"))
	}
	tests := map[string]struct {
		ledger      *Ledger
		of          schedulingv1alpha1.DeviceType
		wantDevices int
		wantPercent int64
	}{
		"all are idle":                         {eight().ledger(), gpuType, 8, 0},
		"one is shared":                        {eight().ledger(share(t, 0, 30)), gpuType, 7, 0},
		"one is broken":                        {eight().broken(gpuType, 3).ledger(), gpuType, 7, 0},
		"one is left in part":                  {eight().ledger(whole(t, gpuType, 1, 2, 3, 4, 5, 6, 7), share(t, 0, 30)), gpuType, 0, 70},
		"nothing is left":                      {eight().ledger(whole(t, gpuType, 0, 1, 2, 3, 4, 5, 6, 7)), gpuType, 0, 0},
		"cards":                                {eight().ledger(whole(t, rdmaType, 1)), rdmaType, 3, 0},
		"a type that nothing allocates":        {eight().ledger(), schedulingv1alpha1.XPU, 0, 0},
		"a node without devices":               {newMachine().ledger(), gpuType, 0, 0},
		"only partitions of one and four":      {eight().label("node.koordinator.sh/gpu-partition-policy", "Honor").table(`{"1":[{"minors":[7]}],"4":[{"minors":[0,1,2,3]}]}`).ledger(), gpuType, 4, 0},
		"and that of four is broken":           {eight().label("node.koordinator.sh/gpu-partition-policy", "Honor").table(`{"1":[{"minors":[7]}],"4":[{"minors":[0,1,2,3]}]}`).ledger(whole(t, gpuType, 2)), gpuType, 1, 0},
		"partitions are wanted and not listed": {eight().label("node.koordinator.sh/gpu-partition-policy", "Honor").ledger(), gpuType, 0, 0},
		"NPUs":                                 {npu.ledger(), gpuType, 2, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if devices, percent := tc.ledger.Largest(tc.of, defaults); devices != tc.wantDevices || percent != tc.wantPercent {
				t.Errorf("%d devices or %d%%, want %d or %d%%", devices, percent, tc.wantDevices, tc.wantPercent)
			}
		})
	}
}
