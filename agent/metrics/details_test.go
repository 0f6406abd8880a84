package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/host"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// steady is a machine after some seconds, on which everything has run since began at the same rate: the node at 4 CPUs, a pod at 2,
// its container at 1, an application at half a CPU.
func steady(seconds float64) *host.Snapshot {
	elapsed := time.Duration(seconds * float64(time.Second))
	at := began.Add(elapsed)
	counter := func(cpus float64, memory int64) host.Counter {
		return host.Counter{CPU: time.Duration(float64(elapsed) * cpus), Memory: memory, Cache: memory / 2, Cold: memory / 8}
	}
	periods := int64(seconds * 10)
	details := host.Details{
		Throttling: host.Throttling{Periods: periods, Throttled: periods / 4},
		Pressure:   host.Pressure{At: at, CPU: host.Stall{Some: elapsed / 2, Full: elapsed / 4}, IO: host.Stall{Some: elapsed / 10}},
		BlockIO:    host.BlockIO{At: at, ReadBytes: int64(seconds * 1000), Writes: int64(seconds * 8)},
	}
	return &host.Snapshot{
		Time: at, Node: counter(4, 800), Pressure: details.Pressure,
		NUMANodes:    []host.NUMACounter{{ID: 0, Counter: counter(3, 500), PodMemory: 300}, {ID: 1, Counter: counter(1, 300)}},
		Pods:         []host.PodCounter{{UID: "pod", Counter: counter(2, 400), Details: details}},
		Containers:   []host.ContainerCounter{{Pod: "pod", ID: "c", Counter: counter(1, 200), Details: details}},
		BestEffort:   host.GroupCounter{Counter: counter(1, 100)},
		Applications: []host.ApplicationCounter{{Name: "app", Counter: counter(0.5, 80)}},
	}
}

func TestEverythingIsMeasured(t *testing.T) {
	n := NewNode(Policy{})
	for _, seconds := range []float64{100, 104, 108} { // it has run for long before the agent came
		n.Observe(steady(seconds))
	}
	at := began.Add(108 * time.Second)
	check := func(what string, want, got any, measured bool) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" || !measured {
			t.Errorf("%s: measured %t (-want +got):\n%s", what, measured, diff)
		}
	}
	usage, measured := n.LatestContainerUsage("c", at)
	check("container", Usage{NanoCores: 1e9, Memory: 200}, usage, measured)
	usage, measured = n.LatestBestEffortUsage(at)
	check("best effort", Usage{NanoCores: 1e9, Memory: 100}, usage, measured)
	usage, measured = n.LatestApplicationUsage("app", at)
	check("application", Usage{NanoCores: 5e8, Memory: 80}, usage, measured)
	usage, measured = n.SystemUsage(at)
	check("system", Usage{NanoCores: 15e8, Memory: 320}, usage, measured)
	throttled, measured := n.ContainerThrottling("c")
	check("throttling", Throttling{Ratio: 0.25, Periods: 40}, throttled, measured)
	pressed, measured := n.PodPressure("pod")
	check("pressure", Pressure{
		From: at.Add(-4 * time.Second), To: at, CPU: Stall{Some: 0.5, Full: 0.25}, IO: Stall{Some: 0.1},
	}, pressed, measured)
	_, measured = n.NodePressure()
	check("pressure on the node", true, measured, true)
	io, measured := n.PodBlockIO("pod")
	check("block I/O", BlockIO{ReadBytes: 1000, Writes: 8}, io, measured)
	check("NUMA nodes", []NUMAUsage{
		{ID: 0, Node: Usage{NanoCores: 3e9, Memory: 500}, System: Usage{NanoCores: 1125e6, Memory: 200}},
		{ID: 1, Node: Usage{NanoCores: 1e9, Memory: 300}, System: Usage{NanoCores: 375e6, Memory: 300}},
	}, n.NUMAUsages(at), true)

	gone := steady(112)
	gone.Containers, gone.Applications = nil, nil
	n.Observe(gone)
	if _, measured := n.LatestContainerUsage("c", gone.Time); measured {
		t.Error("a container that went is still measured")
	}
	if _, measured := n.LatestApplicationUsage("app", gone.Time); measured {
		t.Error("an application that went is still measured")
	}
	if _, measured := n.ApplicationUsage("app", gone.Time); !measured {
		t.Error("what an application used before it went is forgotten")
	}
}

