package device

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// world is a small machine with pods and a request, in plain numbers that the oracle reads.
type world struct {
	machine *machine
	held    []Held
	pod     *corev1.Pod

	gpus, nics []oracleDevice
	// The request.
	gpuCount, gpuShare int
	nicCount, nicShare int
	scope              level
	samePCIe           bool
	partitions         []extension.GPUPartition
	best               bool
}

type oracleDevice struct {
	healthy    bool
	pcie, zone int
	used       int
}

func drawWorld(t *rapid.T) *world {
	w := &world{machine: newMachine()}
	draw := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
	devices := func(kind schedulingv1alpha1.DeviceType, most int) []oracleDevice {
		list := make([]oracleDevice, draw(1, most, "devices"))
		for i := range list {
			d := &list[i]
			d.pcie = draw(0, 3, "pcie")
			d.zone = d.pcie / 2
			d.healthy = draw(0, 7, "broken") > 0
			d.used = []int{0, 0, 0, 30, 60, 100}[draw(0, 5, "used")]
			var info *schedulingv1alpha1.DeviceInfo
			if kind == gpuType {
				info = w.machine.gpu(int32(i), int32(d.zone), fmt.Sprintf("pcie-%d", d.pcie))
			} else {
				info = w.machine.nic(int32(i), int32(d.zone), fmt.Sprintf("pcie-%d", d.pcie))
			}
			info.Health = d.healthy
			if d.used > 0 {
				resources := fmt.Sprintf(`"koordinator.sh/rdma":"%d"`, d.used)
				if kind == gpuType {
					resources = fmt.Sprintf(`"koordinator.sh/gpu-core":"%d","koordinator.sh/gpu-memory-ratio":"%d"`, d.used, d.used)
				}
				w.held = append(w.held, heldBy(fmt.Sprintf("%s-%d", kind, i), fmt.Sprintf(`{"%s":[{"minor":%d,"resources":{%s}}]}`, kind, i, resources)))
			}
		}
		return list
	}
	w.gpus, w.nics = devices(gpuType, 6), devices(rdmaType, 4)
	w.drawRequest(t)
	return w
}

func heldBy(name, annotation string) Held {
	pod := annotated(podOf(), extension.AnnotationDeviceAllocated, annotation)
	pod.Name = name
	allocation, _ := ReadAllocation(pod)
	return Held{Pod: pod, Allocation: allocation}
}

func (w *world) drawRequest(t *rapid.T) {
	draw := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
	w.gpuCount, w.gpuShare = draw(1, 4, "gpus"), 100
	if draw(0, 2, "share") == 0 {
		w.gpuShare = []int{10, 40, 70}[draw(0, 2, "part")]
	}
	w.nicCount, w.nicShare = draw(0, 2, "nics"), 100
	if w.nicCount == 1 && draw(0, 1, "nic share") == 0 {
		w.nicShare = 40
	}
	w.scope = []level{anywhere, anywhere, oneDevice, onePCIe, oneNUMANode, wholeNode}[draw(0, 5, "scope")]
	w.samePCIe = w.nicCount > 0 && draw(0, 1, "joint") == 1
	total := fmt.Sprint(w.gpuCount * w.gpuShare)
	pairs := []string{"koordinator.sh/gpu.shared", fmt.Sprint(w.gpuCount), "koordinator.sh/gpu-core", total, "koordinator.sh/gpu-memory-ratio", total}
	if w.nicCount > 0 {
		pairs = append(pairs, "koordinator.sh/rdma", fmt.Sprint(w.nicCount*w.nicShare))
	}
	w.pod = podOf(pairs...)
	hinted(w.pod, fmt.Sprintf(`{"gpu":{"requiredTopologyScope":"%s"}}`, []string{"", "Device", "PCIe", "NUMANode", "Node"}[w.scope]))
	if w.samePCIe {
		joined(w.pod, samePCIe)
	}
	if w.gpuShare == 100 && draw(0, 2, "partitions") == 0 {
		w.drawPartitions(t)
	}
}

func (w *world) drawPartitions(t *rapid.T) {
	table := extension.GPUPartitionTable{}
	for range rapid.IntRange(1, 4).Draw(t, "partitions") {
		minors := rapid.SliceOfNDistinct(rapid.IntRange(0, len(w.gpus)), w.gpuCount, w.gpuCount, rapid.ID[int])
		if w.gpuCount > len(w.gpus) {
			break
		}
		table[w.gpuCount] = append(table[w.gpuCount], extension.GPUPartition{Minors: minors.Draw(t, "minors"), AllocationScore: rapid.IntRange(0, 2).Draw(t, "score")})
	}
	w.best = rapid.Bool().Draw(t, "best")
	w.partitions = table[w.gpuCount]
	if len(w.partitions) == 0 {
		return
	}
	if err := extension.SetGPUPartitionTable(&w.machine.object, table); err != nil {
		t.Fatal(err)
	}
	policy := "BestEffort"
	if w.best {
		policy = "Restricted"
	}
	annotated(w.pod, extension.AnnotationGPUPartitionSpec, `{"allocatePolicy":"`+policy+`"}`)
}

