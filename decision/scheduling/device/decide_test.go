package device

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/numa"
)

const (
	gpuType  = schedulingv1alpha1.GPU
	rdmaType = schedulingv1alpha1.RDMA
	fpgaType = schedulingv1alpha1.FPGA
)

const samePCIe = `{"deviceTypes":["gpu","rdma"],"requiredScope":"SamePCIe"}`

type allocateCase struct {
	machine *machine
	held    []Held
	pod     *corev1.Pod
	policy  *Policy
	zones   numa.Mask
	want    map[string][]int32
	refused string
	// wantFinal is true when evicting pods would not help.
	wantFinal bool
}

func runAllocateCases(t *testing.T, tests map[string]allocateCase) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.policy == nil {
				test.policy = defaults
			}
			in := Input{Ledger: test.machine.ledger(test.held...), Request: mustParse(t, test.pod), Policy: test.policy, Zones: test.zones}
			allocation, refusal := Allocate(in, nil)
			if fits := Fits(in, nil); (fits == nil) != (refusal == nil) {
				t.Errorf("Fits says %v, Allocate %v", fits, refusal)
			}
			if test.refused != "" {
				if refusal == nil || refusal.Reason != test.refused || refusal.Resolvable == test.wantFinal {
					t.Fatalf("allocation %v, refusal %+v, want %q, final %v", chosen(&allocation), refusal, test.refused, test.wantFinal)
				}
				return
			}
			if refusal != nil {
				t.Fatalf("refused: %+v", refusal)
			}
			if diff := cmp.Diff(test.want, chosen(&allocation)); diff != "" {
				t.Errorf("devices (-want +got):\n%s", diff)
			}
		})
	}
}

func gpus(minors ...int32) map[string][]int32 { return map[string][]int32{"gpu": minors} }

