package simulated

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const (
	core = int64(1e9)
	gib  = int64(1 << 30)
)

func amount(cores, gibs int64) podrequest.Amount {
	return podrequest.Amount{MilliCPU: cores * 1000, Memory: gibs * gib}
}

// testHost is a machine of 16 cores and 64 GiB.
func testHost(node Node, pods ...*Pod) *Host {
	if node.Capacity == (podrequest.Amount{}) {
		node.Capacity = amount(16, 64)
	}
	h := New(1, node, testclock.NewFakePassiveClock(noon), Timeline{})
	h.SetPods(pods)
	return h
}

func testPod(name string, band extension.PriorityClass, profile Profile, request podrequest.Amount) *Pod {
	return &Pod{
		UID: types.UID(name), Workload: "shop/" + name, Name: "shop/" + name, Band: band, Profile: profile,
		Request: request, Started: noon.Add(-48 * time.Hour),
	}
}

func TestServicesFollowTheDay(t *testing.T) {
	h := testHost(Node{}, testPod("web", extension.PriorityProd, ProfileService, amount(4, 8)))
	lowest, highest := math.Inf(1), 0.0
	for at := noon; at.Before(noon.Add(24 * time.Hour)); at = at.Add(time.Minute) {
		_, pods := h.At(at)
		percent := float64(pods[0].NanoCores) / float64(4*core) * 100
		lowest, highest = min(lowest, percent), max(highest, percent)
	}
	if lowest < 10 || highest > 40 {
		t.Errorf("a service uses %.1f to %.1f%% of its request over a day, want 10 to 40", lowest, highest)
	}
	if highest < 1.5*lowest {
		t.Errorf("a service uses %.1f to %.1f%% of its request over a day, want a clear peak", lowest, highest)
	}
}

func TestProfiles(t *testing.T) {
	tests := map[string]struct {
		pod               *Pod
		percent           float64
		limit             podrequest.Amount
		wantLow, wantHigh float64 // percent of the request
	}{
		"steady":                       {pod: testPod("a", extension.PriorityProd, ProfileSteady, amount(4, 8)), wantLow: 24, wantHigh: 26},
		"hot":                          {pod: testPod("a", extension.PriorityProd, ProfileHot, amount(4, 8)), wantLow: 86, wantHigh: 94},
		"hot at 150%":                  {pod: testPod("a", extension.PriorityProd, ProfileHot, amount(4, 8)), percent: 150, wantLow: 144, wantHigh: 156},
		"a limit holds":                {pod: testPod("a", extension.PriorityProd, ProfileHot, amount(4, 8)), percent: 150, limit: amount(4, 8), wantLow: 99.9, wantHigh: 100},
		"batch takes what it requests": {pod: testPod("a", extension.PriorityBatch, ProfileBatch, amount(4, 8)), wantLow: 90, wantHigh: 100},
		"batch takes its limit":        {pod: testPod("a", extension.PriorityBatch, ProfileBatch, amount(4, 8)), limit: amount(8, 8), wantLow: 180, wantHigh: 200},
		"batch at 50%":                 {pod: testPod("a", extension.PriorityBatch, ProfileBatch, amount(4, 8)), percent: 50, wantLow: 45, wantHigh: 50},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.pod.CPUPercent, test.pod.Limit = test.percent, test.limit
			h := testHost(Node{}, test.pod)
			for at := noon; at.Before(noon.Add(time.Hour)); at = at.Add(7 * time.Second) {
				_, pods := h.At(at)
				if got := float64(pods[0].NanoCores) / float64(4*core) * 100; got < test.wantLow || got > test.wantHigh {
					t.Fatalf("at %s the pod uses %.1f%% of its request, want %g to %g", at, got, test.wantLow, test.wantHigh)
				}
			}
		})
	}
}

