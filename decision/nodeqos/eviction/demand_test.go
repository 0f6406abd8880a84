package eviction

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/waterfall"
)

func TestDemandsOfUse(t *testing.T) {
	memory := func(threshold, lower *int64) slov1alpha1.ResourceThresholdStrategy {
		return slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: threshold, MemoryEvictLowerPercent: lower}
	}
	cpu := func(threshold, lower *int64) slov1alpha1.ResourceThresholdStrategy {
		return slov1alpha1.ResourceThresholdStrategy{CPUEvictThresholdPercent: threshold, CPUEvictLowerPercent: lower, EvictEnabledPriorityThreshold: new(int32(5999))}
	}
	percent := func(value int64) *int64 { return &value }
	tests := map[string]struct {
		feature     Feature
		node        Node
		strategy    slov1alpha1.ResourceThresholdStrategy
		wantState   State
		wantRelease int64
		wantMargin  int64
		wantReason  string
	}{
		"81 of 100 CPUs at 80, down to 78": {
			feature: CPUEvict, node: node(81_000, 0), strategy: cpu(percent(80), percent(78)), wantState: Triggered, wantRelease: 3_000,
			wantReason: "81% of the CPU is used; pods are evicted from 80%",
		},
		"down to the threshold itself": {
			feature: CPUEvict, node: node(81_000, 0), strategy: cpu(percent(80), percent(80)), wantState: Triggered, wantRelease: 1_000,
			wantReason: "81% of the CPU is used; pods are evicted from 80%",
		},
		"95 percent of the memory at 80, down to 78 by default": {
			feature: BEMemoryEvict, node: node(0, 115*giga), strategy: memory(percent(80), nil), wantState: Triggered, wantRelease: 20_400_000_000,
			wantReason: "95% of the memory is used; pods are evicted from 80%",
		},
		"down to 80": {
			feature: BEMemoryEvict, node: node(0, 115*giga), strategy: memory(percent(82), percent(80)), wantState: Triggered, wantRelease: 18 * giga,
			wantReason: "95% of the memory is used; pods are evicted from 82%",
		},
		"80 of 120 G are too little": {
			feature: BEMemoryEvict, node: node(0, 80*giga), strategy: memory(percent(80), nil), wantState: Calm, wantMargin: 16 * giga,
			wantReason: "66% of the memory is used; pods are evicted from 80%",
		},
		"the last percent counts only when it is whole": {
			feature: CPUEvict, node: node(79_999, 0), strategy: cpu(percent(80), nil), wantState: Calm, wantMargin: 1,
			wantReason: "79% of the CPU is used; pods are evicted from 80%",
		},
		"no threshold": {feature: BEMemoryEvict, node: node(0, 115*giga), strategy: memory(nil, nil), wantState: Unset, wantReason: "memoryEvictThresholdPercent is not set"},
		"an impossible threshold": {
			feature: BEMemoryEvict, node: node(0, 115*giga), strategy: memory(percent(-1), nil), wantState: Unset, wantReason: "memoryEvictThresholdPercent -1 is below zero",
		},
		"a lower percentage above the threshold": {
			feature: BEMemoryEvict, node: node(0, 115*giga), strategy: memory(percent(80), percent(90)), wantState: Unset,
			wantReason: "memoryEvictLowerPercent 90 is above memoryEvictThresholdPercent 80",
		},
		"pods above best effort need a priority threshold": {
			feature: MemoryEvict, node: node(0, 115*giga), strategy: memory(percent(80), nil), wantState: Unset, wantReason: "evictEnabledPriorityThreshold is not set",
		},
		"a node without a capacity": {
			feature: BEMemoryEvict, node: Node{Observation: node(0, 0).Observation}, strategy: memory(percent(80), nil), wantState: Unknown,
			wantReason: "usage 0 of capacity 0 is not plausible",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := outcomeOf(Decide(input(only(tc.feature), tc.node, tc.strategy), nil), tc.feature, "").Demand
			if got.State != tc.wantState || got.Release != tc.wantRelease || got.Margin != tc.wantMargin || got.Reason != tc.wantReason {
				t.Errorf("%+v, want %s %d margin %d because %q", got, tc.wantState, tc.wantRelease, tc.wantMargin, tc.wantReason)
			}
		})
	}
}

