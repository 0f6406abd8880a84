package device

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/extension"
)

func TestLedger(t *testing.T) {
	ledger := eight().broken(gpuType, 3).ledger(
		share(t, 0, 30), share(t, 0, 50),
		holding(t, "bytes", `{"gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-memory":"16Gi"}}]}`),
		holding(t, "sick", `{"gpu":[{"minor":3,"resources":{"koordinator.sh/gpu-core":"100","koordinator.sh/gpu-memory-ratio":"100"}}]}`),
		holding(t, "gone", `{"gpu":[{"minor":9,"resources":{"koordinator.sh/gpu-core":"100"}}]}`),
		holding(t, "moved", `{"gpu":[{"minor":5,"id":"gpu-4","resources":{"koordinator.sh/gpu-core":"100"}}]}`),
		holding(t, "replaced", `{"gpu":[{"minor":6,"id":"GPU-old","resources":{"koordinator.sh/gpu-core":"100"}}]}`),
		holding(t, "greedy", `{"rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"170"},"extension":{"vfs":[{"minor":2,"busID":"0000:00:00.2"}]}}]}`),
	)
	free := func(k kind, minor int, d dimension) int64 { return ledger.free[k][minor][d] }
	for what, got := range map[string][2]int64{
		"core beside two shares":                  {free(gpu, 0, core), 20},
		"memory beside two shares":                {free(gpu, 0, memory), 64<<30 - RatioToBytes(30, 64<<30) - 32<<30},
		"ratio beside a share in bytes":           {free(gpu, 1, ratio), 75},
		"a device that is not healthy":            {free(gpu, 3, core), 0},
		"the device with the id":                  {free(gpu, 4, core), 0},
		"the minor where the device is no longer": {free(gpu, 5, core), 100},
		"the minor of a device that was replaced": {free(gpu, 6, core), 0},
		"a device of which more is held than is":  {free(rdma, 0, rdmaShare), 0},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %d free, want %d", what, got[0], got[1])
		}
	}
	want := []Orphan{
		{Pod: "default/sick", Type: gpuType, Minor: 3, Reason: "the device is not healthy"},
		{Pod: "default/gone", Type: gpuType, Minor: 9, Reason: "the node no longer has the device"},
		{Pod: "default/replaced", Type: gpuType, Minor: 6, Reason: `the minor belongs to device "gpu-6" now`},
	}
	if diff := cmp.Diff(want, ledger.Orphans()); diff != "" {
		t.Errorf("orphans (-want +got):\n%s", diff)
	}
	if !ledger.functions[rdma][0]["0000:00:00.2"] {
		t.Error("a virtual function in use counts as free")
	}
	if vacant := ledger.Vacant(); vacant.free[gpu][0][core] != 100 || vacant.free[gpu][3][core] != 0 {
		t.Error("without pods, not all of the healthy devices is free")
	}
}

// TestAShareOfABrokenDeviceStays lets a device come back while a pod still holds a part of it.
func TestAShareOfABrokenDeviceStays(t *testing.T) {
	in := Input{Ledger: eight().ledger(share(t, 0, 60)), Request: mustParse(t, podOf("nvidia.com/gpu", "8")), Policy: defaults}
	if refusal := Fits(in, nil); refusal == nil {
		t.Error("the device counts as whole after it came back")
	}
}

func TestDecodeNodeToleratesNonsense(t *testing.T) {
	m := eight()
	m.gpu(3, 0, "pcie-0").UUID = "second"
	m.gpu(-1, 0, "pcie-0")
	m.add("xpu", 0, 0, "pcie-0", nil)
	m.device(gpuType, 0).Resources = list("koordinator.sh/gpu-core", "-5", "koordinator.sh/gpu-memory", "8E", "kubernetes.io/gpu-memory-ratio", "100", "other", "3")
	m.object.Spec.Devices = append(m.object.Spec.Devices, m.object.Spec.Devices[0])
	m.object.Spec.Devices[len(m.object.Spec.Devices)-1].Minor = nil
	m.table(`{"2":[{"minors":[0]},{"minors":[1,1]},{"minors":[6,9]},{"minors":[4,5]}]}`)
	node := DecodeNode(&m.object)
	if count := len(node.devices[gpu]); count != 8 {
		t.Errorf("%d GPUs", count)
	}
	if total := node.devices[gpu][0].total; total != (Amount{memory: amountLimit, ratio: 100}) {
		t.Errorf("total %v", total)
	}
	if partitions, _ := node.table.of(2); len(partitions) != 1 {
		t.Errorf("%d partitions", len(partitions))
	}
	for _, want := range []string{"two gpu devices have minor 3", "two gpu devices have minor 0", "has minor -1", "it has 1 minors", "minor 1 is in it twice", "no GPU with minor 9"} {
		if !strings.Contains(strings.Join(node.Problems(), "\n"), want) {
			t.Errorf("problems %q do not say %q", node.Problems(), want)
		}
	}
	if node := DecodeNode(&eight().table("?").object); len(node.Problems()) != 1 || node.table != nil {
		t.Errorf("a broken table: problems %q", node.Problems())
	}
}