func TestAllocateGPUs(t *testing.T) {
	halves := podOf("koordinator.sh/gpu", "50")
	runAllocateCases(t, map[string]allocateCase{
		"one GPU is the first of an empty machine":                       {machine: eight(), pod: podOf("nvidia.com/gpu", "1"), want: gpus(0)},
		"one GPU goes to a switch that is in use":                        {machine: eight(), held: []Held{whole(t, gpuType, 5)}, pod: podOf("nvidia.com/gpu", "1"), want: gpus(4)},
		"two GPUs share a switch":                                        {machine: eight(), held: []Held{whole(t, gpuType, 0, 2)}, pod: podOf("nvidia.com/gpu", "2"), want: gpus(4, 5)},
		"two GPUs keep the empty NUMA node empty":                        {machine: eight(), held: []Held{whole(t, gpuType, 4)}, pod: podOf("nvidia.com/gpu", "2"), want: gpus(6, 7)},
		"three GPUs share a NUMA node":                                   {machine: eight(), held: []Held{whole(t, gpuType, 0, 1)}, pod: podOf("nvidia.com/gpu", "3"), want: gpus(4, 5, 6)},
		"five GPUs take one NUMA node and one more":                      {machine: eight(), pod: podOf("nvidia.com/gpu", "5"), want: gpus(0, 1, 2, 3, 4)},
		"across switches, the odd one comes from a used switch":          {machine: eight(), held: []Held{whole(t, gpuType, 0)}, pod: podOf("nvidia.com/gpu", "3"), want: gpus(1, 2, 3)},
		"nine GPUs are more than there are":                              {machine: eight(), pod: podOf("nvidia.com/gpu", "9"), refused: "Insufficient gpu devices", wantFinal: true},
		"two GPUs are not left":                                          {machine: eight(), held: []Held{whole(t, gpuType, 0, 1, 2, 3, 4, 5, 6)}, pod: podOf("nvidia.com/gpu", "2"), refused: "Insufficient gpu devices"},
		"a node without GPUs":                                            {machine: newMachine(), pod: podOf("nvidia.com/gpu", "1"), refused: "Insufficient gpu devices", wantFinal: true},
		"a broken GPU is passed over":                                    {machine: eight().broken(gpuType, 0), pod: podOf("nvidia.com/gpu", "1"), want: gpus(1)},
		"only broken GPUs are left":                                      {machine: eight().broken(gpuType, 0, 1, 2, 3, 4, 5, 6, 7), pod: halves, refused: "Insufficient gpu devices", wantFinal: true},
		"a share goes to the emptier GPU of a used switch":               {machine: eight(), held: []Held{share(t, 4, 50)}, pod: halves, want: gpus(5)},
		"a share goes to the fuller GPU when packing":                    {machine: eight(), held: []Held{share(t, 4, 50)}, pod: halves, policy: packing(), want: gpus(4)},
		"a share does not fit beside a larger one":                       {machine: eight(), held: []Held{share(t, 4, 60)}, pod: halves, policy: packing(), want: gpus(5)},
		"shares of two GPUs":                                             {machine: eight(), held: []Held{share(t, 0, 60)}, pod: podOf("koordinator.sh/gpu.shared", "2", "koordinator.sh/gpu-memory-ratio", "100"), want: gpus(2, 3)},
		"whole GPUs are not those with a share":                          {machine: eight(), held: []Held{share(t, 0, 10)}, pod: podOf("nvidia.com/gpu", "8"), refused: "Insufficient gpu devices"},
		"of switches that are both in use, the one with the emptier GPU": {machine: eight(), held: []Held{share(t, 0, 60), share(t, 1, 60), share(t, 2, 10), share(t, 3, 10)}, pod: podOf("koordinator.sh/gpu", "30"), want: gpus(2)},
		"the fifth GPU comes from a switch that has just one":            {machine: eight(), held: []Held{whole(t, gpuType, 6)}, pod: podOf("nvidia.com/gpu", "5"), want: gpus(0, 1, 2, 3, 7)},
		"only GPUs of a model":                                           {machine: withModel(eight(), 6, "A10"), pod: hinted(halves.DeepCopy(), `{"gpu":{"selector":{"matchLabels":{"model":"A10"}}}}`), want: gpus(6)},
		"no GPU of the model":                                            {machine: eight(), pod: hinted(halves.DeepCopy(), `{"gpu":{"selector":{"matchLabels":{"model":"A10"}}}}`), refused: "Insufficient gpu devices", wantFinal: true},
		"GPUs of the pod's NUMA node":                                    {machine: eight(), pod: podOf("nvidia.com/gpu", "2"), zones: numa.MaskOf(1), want: gpus(4, 5)},
		"too few GPUs in the pod's NUMA node":                            {machine: eight(), pod: podOf("nvidia.com/gpu", "5"), zones: numa.MaskOf(1), refused: "Insufficient NUMA Scoped Devices", wantFinal: true},
		"more memory than any GPU has":                                   {machine: eight(), pod: podOf("koordinator.sh/gpu-memory", "65Gi"), refused: "Insufficient gpu devices", wantFinal: true},
		"memory that fits by bytes":                                      {machine: eight(), held: []Held{share(t, 0, 50)}, pod: podOf("koordinator.sh/gpu-memory", "32Gi"), policy: packing(), want: gpus(0)},
		"memory that does not fit by bytes beside what a pod has":        {machine: eight(), held: []Held{share(t, 0, 51)}, pod: podOf("koordinator.sh/gpu-memory", "32Gi"), policy: packing(), want: gpus(1)},
	})
}

func withModel(m *machine, minor int32, model string) *machine {
	m.device(gpuType, minor).Labels = map[string]string{"model": model}
	return m
}