// valid reports whether sets of GPUs and NICs serve the request, by its definition.
func (w *world) valid(gpuSet, nicSet uint) bool {
	if bits.OnesCount(gpuSet) != w.gpuCount || !usableSet(w.gpus, gpuSet, w.gpuShare) || !usableSet(w.nics, nicSet, w.nicShare) {
		return false
	}
	switches, zones := placesOf(w.gpus, gpuSet)
	switch w.scope {
	case oneDevice:
		if w.gpuCount > 1 {
			return false
		}
	case onePCIe:
		if bits.OnesCount(switches) > 1 {
			return false
		}
	case oneNUMANode:
		if bits.OnesCount(zones) > 1 {
			return false
		}
	}
	if len(w.partitions) > 0 && !w.isPartition(gpuSet) {
		return false
	}
	if !w.samePCIe {
		return bits.OnesCount(nicSet) == w.nicCount
	}
	nicSwitches, _ := placesOf(w.nics, nicSet)
	return nicSwitches == switches && bits.OnesCount(nicSet) == max(w.nicCount, bits.OnesCount(switches))
}

func (w *world) isPartition(gpuSet uint) bool {
	best := -1
	for _, p := range w.partitions {
		if known(p, len(w.gpus)) {
			best = max(best, p.AllocationScore)
		}
	}
	return slices.ContainsFunc(w.partitions, func(p extension.GPUPartition) bool {
		members := uint(0)
		for _, minor := range p.Minors {
			if minor < len(w.gpus) && w.gpus[minor].used > 0 {
				return false
			}
			members |= 1 << minor
		}
		return known(p, len(w.gpus)) && members == gpuSet && (!w.best || p.AllocationScore == best)
	})
}

func known(p extension.GPUPartition, gpus int) bool { return slices.Max(p.Minors) < gpus }

func usableSet(devices []oracleDevice, members uint, each int) bool {
	for i, d := range devices {
		if members&(1<<i) != 0 && (!d.healthy || d.used+each > 100) {
			return false
		}
	}
	return true
}

func placesOf(devices []oracleDevice, members uint) (switches, zones uint) {
	for i, d := range devices {
		if members&(1<<i) != 0 {
			switches |= 1 << d.pcie
			zones |= 1 << d.zone
		}
	}
	return switches, zones
}

// possible tries everything.
func (w *world) possible() bool {
	for gpuSet := range uint(1) << len(w.gpus) {
		for nicSet := range uint(1) << len(w.nics) {
			if w.valid(gpuSet, nicSet) {
				return true
			}
		}
	}
	return false
}

func setOf(minors []int32) uint {
	members := uint(0)
	for _, minor := range minors {
		members |= 1 << minor
	}
	return members
}

func TestAllocateFindsWhatThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		request, refusal := ParseRequest(w.pod, defaults, nil)
		if refusal != nil {
			t.Fatal(refusal)
		}
		in := Input{Ledger: w.machine.ledger(w.held...), Request: request, Policy: defaults}
		allocation, refusal := Allocate(in, nil)
		if traced, same := Allocate(in, &Trace{}); same != refusal || !cmp.Equal(traced.Items, allocation.Items, cmpopts.IgnoreUnexported(Item{})) {
			t.Fatalf("with a trace %+v (%v), without %+v (%v)", traced, same, allocation, refusal)
		}
		if fits := Fits(in, nil); (fits == nil) != (refusal == nil) || fits != nil && *fits != *refusal {
			t.Fatalf("Fits says %v, Allocate %v", fits, refusal)
		}
		if possible := w.possible(); possible != (refusal == nil) {
			t.Fatalf("possible %v, refusal %v", possible, refusal)
		}
		if refusal != nil {
			if got := CodeOf(refusal.Reason); got != refusal.Code {
				t.Fatalf("code %q of %q, want %q", got, refusal.Reason, refusal.Code)
			}
			if !refusal.Resolvable {
				in.Ledger = in.Ledger.Vacant()
				if Fits(in, nil) == nil {
					t.Fatalf("%+v is said to be final, and an empty node fits", refusal)
				}
			}
			return
		}
		taken := chosen(&allocation)
		if !w.valid(setOf(taken["gpu"]), setOf(taken["rdma"])) {
			t.Fatalf("%v does not serve the request", taken)
		}
		reserved := heldBy("reserve", `{"gpu":[{"minor":1},{"minor":4}],"rdma":[{"minor":2}]}`)
		in.Preferred = &reserved.Allocation
		other, refusal := Allocate(in, nil)
		if taken := chosen(&other); refusal != nil || !w.valid(setOf(taken["gpu"]), setOf(taken["rdma"])) {
			t.Fatalf("with preferred devices, %v does not serve the request: %v", taken, refusal)
		}
		in.Preferred = nil
		again, _ := Allocate(in, nil)
		if !sameMinors(&allocation, &again) {
			t.Fatalf("%v, then %v", taken, chosen(&again))
		}
	})
}