func TestReadAllocationToleratesNonsense(t *testing.T) {
	for name, annotation := range map[string]string{
		"nothing": "", "not JSON": "?", "null": "null", "no devices": `{}`, "a null device": `{"gpu":[null]}`,
		"another type": `{"xpu":[{"minor":0}]}`, "a negative minor": `{"gpu":[{"minor":-1}]}`,
	} {
		if allocation, found := ReadAllocation(annotated(podOf(), extension.AnnotationDeviceAllocated, annotation)); found {
			t.Errorf("%s: %v", name, allocation)
		}
	}
}

func TestAnnotation(t *testing.T) {
	pod := hinted(podOf("koordinator.sh/gpu-core", "50", "koordinator.sh/gpu-memory", "16Gi", "koordinator.sh/rdma", "200"), `{"rdma":{"vfSelector":{"matchLabels":{"type":"general"}}}}`)
	taken := holding(t, "other", `{"rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"0"},"extension":{"vfs":[{"minor":2,"busID":"0000:00:00.2"}]}}]}`)
	allocation, refusal := Allocate(Input{Ledger: eight().ledger(taken), Request: mustParse(t, pod), Policy: defaults}, nil)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if err := extension.SetDeviceAllocations(pod, allocation.Annotation()); err != nil {
		t.Fatal(err)
	}
	want := `{"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"50","koordinator.sh/gpu-memory":"16Gi","koordinator.sh/gpu-memory-ratio":"25"},"id":"gpu-0"}],` +
		`"rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"100"},"id":"rdma-0","extension":{"vfs":[{"minor":3,"busID":"0000:00:00.3"}]}},` +
		`{"minor":1,"resources":{"koordinator.sh/rdma":"100"},"id":"rdma-1","extension":{"vfs":[{"minor":2,"busID":"0000:01:00.2"}]}}]}`
	if diff := cmp.Diff(want, pod.Annotations[extension.AnnotationDeviceAllocated]); diff != "" {
		t.Errorf("annotation (-want +got):\n%s", diff)
	}
	if minors := allocation.GPUMinors(); minors != "0" {
		t.Errorf("minors %q", minors)
	}
}

func TestVirtualFunctionsRunOut(t *testing.T) {
	storage := hinted(podOf("koordinator.sh/rdma", "10"), `{"rdma":{"vfSelector":{"matchLabels":{"type":"storage"}}}}`)
	var held []Held
	for i := range 4 {
		held = append(held, holding(t, fmt.Sprint("pod-", i), fmt.Sprintf(`{"rdma":[{"minor":%d,"resources":{"koordinator.sh/rdma":"10"},"extension":{"vfs":[{"busID":"0000:%02x:00.0"}]}}]}`, i, i)))
	}
	runAllocateCases(t, map[string]allocateCase{
		"the lowest":           {machine: eight(), held: held[:1], pod: storage, want: map[string][]int32{"rdma": {1}}},
		"none is left":         {machine: eight(), held: held, pod: storage, refused: "Insufficient rdma VirtualFunctions"},
		"there are none":       {machine: withoutFunctions(), pod: storage, refused: "Insufficient rdma VirtualFunctions", wantFinal: true},
		"without a selector":   {machine: eight(), held: held, pod: podOf("koordinator.sh/rdma", "10"), want: map[string][]int32{"rdma": {0}}},
		"no function is so":    {machine: eight(), pod: hinted(podOf("koordinator.sh/rdma", "10"), `{"rdma":{"vfSelector":{"matchLabels":{"type":"fast"}}}}`), refused: "Insufficient rdma VirtualFunctions", wantFinal: true},
		"other functions left": {machine: eight(), held: held, pod: hinted(podOf("koordinator.sh/rdma", "10"), `{"rdma":{"vfSelector":{}}}`), want: map[string][]int32{"rdma": {0}}},
	})
}

