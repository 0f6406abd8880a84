package device

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/decision/scheduling/numa"

	"github.com/google/go-cmp/cmp"
)

func without(fragmentation int64, kind StrategyType) *Policy {
	args := &Args{ScoringStrategy: &ScoringStrategy{Type: kind}, FragmentationWeight: &fragmentation}
	SetDefaults(args)
	return NewPolicy(args)
}

func TestScore(t *testing.T) {
	used := []Held{share(t, 0, 50), whole(t, gpuType, 1, 2, 3)} // 350 of 800 %
	tests := map[string]struct {
		held   []Held
		pairs  []string
		policy *Policy
		want   int64
	}{
		"an empty machine, least":              {pairs: []string{"koordinator.sh/gpu", "50"}, policy: without(0, LeastAllocated), want: 93},
		"an empty machine, most":               {pairs: []string{"koordinator.sh/gpu", "50"}, policy: without(0, MostAllocated), want: 6},
		"a used machine, least":                {held: used, pairs: []string{"koordinator.sh/gpu", "50"}, policy: without(0, LeastAllocated), want: 50},
		"a used machine, most":                 {held: used, pairs: []string{"nvidia.com/gpu", "4"}, policy: without(0, MostAllocated), want: 93},
		"a type that is not weighed":           {pairs: []string{"koordinator.sh/gpu", "50"}, policy: onlyRDMA(), want: 0},
		"two types, the mean":                  {pairs: []string{"nvidia.com/gpu", "8", "koordinator.sh/rdma", "100"}, policy: without(0, LeastAllocated), want: 37},
		"a whole GPU is broken":                {pairs: []string{"koordinator.sh/gpu", "50"}, policy: onlyFragmentation(), want: 25},
		"a GPU is used up":                     {held: []Held{share(t, 0, 50), whole(t, gpuType, 1, 2, 3, 4, 5, 6, 7)}, pairs: []string{"koordinator.sh/gpu", "50"}, policy: onlyFragmentation(), want: 75},
		"whole GPUs leave whole GPUs":          {pairs: []string{"nvidia.com/gpu", "3"}, policy: onlyFragmentation(), want: 50},
		"a machine on which it does not fit":   {held: used, pairs: []string{"nvidia.com/gpu", "5"}, policy: defaults, want: 0},
		"by default, both count: spread":       {pairs: []string{"koordinator.sh/gpu", "50"}, policy: defaults, want: (93 + 93 + 25) / 3},
		"by default, both count: used up":      {held: []Held{share(t, 0, 50), whole(t, gpuType, 1, 2, 3, 4, 5, 6, 7)}, pairs: []string{"koordinator.sh/gpu", "50"}, policy: defaults, want: 75 / 3},
		"half the memory counts, not the core": {pairs: []string{"koordinator.sh/gpu-memory", "32Gi"}, policy: without(0, LeastAllocated), want: 93},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Ledger: eight().ledger(test.held...), Request: mustParse(t, podOf(test.pairs...)), Policy: test.policy}
			if got := Score(in); got != test.want {
				t.Errorf("score %d, want %d", got, test.want)
			}
		})
	}
}

func onlyRDMA() *Policy {
	args := &Args{ScoringStrategy: &ScoringStrategy{Resources: []WeightedResource{{Name: "koordinator.sh/rdma", Weight: 1}}}, FragmentationWeight: new(int64)}
	SetDefaults(args)
	return NewPolicy(args)
}

func onlyFragmentation() *Policy {
	args := &Args{ScoringStrategy: &ScoringStrategy{Resources: []WeightedResource{{Name: "koordinator.sh/rdma", Weight: 1}}}}
	SetDefaults(args)
	return NewPolicy(args)
}

func TestHints(t *testing.T) {
	tests := map[string]struct {
		machine *machine
		held    []Held
		pairs   []string
		want    []numa.Hint
	}{
		"two GPUs": {machine: eight(), pairs: []string{"nvidia.com/gpu", "2"}, want: []numa.Hint{
			{Mask: 0b11, Score: 500}, {Mask: 0b10, Preferred: true}, {Mask: 0b01, Preferred: true, Score: 500},
		}},
		"six GPUs need both zones": {machine: eight(), pairs: []string{"nvidia.com/gpu", "6"}, want: []numa.Hint{{Mask: 0b11, Preferred: true, Score: 500}}},
		"four GPUs that are left in both zones would fit in one": {
			machine: eight(), held: []Held{whole(t, gpuType, 0, 4)}, pairs: []string{"nvidia.com/gpu", "4"},
			want: []numa.Hint{{Mask: 0b11, Score: 500}},
		},
		"none is left":         {machine: eight(), held: []Held{whole(t, fpgaType, 0)}, pairs: []string{"koordinator.sh/fpga", "100"}, want: []numa.Hint{}},
		"the zone is not said": {machine: newMachine(), pairs: []string{"koordinator.sh/fpga", "100"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Ledger: test.machine.ledger(test.held...), Request: mustParse(t, podOf(test.pairs...)), Policy: defaults}
			hints := Hints(in, numa.MaskOf(0, 1))
			if test.want == nil {
				if hints != nil {
					t.Errorf("hints %v, want none", hints)
				}
				return
			}
			if diff := cmp.Diff(test.want, hints[string(in.Request.Demands[0].Type)]); diff != "" {
				t.Errorf("hints (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeArgs(t *testing.T) {
	args, err := DecodeArgs(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(DefaultArgs(), args); diff != "" {
		t.Errorf("without arguments (-want +got):\n%s", diff)
	}
	full := `{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"DeviceShareArgs","allocator":"default","fragmentationWeight":0,
		"scoringStrategy":{"type":"MostAllocated","resources":[{"name":"koordinator.sh/gpu-core","weight":3}]},"disableDeviceNUMATopologyAlignment":true,
		"gpuSharedResourceTemplatesConfig":{"configMapNamespace":"a","configMapName":"b","matchedResources":["huawei.com/npu-core"]},
		"gpuShareUnsupportedModels":[{"vendor":"acme","model":"one"}]}`
	if args, err = DecodeArgs(&runtime.Unknown{Raw: []byte(full)}); err != nil || !args.DisableDeviceNUMATopologyAlignment || *args.FragmentationWeight != 0 {
		t.Errorf("args %+v, error %v", args, err)
	}
	for raw, want := range map[string]string{
		`{"scoringStrategy":{"type":"RequestedToCapacityRatio"}}`:                             "scoringStrategy.type",
		`{"scoringStrategy":{"resources":[{"name":"a","weight":0}]}}`:                         "scoringStrategy.resources[0].weight",
		`{"scoringStrategy":{"resources":[{"weight":1}]}}`:                                    "scoringStrategy.resources[0].name",
		`{"scoringStrategy":{"resources":[{"name":"a","weight":1},{"name":"a","weight":1}]}}`: "scoringStrategy.resources[1].name",
		`{"fragmentationWeight":101}`:                                                         "fragmentationWeight",
		`{"gpuShareUnsupportedModels":[{"model":"one"}]}`:                                     "gpuShareUnsupportedModels[0].vendor",
		`{"gpuShareUnsupportedModels":[{"vendor":"acme"}]}`:                                   "gpuShareUnsupportedModels[0].model",
		`{"gpuSharedResourceTemplatesConfig":{"matchedResources":["cpu"]}}`:                   "matchedResources[0]",
		`{"scoringstrategy":{}}`:                                                              "unknown field",
	} {
		if _, err := DecodeArgs(&runtime.Unknown{Raw: []byte(raw)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one about %s", raw, err, want)
		}
	}
}