// completeStrategy sets everything that any feature needs; only the threshold of memory is reached.
func completeStrategy() slov1alpha1.ResourceThresholdStrategy {
	return slov1alpha1.ResourceThresholdStrategy{
		MemoryEvictThresholdPercent: new(int64(50)), CPUEvictThresholdPercent: new(int64(100)), EvictEnabledPriorityThreshold: new(int32(5999)),
		CPUEvictBESatisfactionLowerPercent: new(int64(20)), CPUEvictBESatisfactionUpperPercent: new(int64(40)),
		CPUAllocatableEvictThresholdPercent: new(int64(100)), CPUAllocatableEvictLowerPercent: new(int64(90)),
		MemoryAllocatableEvictThresholdPercent: new(int64(100)), MemoryAllocatableEvictLowerPercent: new(int64(90)), AllocatableEvictPriorityThreshold: new(int32(5999)),
	}
}

func TestNothingIsDecidedOnOldMeasurements(t *testing.T) {
	in := input(all(), node(99_000, 119*giga), completeStrategy(), batch("exec-1", 5500, 1000, 1000, 50*giga))
	if plan := Decide(in, nil); len(plan.Victims) != 1 {
		t.Fatalf("fresh measurements evict %v, want one pod", names(plan.Victims))
	}
	in.Now = noon.Add(2001 * time.Millisecond)
	plan := Decide(in, nil)
	for _, outcome := range plan.Outcomes {
		if outcome.State != Unknown || !strings.Contains(outcome.Reason, "more than two intervals") {
			t.Errorf("%s is %s because %q", outcome.Feature, outcome.State, outcome.Reason)
		}
	}
	if len(plan.Victims) > 0 {
		t.Errorf("%v evicted on measurements that are too old", names(plan.Victims))
	}
}

func TestStrategiesAndFeaturesThatAreOff(t *testing.T) {
	in := input(all(), node(99_000, 119*giga), slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: new(int64(50))})
	in.Strategy.Enable = nil
	for _, outcome := range Decide(in, nil).Outcomes {
		if outcome.State != Off || outcome.Reason != "resourceUsedThresholdWithBE.enable is not true" {
			t.Errorf("%s is %s because %q", outcome.Feature, outcome.State, outcome.Reason)
		}
	}
	in.Strategy = nil
	if got := len(Decide(in, nil).Outcomes); got != len(Features()) {
		t.Errorf("%d outcomes without a strategy", got)
	}
	in.On = nil
	if got := Decide(in, nil).Outcomes[0]; got.State != Off || got.Reason != "the feature is off" {
		t.Errorf("%+v", got)
	}
}

func satisfying(limit, request, used int64) BestEffortCPU {
	return BestEffortCPU{Limit: limit, Request: request, Used: used}
}