func withoutFunctions() *machine {
	m := eight()
	for i := range m.object.Spec.Devices {
		m.object.Spec.Devices[i].VFGroups = nil
	}
	return m
}

const ascend = `
huawei-Ascend-310P:
  vir04_3c: {koordinator.sh/gpu-memory: 12Gi, huawei.com/npu-core: 4, huawei.com/npu-cpu: 3, huawei.com/npu-dvpp: 50}
  vir02: {koordinator.sh/gpu-memory: 6Gi, huawei.com/npu-core: "2", huawei.com/npu-cpu: "2", huawei.com/npu-dvpp: "25"}
`

func TestTemplates(t *testing.T) {
	templates, err := DecodeTemplates(ascend)
	if err != nil {
		t.Fatal(err)
	}
	npu := newMachine()
	npu.label(extension.LabelGPUVendor, "huawei").label(extension.LabelGPUModel, "Ascend-310P")
	npu.add(gpuType, 0, 0, "pcie-0", list("koordinator.sh/gpu-core", "100", "koordinator.sh/gpu-memory-ratio", "100", "koordinator.sh/gpu-memory", "24Gi",
		"huawei.com/npu-core", "8", "huawei.com/npu-cpu", "7", "huawei.com/npu-dvpp", "100"))
	cut := func(core, cpu, dvpp, memory string) (*Request, *Refusal) {
		return ParseRequest(podOf("koordinator.sh/gpu.shared", "1", "huawei.com/npu-core", core, "huawei.com/npu-cpu", cpu, "huawei.com/npu-dvpp", dvpp, "koordinator.sh/gpu-memory", memory), defaults, templates)
	}
	request, refusal := cut("4", "3", "50", "12Gi")
	if refusal != nil {
		t.Fatal(refusal)
	}
	allocation, refusal := Allocate(Input{Ledger: npu.ledger(), Request: request, Policy: defaults}, nil)
	if refusal != nil || allocation.Items[0].Template != "vir04_3c" || allocation.Items[0].Amount[npuCPU] != 3 || allocation.Items[0].Amount[ratio] != 50 {
		t.Errorf("allocation %+v, refusal %v", allocation, refusal)
	}
	if written := allocation.Annotation()[gpuType][0].Extension; written == nil || written.GPUSharedResourceTemplate != "vir04_3c" {
		t.Errorf("annotation %+v", written)
	}
	if _, refusal := cut("4", "4", "50", "12Gi"); refusal == nil || refusal.Reason != "no matched GPU shared resource template" {
		t.Errorf("what is no template: refusal %+v", refusal)
	}
	if refusal := Fits(Input{Ledger: eight().ledger(), Request: request, Policy: defaults}, nil); refusal == nil || refusal.Reason != "no matched GPU shared resource template" || refusal.Resolvable {
		t.Errorf("a template of another model: refusal %+v", refusal)
	}
	for _, document := range []string{"[", "a: b", `{"a":{"b":{"c":"1e-99999999"}}}`, strings.Repeat("a", maxTemplateBytes+1)} {
		if _, err := DecodeTemplates(document); err == nil {
			t.Errorf("%.20q is decoded", document)
		}
	}
	if templates, err := DecodeTemplates(""); err != nil || len(templates) != 0 {
		t.Errorf("an empty document: %v, %v", templates, err)
	}
}