func TestLowerPrioritiesAreSqueezedFirst(t *testing.T) {
	full := func(name string, band extension.PriorityClass) *Pod {
		pod := testPod(name, band, ProfileBatch, amount(6, 40))
		pod.CPUPercent = 100
		return pod
	}
	h := testHost(Node{},
		full("free", extension.PriorityFree), full("batch-1", extension.PriorityBatch), full("batch-2", extension.PriorityBatch),
		full("mid", extension.PriorityMid), full("prod", extension.PriorityProd))
	const rounding = 10 // of nano-cores and bytes, left over by squeezing the others
	system, use := h.At(noon)
	free, batch1, batch2, mid, prod := use[0], use[1], use[2], use[3], use[4]
	if prod.NanoCores < 5*core || mid.NanoCores < 5*core || free.NanoCores > rounding || free.Memory > rounding {
		t.Errorf("prod, mid, free use %d, %d, %d nano-cores, want about 6 cores each and nothing", prod.NanoCores, mid.NanoCores, free.NanoCores)
	}
	left := 16*core - system.NanoCores - prod.NanoCores - mid.NanoCores
	if left < 3*core {
		t.Fatalf("only %d nano-cores are left to batch pods: nothing to see", left)
	}
	if sum := batch1.NanoCores + batch2.NanoCores; sum > left || sum < left-rounding {
		t.Errorf("batch pods use %d together, want all of the %d left", sum, left)
	}
	if batch1.NanoCores < left*4/10 || batch2.NanoCores < left*4/10 {
		t.Errorf("batch pods use %d and %d of %d, want about half each", batch1.NanoCores, batch2.NanoCores, left)
	}
	if batch1.Memory+batch2.Memory+free.Memory+mid.Memory+prod.Memory+system.Memory > 64*gib {
		t.Error("more memory is used than there is")
	}
}

func TestHotNode(t *testing.T) {
	tests := map[string]struct {
		limit    podrequest.Amount
		wantLow  float64
		wantHigh float64
	}{
		"services are driven up":                 {wantLow: 80, wantHigh: 90},
		"a limit of 8 cores keeps a node cooler": {limit: amount(8, 8), wantLow: 50, wantHigh: 56},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := testPod("web", extension.PriorityProd, ProfileService, amount(4, 8))
			pod.Limit = test.limit
			h := testHost(Node{HotPercent: 85}, pod)
			for at := noon; at.Before(noon.Add(time.Hour)); at = at.Add(time.Minute) {
				system, pods := h.At(at)
				if got := float64(system.NanoCores+pods[0].NanoCores) / float64(16*core) * 100; got < test.wantLow || got > test.wantHigh {
					t.Fatalf("at %s the node uses %.1f%%, want %g to %g", at, got, test.wantLow, test.wantHigh)
				}
			}
		})
	}
}

func TestMemoryGrowsToAPlateauBelowTheRequest(t *testing.T) {
	pod := testPod("web", extension.PriorityProd, ProfileService, amount(4, 8))
	pod.Started = noon
	h := testHost(Node{}, pod)
	at := func(age time.Duration) int64 {
		_, pods := h.At(noon.Add(age))
		return pods[0].Memory
	}
	if before := at(-time.Second); before != 0 {
		t.Errorf("a pod that has not started uses %d bytes", before)
	}
	young, grown, old := at(time.Minute), at(24*time.Hour), at(48*time.Hour)
	if young <= 0 || grown < 2*young {
		t.Errorf("memory grows from %d to %d in a day, want it to double at least", young, grown)
	}
	if diff := math.Abs(float64(old-grown)) / float64(grown); diff > 0.03 {
		t.Errorf("memory changes by %.0f%% on the second day, want a plateau", diff*100)
	}
	if old > 8*gib {
		t.Errorf("memory %d is above the request", old)
	}
}

func TestReadCountsCPUTime(t *testing.T) {
	clock := testclock.NewFakePassiveClock(noon)
	pod := testPod("hot", extension.PriorityProd, ProfileHot, amount(10, 8))
	h := New(1, Node{Capacity: amount(16, 64)}, clock, Timeline{Origin: noon, Speed: 60})
	h.SetPods([]*Pod{pod})
	var first, second host.Snapshot
	if err := h.Read(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	clock.SetTime(noon.Add(10 * time.Second))
	if err := h.Read(t.Context(), &second); err != nil {
		t.Fatal(err)
	}
	if got := second.Time.Sub(first.Time); got != 10*time.Minute {
		t.Errorf("ten seconds at speed 60 are %s of simulated time, want 10m", got)
	}
	used := second.Pods[0].CPU - first.Pods[0].CPU
	if cores := used.Seconds() / 600; cores < 8.6 || cores > 9.4 {
		t.Errorf("a pod at 90%% of 10 cores used %.2f cores", cores)
	}
	if node := second.Node.CPU - first.Node.CPU; node <= used || node > 16*10*time.Minute {
		t.Errorf("the node used %s, want more than its pod's %s and at most 16 cores", node, used)
	}
	h.SetPods([]*Pod{pod, testPod("other", extension.PriorityProd, ProfileHot, amount(1, 1))})
	h.ReadAt(second.Time.Add(time.Second), &first)
	if first.Pods[0].CPU < second.Pods[0].CPU {
		t.Error("a counter fell when another pod came")
	}
}

// drawPods draws pods of all kinds.
func drawPods(t *rapid.T) []*Pod {
	bands := []extension.PriorityClass{extension.PriorityProd, extension.PriorityNone, extension.PriorityMid, extension.PriorityBatch, extension.PriorityFree}
	profiles := []Profile{ProfileService, ProfileSteady, ProfileHot, ProfileBatch}
	var pods []*Pod
	for i := range rapid.IntRange(0, 20).Draw(t, "pods") {
		pod := testPod(fmt.Sprint("pod-", i), rapid.SampledFrom(bands).Draw(t, "band"), rapid.SampledFrom(profiles).Draw(t, "profile"),
			podrequest.Amount{MilliCPU: rapid.Int64Range(0, 64000).Draw(t, "request"), Memory: rapid.Int64Range(0, 128*gib).Draw(t, "memory")})
		pod.Limit = podrequest.Amount{MilliCPU: rapid.SampledFrom([]int64{0, pod.Request.MilliCPU}).Draw(t, "limit")}
		pod.CPUPercent = rapid.SampledFrom([]float64{0, 50, 1000}).Draw(t, "percent")
		pod.Started = noon.Add(-time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "age")))
		pods = append(pods, pod)
	}
	return pods
}

func TestNothingExceedsTheMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := Node{
			Name:       "sim",
			Capacity:   podrequest.Amount{MilliCPU: rapid.Int64Range(0, 256000).Draw(t, "cpu"), Memory: rapid.Int64Range(0, 512*gib).Draw(t, "memory")},
			HotPercent: rapid.SampledFrom([]float64{0, 85, 100}).Draw(t, "hot"),
		}
		h := New(rapid.Uint64().Draw(t, "seed"), node, testclock.NewFakePassiveClock(noon), Timeline{})
		h.SetPods(drawPods(t))
		at := noon
		var before, after host.Snapshot
		h.ReadAt(at, &before)
		for range 5 {
			elapsed := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "elapsed"))
			at = at.Add(elapsed)
			h.ReadAt(at, &after)
			var pods host.Counter
			for i, pod := range after.Pods {
				if pod.CPU < before.Pods[i].CPU || pod.Memory < 0 {
					t.Fatalf("pod %s fell from %v to %v", pod.UID, before.Pods[i].Counter, pod.Counter)
				}
				pods.CPU += pod.CPU
				pods.Memory += pod.Memory
			}
			if most := elapsed / 1000 * time.Duration(node.Capacity.MilliCPU); after.Node.CPU-before.Node.CPU > most+1000*time.Duration(node.Capacity.MilliCPU) {
				t.Fatalf("the node used %s in %s, more than %s", after.Node.CPU-before.Node.CPU, elapsed, most)
			}
			if after.Node.Memory > node.Capacity.Memory || pods.Memory > after.Node.Memory || pods.CPU > after.Node.CPU {
				t.Fatalf("pods use %v of the node's %v, of a capacity of %v", pods, after.Node, node.Capacity)
			}
			before = host.Snapshot{Time: after.Time, Node: after.Node, Pods: append([]host.PodCounter(nil), after.Pods...)}
		}
	})
}

func TestSameSeedSameMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pods, seed := drawPods(t), rapid.Uint64().Draw(t, "seed")
		machine := func() *Host {
			h := New(seed, Node{Name: "sim", Capacity: amount(64, 256)}, testclock.NewFakePassiveClock(noon), Timeline{})
			h.SetPods(pods)
			return h
		}
		one, two := machine(), machine()
		at := noon.Add(time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "at")))
		one.At(at.Add(time.Minute)) // what was asked before must not matter
		systemOne, podsOne := one.At(at)
		systemTwo, podsTwo := two.At(at)
		if systemOne != systemTwo {
			t.Fatalf("system uses %v and %v", systemOne, systemTwo)
		}
		if diff := cmp.Diff(podsOne, podsTwo); diff != "" {
			t.Fatalf("pods differ:\n%s", diff)
		}
	})
}

func TestReadAllocatesNothing(t *testing.T) {
	h := testHost(Node{}, testPod("a", extension.PriorityProd, ProfileService, amount(1, 1)), testPod("b", extension.PriorityBatch, ProfileBatch, amount(1, 1)))
	var snapshot host.Snapshot
	at := noon
	h.ReadAt(at, &snapshot)
	if allocated := testing.AllocsPerRun(100, func() { at = at.Add(time.Second); h.ReadAt(at, &snapshot) }); allocated != 0 {
		t.Errorf("a reading allocates %g times, want not at all", allocated)
	}
}