func TestAllocateWithinScopes(t *testing.T) {
	scoped := func(count, scope string) *corev1.Pod {
		return hinted(podOf("nvidia.com/gpu", count), `{"gpu":{"requiredTopologyScope":"`+scope+`"}}`)
	}
	unplaced := eight()
	unplaced.device(gpuType, 3).Topology = nil
	runAllocateCases(t, map[string]allocateCase{
		"one device":                          {machine: eight(), pod: scoped("1", "Device"), want: gpus(0)},
		"two are not one device":              {machine: eight(), pod: scoped("2", "Device"), refused: "Insufficient Topology Scoped GPU Devices"},
		"two on a switch":                     {machine: eight(), held: []Held{whole(t, gpuType, 0, 2, 4)}, pod: scoped("2", "PCIe"), want: gpus(6, 7)},
		"no switch has two left":              {machine: eight(), held: []Held{whole(t, gpuType, 0, 2, 4, 6)}, pod: scoped("2", "PCIe"), refused: "Insufficient Topology Scoped GPU Devices"},
		"four in a NUMA node":                 {machine: eight(), held: []Held{whole(t, gpuType, 0)}, pod: scoped("4", "NUMANode"), want: gpus(4, 5, 6, 7)},
		"no NUMA node has four left":          {machine: eight(), held: []Held{whole(t, gpuType, 0, 7)}, pod: scoped("4", "NUMANode"), refused: "Insufficient Topology Scoped GPU Devices"},
		"six anywhere on the node":            {machine: eight(), held: []Held{whole(t, gpuType, 0, 7)}, pod: scoped("6", "Node"), want: gpus(1, 2, 3, 4, 5, 6)},
		"a scope without topology":            {machine: unplaced, pod: scoped("2", "PCIe"), refused: "node(s) missing GPU Device Topology Tree", wantFinal: true},
		"without topology and without scope":  {machine: unplaced, held: []Held{whole(t, gpuType, 1)}, pod: podOf("nvidia.com/gpu", "2"), want: gpus(0, 2)},
		"two NICs are on one switch at most":  {machine: eight(), pod: hinted(podOf("koordinator.sh/rdma", "200"), `{"rdma":{"requiredTopologyScope":"PCIe"}}`), refused: "Insufficient Topology Scoped RDMA Devices"},
		"two NICs of one NUMA node":           {machine: eight(), held: []Held{whole(t, rdmaType, 0)}, pod: hinted(podOf("koordinator.sh/rdma", "200"), `{"rdma":{"requiredTopologyScope":"NUMANode"}}`), want: map[string][]int32{"rdma": {2, 3}}},
		"a required scope holds for the best": {machine: eight(), held: []Held{whole(t, gpuType, 1)}, pod: scoped("2", "PCIe"), want: gpus(2, 3)},
	})
}

