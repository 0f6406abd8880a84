package device

import (
	"testing"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/numa"
)

func TestGains(t *testing.T) {
	pod := podOf("nvidia.com/gpu", "1", "koordinator.sh/rdma", "10")
	tests := map[string]struct {
		before, after *machine
		want          bool
	}{
		"nothing changed":           {before: eight(), after: eight()},
		"a device broke":            {before: eight(), after: eight().broken(gpuType, 3)},
		"a device is healthy again": {before: eight().broken(gpuType, 3), after: eight(), want: true},
		"a NIC is healthy again":    {before: eight().broken(rdmaType, 3), after: eight(), want: true},
		"an FPGA is healthy again":  {before: eight().broken(fpgaType, 0), after: eight()},
		"a device is gone":          {before: twoNICsOnSwitch(), after: eight()},
		"a device is new":           {before: eight(), after: twoNICsOnSwitch(), want: true},
		"a device is relabelled":    {before: eight(), after: withModel(eight(), 2, "A10"), want: true},
		"partitions are new":        {before: eight(), after: eight().table(`{"1":[{"minors":[0]}]}`), want: true},
		"partitions are preferred":  {before: eight().label(extension.LabelGPUPartitionPolicy, "Honor"), after: eight(), want: true},
		"functions are new":         {before: withoutFunctions(), after: eight(), want: true},
		"functions are gone":        {before: eight(), after: withoutFunctions()},
		"another label":             {before: eight(), after: eight().label("a", "b")},
	}
	for name, test := range tests {
		if got := DecodeNode(&test.after.object).Gains(DecodeNode(&test.before.object), mustParse(t, pod)); got != test.want {
			t.Errorf("%s: gains %v, want %v", name, got, test.want)
		}
	}
	larger := eight()
	larger.device(gpuType, 0).Resources["koordinator.sh/gpu-memory"] = list("m", "80Gi")["m"]
	if node := DecodeNode(&eight().object); !DecodeNode(&larger.object).Gains(node, mustParse(t, pod)) || node.Gains(DecodeNode(&larger.object), mustParse(t, pod)) {
		t.Error("more memory is no gain, or less memory is one")
	}
	if zones := DecodeNode(&eight().object).Zones(); zones != numa.MaskOf(0, 1) {
		t.Errorf("zones %v", zones)
	}
}
