package numa

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cpuset"
)

func drawPod(t *rapid.T, policy extension.NUMATopologyPolicy) *corev1.Pod {
	qos := rapid.SampledFrom([]extension.QoSClass{lsr, ls}).Draw(t, "qos")
	cpu := rapid.Int64Range(0, 9000).Draw(t, "cpu")
	if qos == lsr {
		cpu = cpu / 1000 * 1000
	}
	annotations := map[string]string{extension.AnnotationResourceSpec: rapid.SampledFrom([]string{
		``, `{"requiredCPUBindPolicy":"FullPCPUs"}`, `{"requiredCPUBindPolicy":"SpreadByPCPUs"}`,
		`{"preferredCPUBindPolicy":"SpreadByPCPUs","preferredCPUExclusivePolicy":"PCPULevel"}`,
	}).Draw(t, "spec")}
	if policy == "" {
		annotations[extension.AnnotationNUMATopologySpec] = rapid.SampledFrom([]string{
			``, `{"numaTopologyPolicy":"SingleNUMANode"}`, `{"numaTopologyPolicy":"Restricted","singleNUMANodeExclusive":"Required"}`, `{"numaTopologyPolicy":"BestEffort"}`,
		}).Draw(t, "align")
	}
	pod := newPod(qos, annotations)
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
		"cpu": *resource.NewMilliQuantity(cpu, resource.DecimalSI), "memory": *resource.NewQuantity(rapid.Int64Range(0, 4).Draw(t, "memory")<<30, resource.BinarySI),
	}
	return pod
}

// TestLedgerNeverOverflows fills nodes with pods and checks, after each, that no CPU has two owners, that no zone gives
// more than it has, and that what Filter promised Allocate kept.
func TestLedgerNeverOverflows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := DefaultArgs()
		policy := rapid.SampledFrom([]string{"", "SingleNUMANode", "Restricted", "BestEffort"}).Draw(t, "policy")
		object := newNode(labelNUMA, policy,
			extension.LabelNodeNUMAAllocateStrategy, rapid.SampledFrom([]string{"", "MostAllocated", "LeastAllocated", "DistributeEvenly"}).Draw(t, "strategy"),
			ratioKey, rapid.SampledFrom([]string{"", `{"cpu":1.5}`, `{"cpu":1.37,"memory":1.1}`}).Draw(t, "ratio"),
			extension.AnnotationNodeReservation, rapid.SampledFrom([]string{"", `{"reservedCPUs":"0-2"}`}).Draw(t, "reserved"))
		reported := newTopology(rapid.IntRange(1, 3).Draw(t, "zones"), rapid.IntRange(2, 4).Draw(t, "cores"))
		if rapid.Bool().Draw(t, "offline") { // then cores differ, and CPUs cannot be counted
			reported.Annotations[extension.AnnotationNodeCPUTopology] = strings.Replace(reported.Annotations[extension.AnnotationNodeCPUTopology], "{\"id\":1,\"core\":0,\"socket\":0,\"node\":0},", "", 1)
		}
		node := Observe(object, reported)
		if len(node.Problems) > 0 {
			t.Fatal(node.Problems)
		}
		var holders []Holder
		for range 12 {
			pod := drawPod(t, extension.NUMATopologyPolicy(policy))
			request, verdict := RequestOf(pod, args)
			if !verdict.Passed() {
				t.Fatal(verdict.Reason())
			}
			in := Input{
				Args: args, Ledger: NewLedger(node, holders), Request: request, AllocatableMilliCPU: 1 << 40,
				Preferred: cpuset.Of(rapid.SliceOfN(rapid.IntRange(0, 23), 0, 4).Draw(t, "preferred")...),
			}
			hint, verdict := Filter(in, nil)
			trace := &Trace{}
			if again, same := Filter(in, trace); again != hint || same != verdict || trace.Message(verdict) == "" {
				t.Fatalf("with a trace %+v %+v, without %+v %+v", again, same, hint, verdict)
			}
			score := Score(in, hint, func(corev1.ResourceName) Usage { return Usage{Allocatable: 100000, Requested: 50000} })
			if score < 0 || score > MaxScore {
				t.Fatalf("score %d", score)
			}
			if got := CodeOf(verdict.Reason()); got != verdict.Code {
				t.Fatalf("code %q of %q, want %q", got, verdict.Reason(), verdict.Code)
			}
			if !verdict.Passed() {
				continue
			}
			allocation, verdict := Allocate(in, hint, nil)
			if !verdict.Passed() {
				t.Fatalf("Filter passes, Allocate refuses: %s", verdict.Reason())
			}
			checkAllocation(t, in, allocation, hint)
			if !allocation.IsEmpty() {
				holders = append(holders, Holder{Allocation: allocation})
				checkTotals(t, node, holders)
			}
		}
	})
}

func checkAllocation(t *rapid.T, in Input, allocation Allocation, hint Hint) {
	wished, verdict := agree(in.Request, in.Ledger.Node)
	if !verdict.Passed() {
		t.Fatal(verdict.Reason())
	}
	if allocation.CPUs.Len() != wished.count || !in.Ledger.Free.ContainsAll(allocation.CPUs) {
		t.Fatalf("took %s of %s, %d wanted", allocation.CPUs, in.Ledger.Free, wished.count)
	}
	if wished.align == "" {
		return
	}
	given := Amounts{}
	for _, share := range allocation.Shares {
		for name, amount := range share.Amounts {
			given[name] += amount
		}
		if wished.align == single && !hint.Mask.Has(share.Zone) {
			t.Fatalf("share of zone %d, hint %s", share.Zone, hint.Mask)
		}
	}
	if wished.align == single && len(allocation.Shares) > 1 {
		t.Fatalf("shares of %d zones", len(allocation.Shares))
	}
	if diff := cmp.Diff(in.Request.Amounts, given); diff != "" {
		t.Fatalf("given (-want +got):\n%s", diff)
	}
}