func TestAllocatePartitions(t *testing.T) {
	restricted := func(count string) *corev1.Pod {
		return annotated(podOf("nvidia.com/gpu", count), extension.AnnotationGPUPartitionSpec, `{"allocatePolicy":"Restricted"}`)
	}
	bestEffort := func(count string) *corev1.Pod {
		return annotated(podOf("nvidia.com/gpu", count), extension.AnnotationGPUPartitionSpec, `{}`)
	}
	fast := annotated(podOf("nvidia.com/gpu", "2"), extension.AnnotationGPUPartitionSpec, `{"ringBusBandwidth":"200Gi"}`)
	hopper := func() *machine { return eight().label(extension.LabelGPUModel, "H800") }
	scored := func() *machine {
		return eight().table(`{"2":[{"minors":[0,1],"allocationScore":1},{"minors":[2,3],"allocationScore":9,"ringBusBandwidth":"400Gi"},{"minors":[4,5],"allocationScore":9}]}`)
	}
	honor := func(m *machine) *machine { return m.label(extension.LabelGPUPartitionPolicy, "Honor") }
	runAllocateCases(t, map[string]allocateCase{
		"the best score first":                             {machine: scored(), pod: bestEffort("2"), want: gpus(2, 3)},
		"the next of the best score":                       {machine: scored(), held: []Held{whole(t, gpuType, 2)}, pod: restricted("2"), want: gpus(4, 5)},
		"a lower score when that is allowed":               {machine: scored(), held: []Held{whole(t, gpuType, 2, 4)}, pod: bestEffort("2"), want: gpus(0, 1)},
		"a lower score is not allowed":                     {machine: scored(), held: []Held{whole(t, gpuType, 2, 4)}, pod: restricted("2"), refused: "Insufficient Partitioned GPU Devices"},
		"no partition is left, and one is preferred only":  {machine: scored(), held: []Held{whole(t, gpuType, 0, 2, 4)}, pod: podOf("nvidia.com/gpu", "2"), want: gpus(6, 7)},
		"no partition is left, and the node honours them":  {machine: honor(scored()), held: []Held{whole(t, gpuType, 0, 2, 4)}, pod: podOf("nvidia.com/gpu", "2"), refused: "Insufficient Partitioned GPU Devices"},
		"a ring that is fast enough":                       {machine: scored(), pod: fast, want: gpus(2, 3)},
		"no ring is fast enough":                           {machine: scored(), held: []Held{whole(t, gpuType, 3)}, pod: fast, refused: "Insufficient Partitioned GPU Devices"},
		"no table, and the node honours them":              {machine: honor(eight()), pod: podOf("nvidia.com/gpu", "2"), refused: "node(s) missing GPU Partition Table", wantFinal: true},
		"no table, and the pod demands one":                {machine: eight(), pod: bestEffort("2"), refused: "node(s) missing GPU Partition Table", wantFinal: true},
		"a number that the table does not have":            {machine: honor(scored()), pod: podOf("nvidia.com/gpu", "3"), refused: "node(s) Unsupported number of GPU requests", wantFinal: true},
		"a share does not need a partition":                {machine: honor(scored()), pod: podOf("koordinator.sh/gpu", "50"), want: gpus(0)},
		"built-in: one GPU breaks no whole pair":           {machine: hopper(), held: []Held{whole(t, gpuType, 0, 1, 2)}, pod: podOf("nvidia.com/gpu", "1"), want: gpus(3)},
		"built-in: a pair breaks no whole four":            {machine: hopper(), held: []Held{whole(t, gpuType, 4)}, pod: podOf("nvidia.com/gpu", "2"), want: gpus(6, 7)},
		"built-in: a pair is aligned":                      {machine: honor(hopper()), held: []Held{whole(t, gpuType, 0, 3, 4, 7)}, pod: podOf("nvidia.com/gpu", "2"), refused: "Insufficient Partitioned GPU Devices"},
		"built-in: four are aligned":                       {machine: hopper(), held: []Held{whole(t, gpuType, 2)}, pod: restricted("4"), want: gpus(4, 5, 6, 7)},
		"built-in: six are no partition":                   {machine: honor(hopper()), pod: podOf("nvidia.com/gpu", "6"), refused: "node(s) Unsupported number of GPU requests", wantFinal: true},
		"built-in: six are taken all the same, by default": {machine: hopper(), pod: podOf("nvidia.com/gpu", "6"), want: gpus(0, 1, 2, 3, 4, 5)},
		"a partition within a scope":                       {machine: scored().table(`{"2":[{"minors":[1,2],"allocationScore":9},{"minors":[4,5]}]}`), pod: hinted(bestEffort("2"), `{"gpu":{"requiredTopologyScope":"PCIe"}}`), want: gpus(4, 5)},
		"a partition of a GPU that is not there":           {machine: honor(eight().table(`{"2":[{"minors":[7,8]}]}`)), pod: podOf("nvidia.com/gpu", "2"), refused: "Insufficient Partitioned GPU Devices"},
	})
}

