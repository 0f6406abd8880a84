package device

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestNormalize(t *testing.T) {
	gib := func(n int64) int64 { return n << 30 }
	tests := map[string]struct {
		pairs      []string
		wantCount  int
		wantEach   Amount
		wantShared bool
	}{
		"two nvidia GPUs are whole":                   {pairs: []string{"nvidia.com/gpu", "2"}, wantCount: 2, wantEach: Amount{core: 100, ratio: 100}},
		"amd GPUs are whole":                          {pairs: []string{"amd.com/gpu", "1"}, wantCount: 1, wantEach: Amount{core: 100, ratio: 100}},
		"DCUs are whole":                              {pairs: []string{"dcu.com/gpu", "3"}, wantCount: 3, wantEach: Amount{core: 100, ratio: 100}},
		"gpu 50 is half of one":                       {pairs: []string{"koordinator.sh/gpu", "50"}, wantCount: 1, wantEach: Amount{core: 50, ratio: 50}, wantShared: true},
		"gpu 100 is one":                              {pairs: []string{"koordinator.sh/gpu", "100"}, wantCount: 1, wantEach: Amount{core: 100, ratio: 100}},
		"gpu 800 is eight":                            {pairs: []string{"koordinator.sh/gpu", "800"}, wantCount: 8, wantEach: Amount{core: 100, ratio: 100}},
		"the old name of gpu counts":                  {pairs: []string{"kubernetes.io/gpu", "50"}, wantCount: 1, wantEach: Amount{core: 50, ratio: 50}, wantShared: true},
		"memory in bytes is a share":                  {pairs: []string{"koordinator.sh/gpu-memory", "8Gi"}, wantCount: 1, wantEach: Amount{memory: gib(8)}, wantShared: true},
		"memory in percent":                           {pairs: []string{"koordinator.sh/gpu-memory-ratio", "30"}, wantCount: 1, wantEach: Amount{ratio: 30}, wantShared: true},
		"core and bytes":                              {pairs: []string{"koordinator.sh/gpu-core", "50", "koordinator.sh/gpu-memory", "8Gi"}, wantCount: 1, wantEach: Amount{core: 50, memory: gib(8)}, wantShared: true},
		"core and ratio of two GPUs":                  {pairs: []string{"koordinator.sh/gpu-core", "200", "koordinator.sh/gpu-memory-ratio", "200"}, wantCount: 2, wantEach: Amount{core: 100, ratio: 100}},
		"old and new names of core and ratio":         {pairs: []string{"kubernetes.io/gpu-core", "50", "koordinator.sh/gpu-memory-ratio", "50"}, wantCount: 1, wantEach: Amount{core: 50, ratio: 50}, wantShared: true},
		"shares of two GPUs":                          {pairs: []string{"koordinator.sh/gpu.shared", "2", "koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory-ratio", "60"}, wantCount: 2, wantEach: Amount{core: 50, ratio: 30}, wantShared: true},
		"bytes of two GPUs":                           {pairs: []string{"koordinator.sh/gpu.shared", "2", "koordinator.sh/gpu-memory", "16Gi"}, wantCount: 2, wantEach: Amount{memory: gib(8)}, wantShared: true},
		"core and bytes of two GPUs":                  {pairs: []string{"koordinator.sh/gpu.shared", "2", "koordinator.sh/gpu-core", "20", "koordinator.sh/gpu-memory", "16Gi"}, wantCount: 2, wantEach: Amount{core: 10, memory: gib(8)}, wantShared: true},
		"ratio of two GPUs":                           {pairs: []string{"koordinator.sh/gpu.shared", "2", "koordinator.sh/gpu-memory-ratio", "200"}, wantCount: 2, wantEach: Amount{ratio: 100}},
		"whole NPUs":                                  {pairs: []string{"huawei.com/npu-core", "40", "koordinator.sh/gpu-memory-ratio", "200"}, wantCount: 2, wantEach: Amount{npuCore: 20, ratio: 100}},
		"a cut NPU":                                   {pairs: []string{"koordinator.sh/gpu.shared", "1", "huawei.com/npu-core", "4", "huawei.com/npu-cpu", "3", "koordinator.sh/gpu-memory", "12Gi"}, wantCount: 1, wantEach: Amount{npuCore: 4, npuCPU: 3, memory: gib(12)}, wantShared: true},
		"a cut NPU with dvpp":                         {pairs: []string{"koordinator.sh/gpu.shared", "1", "huawei.com/npu-core", "4", "huawei.com/npu-cpu", "4", "huawei.com/npu-dvpp", "100", "koordinator.sh/gpu-memory", "12Gi"}, wantCount: 1, wantEach: Amount{npuCore: 4, npuCPU: 4, npuDVPP: 100, memory: gib(12)}, wantShared: true},
		"half a NIC":                                  {pairs: []string{"koordinator.sh/rdma", "50"}, wantCount: 1, wantEach: Amount{rdmaShare: 50}, wantShared: true},
		"two NICs":                                    {pairs: []string{"koordinator.sh/rdma", "200"}, wantCount: 2, wantEach: Amount{rdmaShare: 100}},
		"the old name of rdma counts":                 {pairs: []string{"kubernetes.io/rdma", "100"}, wantCount: 1, wantEach: Amount{rdmaShare: 100}},
		"an FPGA":                                     {pairs: []string{"koordinator.sh/fpga", "100"}, wantCount: 1, wantEach: Amount{fpgaShare: 100}},
		"a fraction is the next whole number":         {pairs: []string{"koordinator.sh/gpu-memory-ratio", "29500m"}, wantCount: 1, wantEach: Amount{ratio: 30}, wantShared: true},
		"an amount beyond all sense does not overrun": {pairs: []string{"koordinator.sh/gpu-memory", "8E"}, wantCount: 1, wantEach: Amount{memory: amountLimit}, wantShared: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request, err := parseRequest(podOf(test.pairs...))
			if err != nil || len(request.Demands) != 1 {
				t.Fatalf("request %v, error %v", request, err)
			}
			demand := request.Demands[0]
			if demand.Count != test.wantCount || demand.Shared != test.wantShared {
				t.Errorf("count %d, shared %v, want %d, %v", demand.Count, demand.Shared, test.wantCount, test.wantShared)
			}
			if diff := cmp.Diff(test.wantEach, demand.Each); diff != "" {
				t.Errorf("each (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNormalizeRefuses(t *testing.T) {
	tests := map[string]struct {
		pairs []string
		want  string
	}{
		"GPUs of two vendors":                 {[]string{"nvidia.com/gpu", "1", "amd.com/gpu", "1"}, "invalid resource device requests: [amd.com/gpu nvidia.com/gpu]"},
		"nvidia and koordinator":              {[]string{"nvidia.com/gpu", "1", "koordinator.sh/gpu", "50"}, "invalid resource device requests"},
		"core alone":                          {[]string{"koordinator.sh/gpu-core", "50"}, "invalid resource device requests: [koordinator.sh/gpu-core]"},
		"ratio and bytes":                     {[]string{"koordinator.sh/gpu-memory", "1Gi", "koordinator.sh/gpu-memory-ratio", "50"}, "invalid resource device requests"},
		"gpu.shared alone":                    {[]string{"koordinator.sh/gpu.shared", "1"}, "invalid resource device requests"},
		"gpu with gpu.shared":                 {[]string{"koordinator.sh/gpu.shared", "1", "koordinator.sh/gpu", "50"}, "invalid resource device requests"},
		"npu-core alone":                      {[]string{"huawei.com/npu-core", "4"}, "invalid resource device requests"},
		"npu-core and ratio with gpu.shared":  {[]string{"koordinator.sh/gpu.shared", "1", "huawei.com/npu-core", "4", "koordinator.sh/gpu-memory-ratio", "50"}, "invalid resource device requests"},
		"shares of two NPUs":                  {[]string{"koordinator.sh/gpu.shared", "2", "huawei.com/npu-core", "4", "huawei.com/npu-cpu", "3", "koordinator.sh/gpu-memory", "12Gi"}, "invalid resource device requests"},
		"too much dvpp":                       {[]string{"koordinator.sh/gpu.shared", "1", "huawei.com/npu-core", "4", "huawei.com/npu-cpu", "4", "huawei.com/npu-dvpp", "101", "koordinator.sh/gpu-memory", "12Gi"}, "invalid resource device requests"},
		"one and a half GPUs":                 {[]string{"koordinator.sh/gpu", "150"}, "invalid resource unit koordinator.sh/gpu: 150"},
		"one and a half NICs":                 {[]string{"koordinator.sh/rdma", "150"}, "invalid resource unit koordinator.sh/rdma: 150"},
		"one and a half FPGAs":                {[]string{"koordinator.sh/fpga", "101"}, "invalid resource unit koordinator.sh/fpga: 101"},
		"one and a half ratios":               {[]string{"koordinator.sh/gpu-memory-ratio", "150"}, "invalid resource device requests"},
		"one and a half cores":                {[]string{"koordinator.sh/gpu-core", "150", "koordinator.sh/gpu-memory-ratio", "200"}, "invalid resource device requests"},
		"a core that two cards do not divide": {[]string{"koordinator.sh/gpu.shared", "2", "koordinator.sh/gpu-core", "51", "koordinator.sh/gpu-memory", "2Gi"}, "invalid resource device requests"},
		"more than a card of each of two":     {[]string{"koordinator.sh/gpu.shared", "2", "koordinator.sh/gpu-memory-ratio", "202"}, "invalid resource device requests"},
		"more GPUs than can be counted":       {[]string{"nvidia.com/gpu", "1E"}, "invalid resource device requests"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, refusal := ParseRequest(podOf(test.pairs...), defaults, nil)
			if refusal == nil || refusal.Resolvable || !strings.Contains(refusal.Reason, test.want) {
				t.Fatalf("refusal %+v, want %q", refusal, test.want)
			}
			if got := CodeOf(refusal.Reason); got != refusal.Code {
				t.Errorf("code %q of %q, want %q", got, refusal.Reason, refusal.Code)
			}
		})
	}
}

func TestPlainPodsAreNotConcerned(t *testing.T) {
	for name, pairs := range map[string][]string{"cpu and memory": {"cpu", "1", "memory", "1Gi"}, "batch": {"kubernetes.io/batch-cpu", "1"}, "no GPU": {"nvidia.com/gpu", "0"}} {
		if request, refusal := ParseRequest(podOf(pairs...), defaults, nil); request != nil || refusal != nil {
			t.Errorf("%s: request %v, refusal %v", name, request, refusal)
		}
	}
	pod := podOf("cpu", "1", "memory", "1Gi")
	if allocations := testing.AllocsPerRun(100, func() { Concerns(pod) }); allocations != 0 {
		t.Errorf("%v allocations for a plain pod", allocations)
	}
}

func TestAnnotationsThatMakeNoSenseAreRefused(t *testing.T) {
	tests := map[string]struct{ key, value string }{
		"hint that is not JSON":   {"device-allocate-hint", "?"},
		"selector":                {"device-allocate-hint", `{"gpu":{"selector":{"matchExpressions":[{"key":"a","operator":"?"}]}}}`},
		"selector of functions":   {"device-allocate-hint", `{"gpu":{"vfSelector":{"matchExpressions":[{"key":"a","operator":"?"}]}}}`},
		"scope":                   {"device-allocate-hint", `{"gpu":{"requiredTopologyScope":"Rack"}}`},
		"exclusive policy":        {"device-allocate-hint", `{"gpu":{"exclusivePolicy":"Rack"}}`},
		"joint that is not JSON":  {"device-joint-allocate", "?"},
		"required scope of joint": {"device-joint-allocate", `{"deviceTypes":["gpu"],"requiredScope":"Rack"}`},
		"partition":               {"gpu-partition-spec", "?"},
		"policy of partition":     {"gpu-partition-spec", `{"allocatePolicy":"Rack"}`},
	}
	for name, test := range tests {
		pod := annotated(podOf("nvidia.com/gpu", "1"), "scheduling.koordinator.sh/"+test.key, test.value)
		if _, refusal := ParseRequest(pod, defaults, nil); refusal == nil || refusal.Resolvable || refusal.Code != "KOORD1131" || CodeOf(refusal.Reason) != refusal.Code {
			t.Errorf("%s: refusal %+v", name, refusal)
		}
	}
}

func TestRatioAndBytes(t *testing.T) {
	total := resource.MustParse("64Gi")
	if got := RatioToBytes(50, total.Value()); got != 32<<30 {
		t.Errorf("50%% of 64Gi is %d", got)
	}
	if got := BytesToRatio(32<<30, total.Value()); got != 50 {
		t.Errorf("32Gi of 64Gi is %d%%", got)
	}
	if got := BytesToRatio(1, 0); got != 0 {
		t.Errorf("1 byte of none is %d%%", got)
	}
}