func TestDemandsOfSatisfaction(t *testing.T) {
	starved := satisfying(2_600, 6_000, 2_600)
	measured := func(average, current BestEffortCPU) *Satisfaction {
		return &Satisfaction{Average: average, Current: current, Samples: 20, Interval: time.Second}
	}
	tests := map[string]struct {
		got         *Satisfaction
		change      func(*Input)
		wantState   State
		wantRelease int64
		wantReason  string
	}{
		"pods that use all they get and get too little": {
			got: measured(starved, starved), wantState: Triggered, wantRelease: 1_000,
			wantReason: "best-effort pods get 2.6 of 6 cores requested, evicted at 50%",
		},
		"the smaller of what is missing on average and now": {
			got: measured(starved, satisfying(2_900, 6_000, 2_900)), wantState: Triggered, wantRelease: 700,
			wantReason: "best-effort pods get 2.9 of 6 cores requested, evicted at 50%",
		},
		"exactly at the lower percentage": {
			got: measured(satisfying(3_000, 6_000, 3_000), satisfying(3_000, 6_000, 3_000)), wantState: Triggered, wantRelease: 600,
			wantReason: "best-effort pods get 3 of 6 cores requested, evicted at 50%",
		},
		"satisfied on average": {
			got: measured(satisfying(3_001, 6_000, 3_001), starved), wantState: Calm,
			wantReason: "best-effort pods get 3.001 of 6 cores requested, more than 50% on average",
		},
		"satisfied now": {
			got: measured(starved, satisfying(3_001, 6_000, 3_001)), wantState: Calm,
			wantReason: "best-effort pods get 3.001 of 6 cores requested, more than 50% now",
		},
		"pods that leave a part of what they get are content": {
			got: measured(starved, satisfying(2_600, 6_000, 2_300)), wantState: Calm,
			wantReason: "best-effort pods use 2.3 of 2.6 cores they get, less than 90% now",
		},
		"less than a core is always used up": {
			got: measured(satisfying(900, 6_000, 0), satisfying(900, 6_000, 0)), wantState: Triggered, wantRelease: 2_700,
			wantReason: "best-effort pods get 0.9 of 6 cores requested, evicted at 50%",
		},
		"too few samples of the window": {
			got: &Satisfaction{Average: starved, Current: starved, Samples: 19, Interval: time.Second}, wantState: Unknown,
			wantReason: "19 samples of 1s cover less than a third of 1m0s",
		},
		"a window shorter than the interval is one interval": {
			got:    &Satisfaction{Average: starved, Current: starved, Samples: 1, Interval: time.Second},
			change: func(in *Input) { in.Strategy.CPUEvictTimeWindowSeconds = nil }, wantState: Triggered, wantRelease: 1_000,
			wantReason: "best-effort pods get 2.6 of 6 cores requested, evicted at 50%",
		},
		"nothing measured": {wantState: Unknown, wantReason: "the CPU satisfaction of best-effort pods was not measured"},
		"no pod requests batch-cpu": {
			got: measured(satisfying(2_600, 0, 0), satisfying(2_600, 0, 0)), wantState: Calm, wantReason: "no best-effort pod requests batch-cpu",
		},
		"measured by the offer": {
			got:    measured(satisfying(1, 200_000, 40_000), satisfying(1, 200_000, 40_000)),
			change: func(in *Input) { in.Strategy.CPUEvictPolicy = slov1alpha1.EvictByAllocatablePolicy }, wantState: Triggered, wantRelease: 80_000,
			wantReason: "best-effort pods get 40 of 200 cores requested, evicted at 50%",
		},
		"an offer of nothing satisfies nobody": {
			got: measured(starved, starved),
			change: func(in *Input) {
				in.Strategy.CPUEvictPolicy = slov1alpha1.EvictByAllocatablePolicy
				in.Node.Offers = map[podrequest.Tier]Offer{podrequest.Batch: {}}
			},
			wantState: Triggered, wantRelease: 3_599, wantReason: "best-effort pods get 0.001 of 6 cores requested, evicted at 50%",
		},
		"an offer that was withdrawn says nothing": {
			got: measured(starved, starved),
			change: func(in *Input) {
				in.Strategy.CPUEvictPolicy = slov1alpha1.EvictByAllocatablePolicy
				in.Node.Offers = map[podrequest.Tier]Offer{podrequest.Batch: {Withdrawn: "the metrics are old"}}
			},
			wantState: Unknown, wantReason: "the node offers no batch-cpu: the metrics are old",
		},
		"percentages that cross": {
			got: measured(starved, starved), change: func(in *Input) { in.Strategy.CPUEvictBESatisfactionUpperPercent = new(int64(40)) }, wantState: Unset,
			wantReason: "cpuEvictBESatisfactionUpperPercent 40 is below cpuEvictBESatisfactionLowerPercent 50",
		},
		"a lower percentage beyond its bound": {
			got: measured(starved, starved), change: func(in *Input) { in.Strategy.CPUEvictBESatisfactionLowerPercent = new(int64(61)) }, wantState: Unset,
			wantReason: "cpuEvictBESatisfactionLowerPercent 61 is not between 1 and 60",
		},
		"an upper percentage of everything": {
			got: measured(starved, starved), change: func(in *Input) { in.Strategy.CPUEvictBESatisfactionUpperPercent = new(int64(100)) }, wantState: Unset,
			wantReason: "cpuEvictBESatisfactionUpperPercent 100 is not between 1 and 99",
		},
		"percentages that are not set": {
			got: measured(starved, starved), change: func(in *Input) { in.Strategy.CPUEvictBESatisfactionUpperPercent = nil }, wantState: Unset,
			wantReason: "cpuEvictBESatisfactionUpperPercent is not set",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(only(BECPUEvict), node(50_000, 0), slov1alpha1.ResourceThresholdStrategy{
				CPUEvictBESatisfactionLowerPercent: new(int64(50)), CPUEvictBESatisfactionUpperPercent: new(int64(60)), CPUEvictTimeWindowSeconds: new(int64(60)),
			})
			in.BestEffort = tc.got
			if tc.change != nil {
				tc.change(&in)
			}
			got := outcomeOf(Decide(in, nil), BECPUEvict, "").Demand
			if got.State != tc.wantState || got.Release != tc.wantRelease || got.Reason != tc.wantReason {
				t.Errorf("%s %d %q, want %s %d %q", got.State, got.Release, got.Reason, tc.wantState, tc.wantRelease, tc.wantReason)
			}
		})
	}
}