// TestNothingIsGivenTwice schedules pods one after the other, as the scheduler does: each reads what the others hold from
// the annotations they were given.
func TestNothingIsGivenTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := DecodeNode(&eight().object)
		var held []Held
		for i := range rapid.IntRange(1, 40).Draw(t, "pods") {
			pod := drawPod(t)
			pod.Name = fmt.Sprint("pod-", i)
			request, refusal := ParseRequest(pod, defaults, nil)
			if refusal != nil {
				t.Fatal(refusal)
			}
			allocation, refusal := Allocate(Input{Ledger: NewLedger(node, nil, held), Request: request, Policy: defaults}, nil)
			if refusal != nil {
				continue
			}
			if err := extension.SetDeviceAllocations(pod, allocation.Annotation()); err != nil {
				t.Fatal(err)
			}
			read, found := ReadAllocation(pod)
			if !found {
				t.Fatalf("nothing is read back from %v", pod.Annotations)
			}
			held = append(held, Held{Pod: pod, Allocation: read})
			if rapid.IntRange(0, 3).Draw(t, "gone") == 0 {
				held = slices.Delete(held, 0, 1)
			}
		}
		checkSums(t, node, held)
	})
}

func drawPod(t *rapid.T) *corev1.Pod {
	number := func(low, high int) string { return fmt.Sprint(rapid.IntRange(low, high).Draw(t, "amount")) }
	var pairs []string
	switch rapid.IntRange(0, 4).Draw(t, "request") {
	case 0:
		pairs = []string{"nvidia.com/gpu", number(1, 3)}
	case 1:
		pairs = []string{"koordinator.sh/gpu", number(1, 100)}
	case 2:
		pairs = []string{"koordinator.sh/gpu-core", number(1, 100), "koordinator.sh/gpu-memory", fmt.Sprint(rapid.Int64Range(1, 64<<30).Draw(t, "bytes"))}
	case 3:
		pairs = []string{"koordinator.sh/gpu-memory", fmt.Sprint(rapid.Int64Range(1, 64<<30).Draw(t, "bytes"))}
	}
	if len(pairs) == 0 || rapid.Bool().Draw(t, "rdma") {
		pairs = append(pairs, "koordinator.sh/rdma", number(1, 40))
	}
	pod := podOf(pairs...)
	if rapid.Bool().Draw(t, "function") {
		hinted(pod, `{"rdma":{"vfSelector":{}}}`)
	}
	return pod
}

func checkSums(t *rapid.T, node *Node, held []Held) {
	sums := map[string]Amount{}
	functions := map[string]string{}
	for _, h := range held {
		for _, item := range h.Allocation.Items {
			key := fmt.Sprint(item.kind, item.Minor)
			sum := sums[key]
			sum.add(&item.Amount)
			sums[key] = sum
			total := node.devices[item.kind][item.Minor].total
			if _, lacks := sum.lack(&total, item.kind); lacks {
				t.Fatalf("%s holds %v of %v", key, sum, total)
			}
			if item.kind == gpu && item.Amount[ratio] != BytesToRatio(item.Amount[memory], total[memory]) && item.Amount[memory] != RatioToBytes(item.Amount[ratio], total[memory]) {
				t.Fatalf("%d%% and %d bytes", item.Amount[ratio], item.Amount[memory])
			}
			for _, vf := range item.Functions {
				if other := functions[vf.BusID]; other != "" {
					t.Fatalf("%s and %s both have virtual function %s", other, h.Pod.Name, vf.BusID)
				}
				functions[vf.BusID] = h.Pod.Name
			}
		}
	}
}

func TestRatioOfBytesOfRatio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(100, amountLimit).Draw(t, "total")
		percent := rapid.Int64Range(0, 100).Draw(t, "percent")
		bytes := RatioToBytes(percent, total)
		if back := BytesToRatio(bytes, total); back != percent && back != percent-1 || bytes > total {
			t.Fatalf("%d%% of %d is %d bytes, which is %d%%", percent, total, bytes, back)
		}
		if total%100 == 0 && BytesToRatio(bytes, total) != percent {
			t.Fatalf("%d%% of %d does not come back", percent, total)
		}
	})
}