func checkTotals(t *rapid.T, node *Node, holders []Holder) {
	var owned cpuset.CPUSet
	used := make([]Amounts, len(node.Zones))
	for i := range used {
		used[i] = Amounts{}
	}
	for _, holder := range holders {
		if holder.CPUs.Meets(owned) || !node.Usable.ContainsAll(holder.CPUs) {
			t.Fatalf("CPUs %s are owned twice, or kept out", holder.CPUs)
		}
		owned = owned.Union(holder.CPUs)
		for i, zone := range node.Zones {
			bound := int64(holder.CPUs.Intersection(node.CPUs.Node(zone.ID)).Len()) * 1000
			used[i]["cpu"] += capacity.Amplify(bound, node.Ratio)
			for _, share := range holder.Shares {
				for name, amount := range share.Amounts {
					if share.Zone == zone.ID && (name != "cpu" || holder.CPUs.IsEmpty()) {
						used[i][name] += amount
					}
				}
			}
		}
	}
	for i, zone := range node.Zones {
		for name, amount := range used[i] {
			if amount > zone.Total[name] {
				t.Fatalf("zone %d gives %d %s of %d", zone.ID, amount, name, zone.Total[name])
			}
		}
	}
}

// TestHeldReadsWhatStatusWrites makes sure that a restarted scheduler has the same ledger.
func TestHeldReadsWhatStatusWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Allocation{CPUs: cpuset.Of(rapid.SliceOfN(rapid.IntRange(0, 300), 1, 20).Draw(t, "cpus")...)}
		for zone := range rapid.IntRange(0, 3).Draw(t, "zones") {
			want.Shares = append(want.Shares, Share{Zone: zone, Amounts: Amounts{
				"cpu": rapid.Int64Range(1, 1e6).Draw(t, "cpu"), "memory": rapid.Int64Range(1, 1<<40).Draw(t, "memory"), extension.BatchCPU: rapid.Int64Range(1, 1e6).Draw(t, "batch"),
			}})
		}
		pod := newPod(lsr, map[string]string{}, "cpu", "1")
		if err := extension.SetResourceStatus(pod, want.Status()); err != nil {
			t.Fatal(err)
		}
		got, found := Held(pod)
		if diff := cmp.Diff(want, got, cmp.Comparer(cpuset.CPUSet.Equal)); !found || diff != "" {
			t.Fatalf("found %v (-want +got):\n%s", found, diff)
		}
	})
}

// TestWhatAReservationLendsCountsOnce shows a ledger with a reservation, and a pod that uses half of it.
func TestWhatAReservationLendsCountsOnce(t *testing.T) {
	text := `{"cpuset":"0-3","numaNodeResources":[{"node":0,"resources":{"cpu":"4","memory":"4Gi"}}]}`
	owner := status(`{"cpuset":"0-1","numaNodeResources":[{"node":0,"resources":{"cpu":"2","memory":"2Gi"}}]}`)
	owner.Annotations[extension.AnnotationReservationAllocated] = `{"name":"r","uid":"r"}`
	ledger := ledgerOf(t, Observe(newNode(), newTopology(2, 4)), status(text), owner)
	ledger.Holders[0].UID = "r"
	ledger = NewLedger(ledger.Node, ledger.Holders)
	want := Amounts{"cpu": 4000, "memory": 6 << 30}
	if diff := cmp.Diff(want, ledger.Zones[0].Free); diff != "" || ledger.Free.Len() != 12 {
		t.Errorf("%d CPUs free (-want +got):\n%s", ledger.Free.Len(), diff)
	}
}

func FuzzHeld(f *testing.F) {
	f.Add(`{"cpuset":"0-3","numaNodeResources":[{"node":0,"resources":{"cpu":"4"}}]}`)
	f.Add(`{"cpuset":"3-0"}`)
	f.Add(`{"numaNodeResources":[{"node":-1,"resources":{"cpu":"-4","memory":"1e900"}}]}`)
	node := Observe(newNode(), newTopology(2, 2))
	f.Fuzz(func(_ *testing.T, text string) {
		if held, found := Held(status(text)); found {
			NewLedger(node, []Holder{{Allocation: held}})
		}
	})
}

func FuzzObserve(f *testing.F) {
	f.Add(`{"detail":[{"id":0,"core":0,"socket":0,"node":0}]}`, `[{"cpuset":"0","managedByKubelet":true}]`, `{"policy":"static","reservedCPUs":"1"}`, `{"reservedCPUs":"0"}`, "node-0")
	f.Fuzz(func(_ *testing.T, topology, pods, kubelet, reservation, zone string) {
		reported := newTopology(1, 1)
		reported.Annotations[extension.AnnotationNodeCPUTopology] = topology
		reported.Annotations[extension.AnnotationNodePodCPUAllocs] = pods
		reported.Annotations[extension.AnnotationKubeletCPUManagerPolicy] = kubelet
		reported.Zones[0].Name = zone
		node := Observe(newNode(extension.AnnotationNodeReservation, reservation, extension.AnnotationSystemQOSResource, reservation), reported)
		in := Input{Args: DefaultArgs(), Ledger: NewLedger(node, nil), Request: &Request{Bind: true, Amounts: Amounts{"cpu": 1000}, Preferred: "FullPCPUs", Policy: bestEffort}, AllocatableMilliCPU: 1 << 40}
		if hint, verdict := Filter(in, nil); verdict.Passed() {
			if _, refused := Allocate(in, hint, nil); !refused.Passed() {
				panic(refused.Reason())
			}
		}
	})
}