func TestAllocateOtherDevices(t *testing.T) {
	all := `{"rdma":{"allocateStrategy":"ApplyForAll"}}`
	counted := `{"rdma":{"allocateStrategy":"RequestsAsCount"}}`
	counts := `{"rdma":{"allocateStrategy":"RequestsAsCount","exclusivePolicy":"DeviceLevel"}}`
	exclusive := func(policy string, value string) *corev1.Pod {
		return hinted(podOf("koordinator.sh/rdma", value), `{"rdma":{"exclusivePolicy":"`+policy+`"}}`)
	}
	owner := func(policy string) Held {
		pod := hinted(podOf(), `{"rdma":{"exclusivePolicy":"`+policy+`"}}`)
		pod.Annotations[extension.AnnotationDeviceAllocated] = `{"rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"10"}}]}`
		allocation, _ := ReadAllocation(pod)
		return Held{Pod: pod, Allocation: allocation}
	}
	nics := func(minors ...int32) map[string][]int32 { return map[string][]int32{"rdma": minors} }
	narrow := eight() // two NICs on a switch
	narrow.device(rdmaType, 1).Topology.PCIEID = "pcie-0"
	runAllocateCases(t, map[string]allocateCase{
		"a NIC":                                  {machine: eight(), pod: podOf("koordinator.sh/rdma", "100"), want: nics(0)},
		"two NICs":                               {machine: eight(), held: []Held{whole(t, rdmaType, 1)}, pod: podOf("koordinator.sh/rdma", "200"), want: nics(0, 2)},
		"an FPGA":                                {machine: eight(), pod: podOf("koordinator.sh/fpga", "100"), want: map[string][]int32{"fpga": {0}}},
		"the FPGA is taken":                      {machine: eight(), held: []Held{whole(t, fpgaType, 0)}, pod: podOf("koordinator.sh/fpga", "100"), refused: "Insufficient fpga devices"},
		"a share of every NIC":                   {machine: eight(), pod: hinted(podOf("koordinator.sh/rdma", "10"), all), want: nics(0, 1, 2, 3)},
		"a share of every healthy NIC":           {machine: eight().broken(rdmaType, 2), pod: hinted(podOf("koordinator.sh/rdma", "10"), all), want: nics(0, 1, 3)},
		"one NIC of all is full":                 {machine: eight(), held: []Held{whole(t, rdmaType, 3)}, pod: hinted(podOf("koordinator.sh/rdma", "10"), all), refused: "Insufficient rdma devices"},
		"all of none":                            {machine: eight(), pod: hinted(podOf("koordinator.sh/rdma", "10"), `{"rdma":{"allocateStrategy":"ApplyForAll","selector":{"matchLabels":{"a":"b"}}}}`), refused: "Insufficient rdma devices", wantFinal: true},
		"a number of NICs":                       {machine: eight(), pod: hinted(podOf("koordinator.sh/rdma", "3"), counted), want: nics(0, 1, 2)},
		"a number of NICs of its own":            {machine: eight(), held: []Held{owner("DeviceLevel")}, pod: hinted(podOf("koordinator.sh/rdma", "3"), counts), want: nics(1, 2, 3)},
		"a NIC that no such pod has":             {machine: eight(), held: []Held{owner("DeviceLevel")}, pod: exclusive("DeviceLevel", "10"), policy: packing(), want: nics(1)},
		"a NIC of a pod that shares":             {machine: eight(), held: []Held{owner("")}, pod: exclusive("DeviceLevel", "10"), policy: packing(), want: nics(0)},
		"a switch that no such pod has":          {machine: narrow, held: []Held{owner("PCIeLevel")}, pod: exclusive("PCIeLevel", "10"), policy: packing(), want: nics(2)},
		"another policy shares the switch":       {machine: narrow, held: []Held{owner("DeviceLevel")}, pod: exclusive("PCIeLevel", "10"), policy: packing(), want: nics(0)},
		"GPUs and NICs, not jointly":             {machine: eight(), held: []Held{whole(t, rdmaType, 0)}, pod: podOf("nvidia.com/gpu", "1", "koordinator.sh/rdma", "100"), want: map[string][]int32{"gpu": {0}, "rdma": {1}}},
		"GPUs are there, and no NIC is":          {machine: eight(), held: []Held{whole(t, rdmaType, 0, 1, 2, 3)}, pod: podOf("nvidia.com/gpu", "1", "koordinator.sh/rdma", "100"), refused: "Insufficient rdma devices"},
		"exclusive owners leave too few devices": {machine: eight(), held: []Held{owner("DeviceLevel")}, pod: hinted(podOf("koordinator.sh/rdma", "4"), counts), refused: "Insufficient rdma devices"},
	})
}