func TestSharesAreNotForEveryNode(t *testing.T) {
	pod := podOf("koordinator.sh/gpu", "50")
	pod.Labels[extension.LabelGPUIsolationProvider] = "HAMi-core"
	args := &Args{GPUShareUnsupportedModels: []GPUModel{{Vendor: "acme", Model: "one"}}}
	SetDefaults(args)
	node := DecodeNode(&eight().object)
	refusalOn := func(pod string, pairs ...string) string {
		labels := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			labels[pairs[i]] = pairs[i+1]
		}
		request := mustParse(t, podOf("koordinator.sh/gpu", "50"))
		request.isolation = pod
		if refusal := Fits(Input{Ledger: NewLedger(node, labels, nil), Request: request, Policy: NewPolicy(args)}, nil); refusal != nil {
			if refusal.Resolvable {
				t.Errorf("%+v would not be lifted by preemption", refusal)
			}
			return refusal.Reason
		}
		return ""
	}
	isolation := "GPUIsolationProviderHAMICore not found on the node"
	for _, test := range []struct{ got, want string }{
		{refusalOn("HAMi-core"), isolation},
		{refusalOn("HAMi-core", extension.LabelGPUIsolationProvider, "other"), isolation},
		{refusalOn("HAMi-core", extension.LabelGPUIsolationProvider, "HAMi-core"), ""},
		{refusalOn("", extension.LabelGPUIsolationProvider, "HAMi-core"), ""},
		{refusalOn("", extension.LabelGPUVendor, "acme", extension.LabelGPUModel, "one"), `model "one" of vendor "acme" does not support GPU Share`},
		{refusalOn("", extension.LabelGPUVendor, "acme", extension.LabelGPUModel, "two"), ""},
	} {
		if test.got != test.want {
			t.Errorf("refusal %q, want %q", test.got, test.want)
		}
	}
}

// TestMoreThan63GPUs places pods on a machine whose devices do not fit into one machine word.
func TestMoreThan63GPUs(t *testing.T) {
	m := newMachine()
	table := extension.GPUPartitionTable{}
	for i := range 72 {
		m.gpu(int32(i), int32(i/36), fmt.Sprintf("pcie-%02d", i/4))
		if i%36 == 35 {
			minors := make([]int, 36)
			for j := range minors {
				minors[j] = i - 35 + j
			}
			table[36] = append(table[36], extension.GPUPartition{Minors: minors, AllocationScore: 1})
		}
	}
	if err := extension.SetGPUPartitionTable(&m.object, table); err != nil {
		t.Fatal(err)
	}
	restricted := annotated(podOf("nvidia.com/gpu", "36"), extension.AnnotationGPUPartitionSpec, `{"allocatePolicy":"Restricted"}`)
	upper := make([]int32, 36)
	for i := range upper {
		upper[i] = int32(36 + i)
	}
	all := whole(t, gpuType, 0)
	for i := 1; i < 71; i++ {
		all.Allocation.Items = append(all.Allocation.Items, whole(t, gpuType, int32(i)).Allocation.Items...)
	}
	runAllocateCases(t, map[string]allocateCase{
		"a partition beyond the first word": {machine: m, held: []Held{whole(t, gpuType, 1)}, pod: restricted, want: gpus(upper...)},
		"the last one":                      {machine: m, held: []Held{all}, pod: podOf("nvidia.com/gpu", "1"), want: gpus(71)},
		"minor 7 is not minor 71":           {machine: m, held: []Held{whole(t, gpuType, 71)}, pod: hinted(podOf("nvidia.com/gpu", "4"), `{"gpu":{"requiredTopologyScope":"PCIe"}}`), want: gpus(36, 37, 38, 39)},
	})
}

func TestPreferredDevices(t *testing.T) {
	reserved := whole(t, gpuType, 3, 6).Allocation
	tests := map[string]struct {
		held []Held
		pod  string
		want []int32
	}{
		"one of them":                   {pod: "1", want: []int32{3}},
		"both, though they are apart":   {pod: "2", want: []int32{3, 6}},
		"not enough of them":            {pod: "5", want: []int32{0, 1, 2, 3, 6}},
		"one of them has another owner": {held: []Held{whole(t, gpuType, 3)}, pod: "1", want: []int32{6}},
		"none of them is left":          {held: []Held{whole(t, gpuType, 3, 6)}, pod: "1", want: []int32{2}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Ledger: eight().ledger(test.held...), Request: mustParse(t, podOf("nvidia.com/gpu", test.pod)), Policy: defaults, Preferred: &reserved}
			allocation, refusal := Allocate(in, nil)
			if diff := cmp.Diff(gpus(test.want...), chosen(&allocation)); diff != "" || refusal != nil {
				t.Errorf("devices (-want +got):\n%s, refusal %v", diff, refusal)
			}
		})
	}
}
