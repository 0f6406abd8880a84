package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host"
)

// reading is a snapshot some seconds after the start; counters are in seconds of CPU time and bytes.
type reading struct {
	second int
	cpu    float64
	memory int64
	pods   map[types.UID][2]float64
	order  []types.UID
}

func (r reading) snapshot() *host.Snapshot {
	out := &host.Snapshot{Time: start.Add(time.Duration(r.second) * time.Second), Node: counter(r.cpu, r.memory)}
	for _, uid := range r.order {
		pod := r.pods[uid]
		out.Pods = append(out.Pods, host.PodCounter{UID: uid, Counter: counter(pod[0], int64(pod[1]))})
	}
	return out
}

func counter(cpuSeconds float64, memory int64) host.Counter {
	return host.Counter{CPU: time.Duration(cpuSeconds * 1e9), Memory: memory}
}

func pods(uids ...types.UID) []types.UID { return uids }

func TestObserve(t *testing.T) {
	type want struct{ node, system, a Usage }
	core := int64(1e9)
	tests := map[string]struct {
		readings []reading
		want     want
	}{
		"one reading has memory but no rate, and makes no sample": {
			readings: []reading{{second: 0, cpu: 10, memory: 100}},
		},
		"rates are counters by time": {
			readings: []reading{
				{second: 0, cpu: 10, memory: 100, order: pods("a"), pods: map[types.UID][2]float64{"a": {5, 40}}},
				{second: 10, cpu: 40, memory: 100, order: pods("a"), pods: map[types.UID][2]float64{"a": {25, 40}}},
			},
			want: want{node: Usage{3 * core, 100}, system: Usage{core, 60}, a: Usage{2 * core, 40}},
		},
		"a pod's counter begins with the pod": {
			readings: []reading{
				{second: 0, cpu: 0, memory: 100},
				{second: 10, cpu: 30, memory: 100, order: pods("a"), pods: map[types.UID][2]float64{"a": {20, 40}}},
			},
			want: want{node: Usage{3 * core, 100}, system: Usage{core, 60}, a: Usage{2 * core, 40}},
		},
		"a restarted pod counts from zero": {
			readings: []reading{
				{second: 0, cpu: 0, memory: 100, order: pods("a"), pods: map[types.UID][2]float64{"a": {500, 40}}},
				{second: 10, cpu: 30, memory: 100, order: pods("a"), pods: map[types.UID][2]float64{"a": {20, 40}}},
			},
			want: want{node: Usage{3 * core, 100}, system: Usage{core, 60}, a: Usage{2 * core, 40}},
		},
		"a pod that could not be read makes up for it": {
			readings: []reading{
				{second: 0, cpu: 0, memory: 100, order: pods("a"), pods: map[types.UID][2]float64{"a": {0, 40}}},
				{second: 10, cpu: 0, memory: 100},
				{second: 20, cpu: 0, memory: 100, order: pods("a"), pods: map[types.UID][2]float64{"a": {40, 40}}},
			},
			want: want{node: Usage{0, 100}, system: Usage{0, 80}, a: Usage{2 * core, 40}},
		},
		"a restarted machine makes no sample": {
			readings: []reading{{second: 0, cpu: 500, memory: 100}, {second: 10, cpu: 3, memory: 100}},
		},
		"pods that use more than the node leave nothing to the system": {
			readings: []reading{
				{second: 0, cpu: 0, memory: 30, order: pods("a"), pods: map[types.UID][2]float64{"a": {0, 40}}},
				{second: 10, cpu: 10, memory: 30, order: pods("a"), pods: map[types.UID][2]float64{"a": {20, 40}}},
			},
			want: want{node: Usage{core, 30}, system: Usage{0, 0}, a: Usage{2 * core, 40}},
		},
		"an older reading is dropped": {
			readings: []reading{{second: 10, cpu: 0, memory: 7}, {second: 20, cpu: 10, memory: 7}, {second: 15, cpu: 500, memory: 99}},
			want:     want{node: Usage{core, 7}, system: Usage{core, 7}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			node := NewNode(Policy{})
			for _, r := range test.readings {
				node.Observe(r.snapshot())
			}
			var got want
			at := start.Add(20 * time.Second)
			got.node, _ = node.Usage(at)
			got.system, _ = node.SystemUsage(at)
			got.a, _ = node.PodUsage("a", at)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAggregatesNeedHalfTheirWindow(t *testing.T) {
	node := NewNode(Policy{Period: 10 * time.Second})
	for second := 0; second <= 310; second += 10 { // 31 samples that span five minutes
		node.Observe(reading{second: second, cpu: float64(second), memory: 1}.snapshot())
	}
	var got []time.Duration
	for _, aggregate := range node.Aggregates(start.Add(310 * time.Second)) {
		got = append(got, aggregate.Duration)
	}
	if diff := cmp.Diff([]time.Duration{5 * time.Minute, 10 * time.Minute}, got); diff != "" {
		t.Errorf("durations (-want +got):\n%s", diff)
	}
}

func TestPodsThatWentAreForgotten(t *testing.T) {
	node := NewNode(Policy{Period: time.Second, Aggregate: time.Minute})
	with := reading{order: pods("a"), pods: map[types.UID][2]float64{"a": {1, 1}}}
	for second := range 3 {
		with.second = second
		node.Observe(with.snapshot())
	}
	node.Observe(reading{second: 30}.snapshot())
	if _, known := node.PodUsage("a", start.Add(30*time.Second)); !known {
		t.Error("a pod that was read half a minute ago is forgotten")
	}
	node.Observe(reading{second: 90, order: pods("b")}.snapshot())
	if len(node.pods) != 1 {
		t.Errorf("%d pods are remembered, want the one that runs", len(node.pods))
	}
}

func TestObserveAllocatesNothing(t *testing.T) {
	node := NewNode(Policy{})
	snapshot := reading{order: pods("a", "b"), pods: map[types.UID][2]float64{}}.snapshot()
	node.Observe(snapshot)
	allocated := testing.AllocsPerRun(1000, func() {
		snapshot.Time = snapshot.Time.Add(time.Second)
		snapshot.Node.CPU += time.Second
		node.Observe(snapshot)
	})
	if allocated != 0 {
		t.Errorf("a sample allocates %g times, want not at all", allocated)
	}
}

func TestPolicyWithDefaults(t *testing.T) {
	minutes := func(values ...int) (out []time.Duration) {
		for _, value := range values {
			out = append(out, time.Duration(value)*time.Minute)
		}
		return out
	}
	tests := map[string]struct{ policy, want Policy }{
		"nothing given":        {want: Policy{Period: time.Second, Aggregate: 5 * time.Minute, Durations: minutes(5, 10, 30)}},
		"too short an average": {policy: Policy{Aggregate: time.Second}, want: Policy{Period: time.Second, Aggregate: time.Minute, Durations: minutes(5, 10, 30)}},
		"windows are sorted, bounded and distinct": {
			policy: Policy{Period: time.Minute, Aggregate: time.Hour, Durations: minutes(10, -1, 5, 10, 0, 100000)},
			want:   Policy{Period: time.Minute, Aggregate: time.Hour, Durations: minutes(5, 10, 1440)},
		},
		"too many windows": {
			policy: Policy{Durations: minutes(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)},
			want:   Policy{Period: time.Second, Aggregate: 5 * time.Minute, Durations: minutes(1, 2, 3, 4, 5, 6, 7, 8)},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.policy.WithDefaults()); diff != "" {
				t.Errorf("policy (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRateOfAbsurdCounters(t *testing.T) {
	tests := map[string]struct {
		before, after, elapsed time.Duration
		want                   int64
	}{
		"a counter that leaps":        {after: math.MaxInt64, elapsed: 1, want: maxAmount},
		"a counter that began anew":   {before: time.Hour, after: time.Second, elapsed: 2 * time.Second, want: 5e8},
		"a counter that is negative":  {before: time.Hour, after: -time.Second, elapsed: time.Second},
		"no time between the samples": {after: time.Second},
	}
	for name, test := range tests {
		if got := rate(test.before, test.after, test.elapsed); got != test.want {
			t.Errorf("%s: rate %d, want %d", name, got, test.want)
		}
	}
}