func TestMemoryByPolicy(t *testing.T) {
	tests := map[slov1alpha1.NodeMemoryCollectPolicy]int64{
		"": 800, slov1alpha1.UsageWithoutPageCache: 800, "nonsense": 800, slov1alpha1.UsageWithPageCache: 1200, slov1alpha1.UsageWithHotPageCache: 1100,
	}
	for policy, want := range tests {
		t.Run(string(policy), func(t *testing.T) {
			n := NewNode(Policy{Memory: policy})
			n.Observe(steady(1))
			n.Observe(steady(2))
			at := began.Add(2 * time.Second)
			if got, _ := n.Usage(at); got.Memory != want {
				t.Errorf("%d bytes on average, want %d", got.Memory, want)
			}
			if got, _ := n.LatestUsage(at); got.Memory != 800 {
				t.Errorf("%d bytes at the moment, want %d whatever is reported", got.Memory, 800)
			}
		})
	}
}

// about is true for amounts that differ by rounding only.
func about(got int64, want float64) bool { return math.Abs(float64(got)-want) < 1000 }

func TestAGlanceLeavesWindowsAlone(t *testing.T) {
	n := NewNode(Policy{})
	n.Observe(steady(1))
	n.Observe(steady(2))
	// From half a second on the pod uses two CPUs more.
	busier := func(seconds float64) *host.Snapshot {
		s := steady(seconds)
		more := time.Duration((seconds - 2.5) * 2 * float64(time.Second))
		s.Pods[0].CPU += more
		s.Node.CPU += more
		return s
	}
	n.ObserveBetween(busier(2.5))
	n.ObserveBetween(busier(2.505)) // too soon after the one before to say anything
	n.ObserveBetween(busier(2.55))
	at := began.Add(2550 * time.Millisecond)
	pod, _ := n.LatestPodUsage("pod", at)
	node, _ := n.LatestUsage(at)
	if !about(pod.NanoCores, 4e9) || !about(node.NanoCores, 6e9) {
		t.Errorf("the pod uses %d and the node %d at a glance, want 4 and 6 CPUs", pod.NanoCores, node.NanoCores)
	}
	if mean, _ := n.PodUsage("pod", at); !about(mean.NanoCores, 2e9) {
		t.Errorf("the pod used %d on average, want 2 CPUs", mean.NanoCores)
	}
	n.Observe(busier(3))
	at = began.Add(3 * time.Second)
	if got, _ := n.LatestPodUsage("pod", at); !about(got.NanoCores, 4e9) {
		t.Errorf("the pod uses %d since the glance, want 4 CPUs", got.NanoCores)
	}
	if mean, _ := n.PodUsage("pod", at); !about(mean.NanoCores, 25e8) {
		t.Errorf("the pod used %d on average, want 2 CPUs for a second and 3 for another", mean.NanoCores)
	}
	if _, measured := n.LatestUsage(at.Add(time.Second)); measured {
		t.Error("a usage of a period ago is the latest")
	}
}

func TestCountersThatBeginAnew(t *testing.T) {
	n := NewNode(Policy{})
	n.Observe(steady(100))
	n.Observe(steady(101))
	again := steady(102)
	again.Containers[0].Throttling = host.Throttling{Periods: 4, Throttled: 1}
	again.Pods[0].Pressure.CPU = host.Stall{Some: 100 * time.Millisecond}
	again.Pods[0].BlockIO.ReadBytes = 7
	n.Observe(again)
	if got, _ := n.ContainerThrottling("c"); got != (Throttling{Ratio: 0.25, Periods: 4}) {
		t.Errorf("throttling %+v", got)
	}
	if got, _ := n.PodPressure("pod"); got.CPU != (Stall{Some: 0.1}) {
		t.Errorf("pressure %+v", got.CPU)
	}
	if got, _ := n.PodBlockIO("pod"); got.ReadBytes != 7 {
		t.Errorf("block I/O %+v", got)
	}
}

func TestAnApplicationThatRanBeforeItWasWatched(t *testing.T) {
	n := NewNode(Policy{})
	for _, seconds := range []float64{100, 104, 108} {
		s := steady(seconds)
		if seconds < 104 {
			s.Applications = nil
		}
		n.Observe(s)
		got, _ := n.LatestApplicationUsage("app", s.Time)
		if want := map[float64]float64{108: 5e8}[seconds]; !about(got.NanoCores, want) {
			t.Errorf("after %g seconds it uses %d, want %g", seconds, got.NanoCores, want)
		}
	}
}