func TestAllocateJointly(t *testing.T) {
	pair := func(gpus, nics, joint string) *corev1.Pod {
		return joined(podOf("nvidia.com/gpu", gpus, "koordinator.sh/rdma", nics), joint)
	}
	preferred := `{"deviceTypes":["gpu","rdma"]}`
	both := func(gpus, nics []int32) map[string][]int32 { return map[string][]int32{"gpu": gpus, "rdma": nics} }
	linked := eight().table(`{"4":[{"minors":[0,1,2,3]},{"minors":[4,5,6,7]}]}`).label(extension.LabelGPUPartitionPolicy, "Honor")
	runAllocateCases(t, map[string]allocateCase{
		"one GPU with its NIC":                          {machine: eight(), pod: pair("1", "100", samePCIe), want: both([]int32{0}, []int32{0})},
		"one GPU where a NIC is left":                   {machine: eight(), held: []Held{whole(t, rdmaType, 0, 1)}, pod: pair("1", "100", samePCIe), want: both([]int32{4}, []int32{2})},
		"GPUs and NICs are left on different switches":  {machine: eight(), held: []Held{whole(t, rdmaType, 0, 1), whole(t, gpuType, 4, 5, 6, 7)}, pod: pair("1", "100", samePCIe), refused: "node(s) Device Joint-Allocate rules violation"},
		"then the NIC is as near as there is":           {machine: eight(), held: []Held{whole(t, rdmaType, 0, 1), whole(t, gpuType, 4, 5, 6, 7)}, pod: pair("1", "100", preferred), want: both([]int32{0}, []int32{2})},
		"then the NIC is of the same NUMA node":         {machine: eight(), held: []Held{whole(t, rdmaType, 2), whole(t, gpuType, 0, 1, 2, 3, 6, 7)}, pod: pair("1", "100", preferred), want: both([]int32{4}, []int32{3})},
		"four GPUs have a NIC for each switch":          {machine: eight(), pod: pair("4", "100", samePCIe), want: both([]int32{0, 1, 2, 3}, []int32{0, 1})},
		"four GPUs, preferably":                         {machine: eight(), pod: pair("4", "100", preferred), want: both([]int32{0, 1, 2, 3}, []int32{0, 1})},
		"four GPUs where both NICs are left":            {machine: eight(), held: []Held{whole(t, rdmaType, 1)}, pod: pair("4", "100", samePCIe), want: both([]int32{4, 5, 6, 7}, []int32{2, 3})},
		"four GPUs over NUMA nodes, for want of NICs":   {machine: eight(), held: []Held{whole(t, rdmaType, 1, 2)}, pod: pair("4", "100", samePCIe), want: both([]int32{0, 1, 6, 7}, []int32{0, 3})},
		"one GPU with two NICs needs a switch with two": {machine: eight(), pod: pair("1", "200", samePCIe), refused: "node(s) Device Joint-Allocate rules violation"},
		"two GPUs with two NICs take two switches":      {machine: eight(), pod: pair("2", "200", samePCIe), want: both([]int32{0, 2}, []int32{0, 1})},
		"a list with only one of the types asked for":   {machine: eight(), held: []Held{whole(t, rdmaType, 0)}, pod: pair("1", "100", `{"deviceTypes":["gpu","fpga"],"requiredScope":"SamePCIe"}`), want: both([]int32{0}, []int32{1})},
		"three types":                                                 {machine: eight(), held: []Held{whole(t, gpuType, 1)}, pod: joined(podOf("nvidia.com/gpu", "1", "koordinator.sh/rdma", "100", "koordinator.sh/fpga", "100"), `{"deviceTypes":["gpu","rdma","fpga"],"requiredScope":"SamePCIe"}`), want: map[string][]int32{"gpu": {0}, "rdma": {0}, "fpga": {0}}},
		"a partition with all its NICs":                               {machine: linked, held: []Held{whole(t, rdmaType, 1)}, pod: pair("4", "100", samePCIe), want: both([]int32{4, 5, 6, 7}, []int32{2, 3})},
		"no partition with all its NICs":                              {machine: linked, held: []Held{whole(t, rdmaType, 1, 2)}, pod: pair("4", "100", samePCIe), refused: "node(s) Device Joint-Allocate rules violation"},
		"NICs that apply for all are not joint":                       {machine: eight(), held: []Held{whole(t, gpuType, 0, 1)}, pod: hinted(pair("1", "10", samePCIe), `{"rdma":{"allocateStrategy":"ApplyForAll"}}`), want: both([]int32{2}, []int32{0, 1, 2, 3})},
		"two NICs of one switch where the scope requires that":        {machine: twoNICsOnSwitch(), pod: hinted(pair("2", "200", samePCIe), `{"rdma":{"requiredTopologyScope":"PCIe"}}`), want: both([]int32{6, 7}, []int32{3, 4})},
		"the first of the list is not the first to place":             {machine: eight(), held: []Held{whole(t, rdmaType, 0, 1)}, pod: pair("1", "100", `{"deviceTypes":["rdma","gpu"],"requiredScope":"SamePCIe"}`), want: both([]int32{4}, []int32{2})},
		"NICs and FPGAs without GPUs":                                 {machine: eight(), pod: joined(podOf("koordinator.sh/rdma", "100", "koordinator.sh/fpga", "100"), `{"deviceTypes":["rdma","fpga"],"requiredScope":"SamePCIe"}`), want: map[string][]int32{"rdma": {0}, "fpga": {0}}},
		"NICs of one NUMA node, though another would leave none over": {machine: unevenNICs(), pod: joined(podOf("koordinator.sh/rdma", "300", "koordinator.sh/fpga", "100"), `{"deviceTypes":["rdma","fpga"],"requiredScope":"SamePCIe"}`), want: map[string][]int32{"rdma": {0, 1, 2}, "fpga": {0, 1}}},
		"too few NICs at all, jointly, is said to be just that":       {machine: eight(), held: []Held{whole(t, rdmaType, 0, 1, 2, 3)}, pod: pair("1", "100", samePCIe), refused: "Insufficient rdma devices"},
		"too few GPUs at all, jointly, is said to be just that":       {machine: eight(), held: []Held{whole(t, gpuType, 0, 1, 2, 3, 4, 5, 6, 7)}, pod: pair("1", "100", samePCIe), refused: "Insufficient gpu devices"},
		"preferred: one switch has a NIC, the other does not":         {machine: eight(), held: []Held{whole(t, rdmaType, 1, 2, 3)}, pod: pair("4", "100", preferred), want: both([]int32{0, 1, 2, 3}, []int32{0})},
	})
}

// unevenNICs has two NICs on each of the two switches of NUMA node 0 and one on that of NUMA node 1, each with an FPGA.
func unevenNICs() *machine {
	m := newMachine()
	for minor, pcie := range []int32{0, 0, 1, 1, 2} {
		m.nic(int32(minor), pcie/2, fmt.Sprint("pcie-", pcie))
	}
	for pcie := range int32(3) {
		m.add(fpgaType, pcie, pcie/2, fmt.Sprint("pcie-", pcie), list("koordinator.sh/fpga", "100"))
	}
	return m
}

func twoNICsOnSwitch() *machine {
	m := eight()
	m.nic(4, 1, "pcie-3")
	return m
}