// TestAveragesAreTakenOverAnHourAtMost: the agent remembers no more, and a third of a longer window would never be covered.
func TestAveragesAreTakenOverAnHourAtMost(t *testing.T) {
	for seconds, want := range map[int64]time.Duration{-1: 0, 0: 0, 60: time.Minute, 3600: time.Hour, 86400: time.Hour, math.MaxInt64: time.Hour} {
		if got := WindowOf(&slov1alpha1.ResourceThresholdStrategy{CPUEvictTimeWindowSeconds: &seconds}); got != want {
			t.Errorf("%d seconds: %s, want %s", seconds, got, want)
		}
	}
}

func TestDemandsOfRequests(t *testing.T) {
	strategy := slov1alpha1.ResourceThresholdStrategy{
		CPUAllocatableEvictThresholdPercent: new(int64(110)), CPUAllocatableEvictLowerPercent: new(int64(100)), AllocatableEvictPriorityThreshold: new(int32(7999)),
	}
	plain := service("plain", 100, podrequest.Amount{MilliCPU: 1_000})
	plain.Requests = podrequest.Tiers{Plain: podrequest.Amount{MilliCPU: 99_500}}
	tests := map[string]struct {
		change      func(*Input)
		pods        []Pod
		tier        podrequest.Tier
		wantState   State
		wantRelease int64
		wantReason  string
	}{
		"batch requests beyond the offer": {
			pods: []Pod{batch("a", 5500, 30_000, 1, 1), batch("b", 5500, 15_000, 1, 1)}, tier: podrequest.Batch, wantState: Triggered, wantRelease: 5_000,
			wantReason: "batch-cpu requested is more than 110% of what the node offers",
		},
		"exactly the threshold is calm": {
			pods: []Pod{batch("a", 5500, 44_000, 1, 1)}, tier: podrequest.Batch, wantState: Calm,
			wantReason: "batch-cpu requested is 110% of what the node offers; pods are evicted above 110%",
		},
		"each tier is compared with its own offer": {
			pods: []Pod{batch("a", 5500, 30_000, 1, 1), service("mid", 7500, podrequest.Amount{MilliCPU: 23_000})}, tier: podrequest.Mid,
			wantState: Triggered, wantRelease: 3_000, wantReason: "mid-cpu requested is more than 110% of what the node offers",
		},
		// Plain requests and offers are both in milli-cores; comparing cores with milli-cores would find a thousandth.
		"plain requests are compared in milli-cores": {
			pods: []Pod{plain}, tier: podrequest.Plain, wantState: Triggered, wantRelease: 9_500,
			change:     func(in *Input) { in.Strategy.CPUAllocatableEvictThresholdPercent = new(int64(105)) },
			wantReason: "cpu requested is more than 105% of what the node offers",
		},
		"pods above the priority do not count": {
			pods: []Pod{service("prod", 9500, podrequest.Amount{MilliCPU: 90_000})}, wantState: Calm, wantReason: "no pod with priority 7999 or lower requests anything",
		},
		"pods exactly at the priority do": {
			pods: []Pod{service("mid", 7999, podrequest.Amount{MilliCPU: 23_000})}, tier: podrequest.Mid,
			wantState: Triggered, wantRelease: 3_000, wantReason: "mid-cpu requested is more than 110% of what the node offers",
		},
		"pods that ended request nothing": {
			pods: []Pod{service("mid", 7999, podrequest.Amount{MilliCPU: 23_000})}, wantState: Calm,
			change: func(in *Input) { in.Pods[0].Active = false }, wantReason: "no pod with priority 7999 or lower requests anything",
		},
		"an offer of nothing is meant": {
			pods: []Pod{batch("a", 5500, 1_000, 1, 1)}, tier: podrequest.Batch, wantState: Triggered, wantRelease: 1_000,
			change:     func(in *Input) { in.Node.Offers = map[podrequest.Tier]Offer{podrequest.Batch: {}} },
			wantReason: "batch-cpu requested is more than 110% of what the node offers",
		},
		"an offer that was withdrawn evicts nobody": {
			pods: []Pod{batch("a", 5500, 1_000, 1, 1)}, tier: podrequest.Batch, wantState: Unknown,
			change: func(in *Input) {
				in.Node.Offers = map[podrequest.Tier]Offer{podrequest.Batch: {Withdrawn: "the metrics are old"}}
			},
			wantReason: "batch-cpu is withdrawn: the metrics are old",
		},
		"what is not offered evicts nobody": {
			pods: []Pod{batch("a", 5500, 1_000, 1, 1)}, tier: podrequest.Batch, wantState: Unknown,
			change: func(in *Input) { in.Node.Offers = nil }, wantReason: "the node does not offer batch-cpu",
		},
		"a priority threshold that reaches prod": {
			pods: []Pod{batch("a", 5500, 1_000, 1, 1)}, wantState: Unset,
			change:     func(in *Input) { in.Strategy.AllocatableEvictPriorityThreshold = new(int32(9000)) },
			wantReason: "allocatableEvictPriorityThreshold 9000 is above 7999, and would evict prod pods",
		},
		"no lower percentage": {
			pods: []Pod{batch("a", 5500, 1_000, 1, 1)}, wantState: Unset,
			change: func(in *Input) { in.Strategy.CPUAllocatableEvictLowerPercent = nil }, wantReason: "cpuAllocatableEvictLowerPercent is not set",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(only(CPUAllocatableEvict), node(50_000, 0), strategy, tc.pods...)
			if tc.change != nil {
				tc.change(&in)
			}
			got := outcomeOf(Decide(in, nil), CPUAllocatableEvict, tc.tier).Demand
			if got.State != tc.wantState || got.Release != tc.wantRelease || got.Reason != tc.wantReason {
				t.Errorf("%s %d %q, want %s %d %q", got.State, got.Release, got.Reason, tc.wantState, tc.wantRelease, tc.wantReason)
			}
		})
	}
}

func TestTheTraceOfARelease(t *testing.T) {
	trace := &Trace{}
	Decide(input(only(BEMemoryEvict), node(0, 115*giga), slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: new(int64(80))}), trace)
	want := []waterfall.Term{
		{Name: "capacity", Operator: "start", Value: 120 * giga, Unit: "bytes"},
		{Name: "excess", Operator: "times", Value: 17, Unit: "percent", Note: "95% used, at most 78% allowed"},
		{Name: "release", Operator: "result", Value: 20_400_000_000, Unit: "bytes"},
	}
	if diff := cmp.Diff([]Release{{Feature: BEMemoryEvict, Terms: want}}, trace.Releases); diff != "" {
		t.Errorf("terms (-want +got):\n%s", diff)
	}
}

// TestMarginsAreExact: one less than the margin more is calm, the margin more is triggered.
func TestMarginsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(1, math.MaxInt64/8).Draw(t, "total")
		used := rapid.Int64Range(0, total).Draw(t, "used")
		strategy := slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: new(rapid.Int64Range(0, 150).Draw(t, "threshold"))}
		demand := func(used int64) Demand {
			n := node(0, used)
			n.Capacity.Memory = total
			return Decide(input(only(BEMemoryEvict), n, strategy), nil).Outcomes[3].Demand
		}
		got := demand(used)
		if got.State == Triggered {
			if got.Release < 0 || got.Margin != 0 {
				t.Fatalf("%+v", got)
			}
			return
		}
		if at := demand(used + got.Margin); at.State != Triggered {
			t.Fatalf("after the margin of %d: %+v", got.Margin, at)
		}
		if below := demand(used + got.Margin - 1); below.State != Calm {
			t.Fatalf("before the margin of %d: %+v", got.Margin, below)
		}
	})
}
