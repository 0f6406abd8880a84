package eviction

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/core/podrequest"
)

func TestMemoryIsReleasedInOrder(t *testing.T) {
	// Of 120 G 115 are used. The pods use 5, 20 and 10 G.
	pods := []Pod{batch("small", 100, 0, 0, 5*giga), batch("large", 100, 0, 0, 20*giga), batch("later", 120, 0, 0, 10*giga)}
	tests := map[string]struct {
		threshold, lower int64
		want             []string
	}{
		"the largest of the lowest priority is enough": {82, 80, []string{"large"}},
		"then the next of the same priority":           {80, 78, []string{"large", "small"}},
		"then the next priority":                       {50, 48, []string{"large", "small", "later"}},
		"nothing below the threshold":                  {96, 90, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(only(BEMemoryEvict), node(0, 115*giga), slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: &tc.threshold, MemoryEvictLowerPercent: &tc.lower}, pods...)
			if diff := cmp.Diff(tc.want, names(Decide(in, nil).Victims)); diff != "" {
				t.Errorf("victims (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMemoryOfPodsAboveBestEffortIsCountedInBytes: counted in thousandths of a byte, the first victim would seem to be enough.
func TestMemoryOfPodsAboveBestEffortIsCountedInBytes(t *testing.T) {
	in := input(only(MemoryEvict), node(0, 115*giga),
		slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: new(int64(80)), EvictEnabledPriorityThreshold: new(int32(7999))},
		service("a", 7000, podrequest.Amount{Memory: 12 * giga}), service("b", 7000, podrequest.Amount{Memory: 9 * giga}), service("c", 7000, podrequest.Amount{Memory: 8 * giga}))
	plan := Decide(in, nil)
	if diff := cmp.Diff([]string{"a", "b"}, names(plan.Victims)); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
	if got := outcomeOf(plan, MemoryEvict, ""); got.Released != 21*giga || plan.Victims[0].Frees != 12*giga {
		t.Errorf("released %d, the first %d", got.Released, plan.Victims[0].Frees)
	}
}

func TestTheOrderOfVictims(t *testing.T) {
	wish := func(pod Pod, evictionPriority int32, subPriority int64) Pod {
		pod.EvictionPriority, pod.SubPriority = evictionPriority, subPriority
		return pod
	}
	cpu := func(milli int64) podrequest.Amount { return podrequest.Amount{MilliCPU: milli} }
	// running is a job that is expected to take an hour and at most two, and has run for some minutes.
	running := func(pod Pod, minutes time.Duration) Pod {
		pod.Job = &jobinsight.Progress{Started: noon.Add(-minutes * time.Minute), Expected: &extension.JobPrediction{Duration: &extension.JobDuration{LikelySeconds: 3600, MostSeconds: 7200}}}
		return pod
	}
	requesting := func(pod Pod, milli int64) Pod {
		pod.Requests = podrequest.Tiers{Mid: cpu(milli)}
		return pod
	}
	strategy := slov1alpha1.ResourceThresholdStrategy{
		CPUEvictThresholdPercent: new(int64(10)), CPUEvictLowerPercent: new(int64(0)), EvictEnabledPriorityThreshold: new(int32(7999)),
		CPUAllocatableEvictThresholdPercent: new(int64(1)), CPUAllocatableEvictLowerPercent: new(int64(0)), AllocatableEvictPriorityThreshold: new(int32(7999)),
		CPUEvictBESatisfactionLowerPercent: new(int64(50)), CPUEvictBESatisfactionUpperPercent: new(int64(99)),
	}
	tests := map[string]struct {
		feature Feature
		pods    []Pod
		want    []string
	}{
		"eviction priority, then priority, then the label below it, then use": {
			feature: CPUEvict,
			pods: []Pod{
				wish(service("use-1", 7000, cpu(100)), 0, 7000), wish(service("use-2", 7000, cpu(200)), 0, 7000), wish(service("label", 7000, cpu(50)), 0, 10),
				wish(service("priority", 6000, cpu(50)), 0, 6000), wish(service("wish", 7999, cpu(50)), -1, 7999), wish(service("last", 5000, cpu(900)), 1, 5000),
			},
			want: []string{"wish", "priority", "label", "use-2", "use-1", "last"},
		},
		"requests where requests are compared": {
			feature: CPUAllocatableEvict,
			pods:    []Pod{requesting(service("little", 7000, cpu(900)), 1_000), requesting(service("much", 7000, cpu(1)), 2_000)},
			want:    []string{"much", "little"},
		},
		"best effort by priority, then by use of the request": {
			feature: BECPUEvict,
			pods:    []Pod{batch("half", 5500, 10_000, 5_000, 1), batch("nine-tenths", 5500, 1_000, 900, 1), batch("lower", 5400, 1_000, 1, 1)},
			want:    []string{"lower", "nine-tenths", "half"},
		},
		"best effort by what is lost, in quarters of a job, before use": {
			feature: BECPUEvict,
			pods: []Pod{
				running(batch("nearly-done", 5500, 1_000, 900, 1), 50), running(batch("begun", 5500, 1_000, 100, 1), 5), running(batch("a-bit-further", 5500, 1_000, 200, 1), 14),
				running(batch("half-done", 5500, 1_000, 900, 1), 31), batch("unknown", 5500, 1_000, 150, 1), running(batch("overdue", 5500, 1_000, 50, 1), 121),
				running(batch("lower", 5400, 1_000, 1, 1), 59),
			},
			want: []string{"lower", "a-bit-further", "unknown", "begun", "overdue", "half-done", "nearly-done"},
		},
		"of those that agree, the label counts before what is lost": {
			feature: CPUEvict,
			pods: []Pod{
				wish(running(service("label", 7000, cpu(50)), 59), 0, 10), running(service("done", 7000, cpu(900)), 59), running(service("begun", 7000, cpu(50)), 1),
			},
			want: []string{"label", "begun", "done"},
		},
		"equal pods go by their names": {
			feature: CPUEvict,
			pods:    []Pod{service("c", 7000, cpu(100)), service("a", 7000, cpu(100)), service("b", 7000, cpu(100))},
			want:    []string{"a", "b", "c"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(only(tc.feature), node(99_000, 0), strategy, tc.pods...)
			starved := satisfying(1, 12_000, 1)
			in.BestEffort = &Satisfaction{Average: starved, Current: starved, Samples: 1, Interval: time.Second}
			if diff := cmp.Diff(tc.want, names(Decide(in, nil).Victims)); diff != "" {
				t.Errorf("victims (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhoIsNoCandidate(t *testing.T) {
	use := podrequest.Amount{MilliCPU: 1_000, Memory: giga}
	change := func(f func(*Pod)) Pod {
		pod := service("pod", 7000, use)
		f(&pod)
		return pod
	}
	tests := map[string]struct {
		pod     Pod
		feature Feature
		want    Code
	}{
		"a pod that succeeded":                           {change(func(p *Pod) { p.Active = false }), MemoryEvict, Inactive},
		"a pod that is leaving":                          {change(func(p *Pod) { p.Leaving = true }), MemoryEvict, Leaving},
		"an LSE pod, even when it agrees":                {change(func(p *Pod) { p.QoS = extension.QoSLSE }), MemoryEvict, Protected},
		"an LSR pod":                                     {change(func(p *Pod) { p.QoS = extension.QoSLSR }), MemoryEvict, Protected},
		"a SYSTEM pod":                                   {change(func(p *Pod) { p.QoS = extension.QoSSystem }), MemoryEvict, Protected},
		"a critical pod":                                 {change(func(p *Pod) { p.Critical = "it is a critical pod" }), MemoryEvict, Protected},
		"a pod whose policy names another feature":       {change(func(p *Pod) { p.Allowed = map[Feature]bool{CPUEvict: true} }), MemoryEvict, PolicyForbids},
		"a pod that does not agree":                      {change(func(p *Pod) { p.Agrees = false }), MemoryEvict, DoesNotAgree},
		"a pod above the priority":                       {change(func(p *Pod) { p.Priority = 9500 }), MemoryEvict, TooImportant},
		"a pod that was not measured":                    {change(func(p *Pod) { p.Used = nil }), MemoryEvict, NotMeasured},
		"a pod that uses nothing":                        {change(func(p *Pod) { p.Used = &podrequest.Amount{} }), MemoryEvict, FreesNothing},
		"a service, for features on best effort":         {service("pod", 7000, use), BEMemoryEvict, NotBestEffort},
		"a best-effort pod that was not measured":        {func() Pod { p := batch("pod", 5500, 1, 1, 1); p.Used = nil; return p }(), BEMemoryEvict, FreesNothing},
		"a best-effort pod without a request":            {batch("pod", 5500, 0, 1_000, 1), BECPUEvict, FreesNothing},
		"a pod of another tier":                          {batch("pod", 5500, 1_000, 1_000, 1), MemoryAllocatableEvict, DoesNotAgree},
		"best effort need not agree to its own features": {batch("pod", 5500, 1_000, 1_000, 1), BEMemoryEvict, ""},
		"a service that agrees":                          {service("pod", 7000, use), MemoryEvict, ""},
	}
	strategy := slov1alpha1.ResourceThresholdStrategy{
		MemoryEvictThresholdPercent: new(int64(50)), EvictEnabledPriorityThreshold: new(int32(7999)), AllocatableEvictPriorityThreshold: new(int32(7999)),
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(only(tc.feature), node(0, 60*giga), strategy, tc.pod)
			trace := &Trace{}
			for i, outcome := range Decide(in, trace).Outcomes {
				if outcome.Feature != tc.feature {
					continue
				}
				considered := trace.Considered[i]
				if tc.want == "" {
					if len(considered.Candidates) != 1 || len(considered.Excluded) != 0 {
						t.Errorf("%+v, want a candidate", considered)
					}
					continue
				}
				if len(considered.Candidates) != 0 || len(considered.Excluded) != 1 || considered.Excluded[0].Code != tc.want || considered.Excluded[0].Reason == "" {
					t.Errorf("%+v, want %s", considered, tc.want)
				}
			}
		})
	}
}

func TestWhatIsLeavingCountsAsReleased(t *testing.T) {
	leaving := batch("leaving", 5500, 0, 0, 15*giga)
	leaving.Leaving, leaving.LeavingSince = true, noon.Add(-time.Minute)
	strategy := slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: new(int64(80))}
	in := input(only(BEMemoryEvict), node(0, 115*giga), strategy, leaving, batch("next", 5500, 0, 0, 10*giga), batch("last", 5500, 0, 0, 9*giga))
	got := outcomeOf(Decide(in, nil), BEMemoryEvict, "")
	if got.Pending != 15*giga || got.Released != 25*giga || got.Held != "" {
		t.Errorf("pending %d released %d held %q", got.Pending, got.Released, got.Held)
	}
	in.LeavingFor = 30 * time.Second
	if got := outcomeOf(Decide(in, nil), BEMemoryEvict, ""); got.Pending != 0 || got.Held != "no more pods may be evicted" {
		t.Errorf("a pod that does not leave is waited for: pending %d held %q", got.Pending, got.Held)
	}
	in.Pods[0].Used = &podrequest.Amount{Memory: 30 * giga}
	in.LeavingFor = 0
	if plan := Decide(in, nil); len(plan.Victims) != 0 || outcomeOf(plan, BEMemoryEvict, "").Held != "" {
		t.Errorf("%v evicted although enough is leaving", names(plan.Victims))
	}
}

// TestOnlyWhatCountsIsPending: a service that leaves does not satisfy best-effort pods.
func TestOnlyWhatCountsIsPending(t *testing.T) {
	strategy := slov1alpha1.ResourceThresholdStrategy{CPUEvictBESatisfactionLowerPercent: new(int64(50)), CPUEvictBESatisfactionUpperPercent: new(int64(60))}
	leaving := batch("leaving", 5500, 2_000, 0, 0)
	leaving.Leaving = true
	in := input(only(BECPUEvict), node(0, 0), strategy, leaving, batch("next", 5500, 1_000, 0, 0))
	starved := satisfying(600, 6_000, 600)
	in.BestEffort = &Satisfaction{Average: starved, Current: starved, Samples: 1, Interval: time.Second}
	if got := outcomeOf(Decide(in, nil), BECPUEvict, ""); got.Pending != 2_000 || got.Released != 3_000 {
		t.Errorf("pending %d released %d", got.Pending, got.Released)
	}
	in.Pods[0].QoS = extension.QoSLS
	if got := outcomeOf(Decide(in, nil), BECPUEvict, ""); got.Pending != 0 {
		t.Errorf("%d pending by a service", got.Pending)
	}
}

func TestOnePodMeetsSeveralDemands(t *testing.T) {
	strategy := slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: new(int64(80)), EvictEnabledPriorityThreshold: new(int32(7999))}
	in := input(only(BEMemoryEvict, MemoryEvict), node(0, 115*giga), strategy, batch("exec", 5500, 0, 0, 25*giga), service("web", 7000, podrequest.Amount{Memory: 30 * giga}))
	plan := Decide(in, nil)
	if diff := cmp.Diff([]string{"exec"}, names(plan.Victims)); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
	if got := outcomeOf(plan, MemoryEvict, ""); got.Pending != 25*giga {
		t.Errorf("%d pending for the second demand", got.Pending)
	}
	if got := plan.Victims[0].EventReason(); got != "trigger by koordlet feature BEMemoryEvict" {
		t.Errorf("event reason %q", got)
	}
}

func TestCooldown(t *testing.T) {
	strategy := slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: new(int64(80))}
	tests := map[string]struct {
		last     map[Resource]time.Time
		cooldown map[Resource]time.Duration
		want     bool
	}{
		"never evicted":                    {nil, nil, true},
		"just evicted":                     {map[Resource]time.Time{Memory: noon.Add(-3 * time.Second)}, nil, false},
		"evicted long enough ago":          {map[Resource]time.Time{Memory: noon.Add(-4 * time.Second)}, nil, true},
		"evicted for the other resource":   {map[Resource]time.Time{CPU: noon}, nil, true},
		"a longer cool-down":               {map[Resource]time.Time{Memory: noon.Add(-4 * time.Second)}, map[Resource]time.Duration{Memory: time.Minute}, false},
		"no cool-down":                     {map[Resource]time.Time{Memory: noon}, map[Resource]time.Duration{Memory: -1}, true},
		"a little ahead of this clock":     {map[Resource]time.Time{Memory: noon.Add(time.Second)}, nil, false},
		"the clock was set back an hour":   {map[Resource]time.Time{Memory: noon.Add(time.Hour)}, nil, true},
		"a time that was never filled in ": {map[Resource]time.Time{Memory: {}}, nil, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(only(BEMemoryEvict), node(0, 115*giga), strategy, batch("exec", 5500, 0, 0, 30*giga))
			in.LastEviction, in.Cooldown = tc.last, tc.cooldown
			trace := &Trace{}
			plan := Decide(in, trace)
			if got := len(plan.Victims) == 1; got != tc.want {
				t.Errorf("evicted %v, held %q", names(plan.Victims), outcomeOf(plan, BEMemoryEvict, "").Held)
			}
			for i, outcome := range plan.Outcomes {
				if outcome.Feature == BEMemoryEvict && len(trace.Considered[i].Candidates) != 1 {
					t.Error("who would go next is not said")
				}
			}
		})
	}
}

func TestBudget(t *testing.T) {
	var pods []Pod
	for _, name := range []string{"a", "b", "c", "d"} {
		pods = append(pods, batch(name, 5500, 0, 0, giga))
	}
	ago := func(times ...time.Duration) []time.Time {
		var out []time.Time
		for _, t := range times {
			out = append(out, noon.Add(-t))
		}
		return out
	}
	breaker := Breaker{Evictions: 3, Window: time.Minute, OpenFor: time.Hour}
	tests := map[string]struct {
		budget   *Budget
		want     int
		wantHeld string
	}{
		"no budget, no eviction":          {nil, 0, "no eviction budget is given"},
		"an unlimited one":                {Unlimited(), 4, "no more pods may be evicted"},
		"two at once":                     {&Budget{PerRound: 2}, 2, "at most 2 pods are evicted at once"},
		"what is left of the window":      {&Budget{PerRound: 3, PerWindow: 3, Window: time.Minute, Evicted: ago(time.Second, 59*time.Second, time.Minute)}, 1, "at most 3 pods are evicted within 1m0s, and 2 were"},
		"the round is tighter":            {&Budget{PerRound: 1, PerWindow: 3, Window: time.Minute}, 1, "at most 1 pods are evicted at once"},
		"the window is used up":           {&Budget{PerWindow: 1, Window: time.Minute, Evicted: ago(0)}, 0, "at most 1 pods are evicted within 1m0s, and 1 were"},
		"evictions in the future count":   {&Budget{PerWindow: 1, Window: time.Minute, Evicted: ago(-time.Hour)}, 0, "at most 1 pods are evicted within 1m0s, and 1 were"},
		"the breaker opens":               {&Budget{Breaker: breaker, Evicted: ago(10*time.Minute, 10*time.Minute+30*time.Second, 11*time.Minute)}, 0, "3 pods were evicted within 1m0s: evictions stop until 2026-03-04T12:50:00Z"},
		"fewer do not open it":            {&Budget{Breaker: breaker, Evicted: ago(10*time.Minute, 11*time.Minute)}, 4, "no more pods may be evicted"},
		"slower ones do not open it":      {&Budget{Breaker: breaker, Evicted: ago(10*time.Minute, 11*time.Minute, 12*time.Minute)}, 4, "no more pods may be evicted"},
		"it closes by itself":             {&Budget{Breaker: breaker, Evicted: ago(60*time.Minute, 60*time.Minute, 60*time.Minute)}, 4, "no more pods may be evicted"},
		"one more eviction opens it anew": {&Budget{Breaker: breaker, Evicted: ago(60*time.Minute, 60*time.Minute, 60*time.Minute, 59*time.Minute)}, 0, "3 pods were evicted within 1m0s: evictions stop until 2026-03-04T12:01:00Z"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(only(BEMemoryEvict), node(0, 115*giga), slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: new(int64(50))}, pods...)
			in.Budget = tc.budget
			plan := Decide(in, nil)
			if got := outcomeOf(plan, BEMemoryEvict, ""); len(plan.Victims) != tc.want || got.Held != tc.wantHeld {
				t.Errorf("%d evicted, held %q, want %d %q", len(plan.Victims), got.Held, tc.want, tc.wantHeld)
			}
		})
	}
	if budget := DefaultBudget(); budget.PerRound == 0 || budget.PerWindow == 0 || budget.Breaker.Evictions == 0 {
		t.Errorf("the default budget has no bound: %+v", budget)
	}
}

func drawPod(t *rapid.T) Pod {
	pod := Pod{
		Ref:      Ref{Namespace: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace"), Name: rapid.StringMatching("[a-z]{3}").Draw(t, "name")},
		QoS:      rapid.SampledFrom(append(extension.QoSClasses(), extension.QoSNone)).Draw(t, "qos"),
		Priority: rapid.Int32Range(0, 9999).Draw(t, "priority"), EvictionPriority: rapid.Int32Range(-2, 2).Draw(t, "eviction priority"),
		SubPriority: rapid.Int64Range(0, 3).Draw(t, "sub-priority"), Agrees: rapid.Bool().Draw(t, "agrees"), Active: rapid.IntRange(0, 9).Draw(t, "active") > 0,
		Leaving: rapid.IntRange(0, 9).Draw(t, "leaving") == 0,
	}
	if rapid.IntRange(0, 9).Draw(t, "critical") == 0 {
		pod.Critical = "it is a critical pod"
	}
	amount := podrequest.Amount{MilliCPU: rapid.Int64Range(0, 20_000).Draw(t, "cpu"), Memory: rapid.Int64Range(0, 20).Draw(t, "memory") * giga}
	switch rapid.IntRange(0, 2).Draw(t, "tier") {
	case 0:
		pod.Requests.Batch = amount
	case 1:
		pod.Requests.Mid = amount
	default:
		pod.Requests.Plain = amount
	}
	if rapid.IntRange(0, 9).Draw(t, "measured") > 0 {
		pod.Used = &podrequest.Amount{MilliCPU: rapid.Int64Range(0, 20_000).Draw(t, "cpu used"), Memory: rapid.Int64Range(0, 20).Draw(t, "memory used") * giga}
	}
	return pod
}

// TestAnyNode: no protected pod is evicted, no pod is evicted twice, and no more than needed, in whatever order the pods come.
func TestAnyNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pods := rapid.SliceOfNDistinct(rapid.Custom(drawPod), 0, 12, func(p Pod) Ref { return p.Ref }).Draw(t, "pods")
		percent := func(label string) *int64 { return new(rapid.Int64Range(10, 60).Draw(t, label)) }
		strategy := slov1alpha1.ResourceThresholdStrategy{
			MemoryEvictThresholdPercent: percent("memory"), CPUEvictThresholdPercent: percent("cpu"), EvictEnabledPriorityThreshold: new(rapid.Int32Range(0, 9999).Draw(t, "most")),
			CPUAllocatableEvictThresholdPercent: new(int64(110)), CPUAllocatableEvictLowerPercent: new(int64(100)),
			MemoryAllocatableEvictThresholdPercent: new(int64(110)), MemoryAllocatableEvictLowerPercent: new(int64(100)), AllocatableEvictPriorityThreshold: new(int32(7999)),
			CPUEvictBESatisfactionLowerPercent: new(int64(50)), CPUEvictBESatisfactionUpperPercent: new(int64(60)),
		}
		in := input(all(), node(rapid.Int64Range(0, 100_000).Draw(t, "used cpu"), rapid.Int64Range(0, 120).Draw(t, "used memory")*giga), strategy, pods...)
		cpu := satisfying(rapid.Int64Range(1, 20_000).Draw(t, "limit"), rapid.Int64Range(0, 40_000).Draw(t, "request"), rapid.Int64Range(0, 20_000).Draw(t, "use"))
		in.BestEffort = &Satisfaction{Average: cpu, Current: cpu, Samples: 1, Interval: time.Second}
		trace := &Trace{}
		plan := Decide(in, trace)
		if diff := cmp.Diff(plan, Decide(in, nil)); diff != "" {
			t.Fatalf("with a trace (-with +without):\n%s", diff)
		}
		seen := map[Ref]bool{}
		for _, victim := range plan.Victims {
			pod := pods[indexOf(pods, victim.Pod)]
			if seen[victim.Pod] || !pod.Active || pod.Leaving || pod.Critical != "" ||
				pod.QoS == extension.QoSLSE || pod.QoS == extension.QoSLSR || pod.QoS == extension.QoSSystem ||
				victim.Feature.BestEffort() && pod.QoS != extension.QoSBE || !victim.Feature.BestEffort() && !pod.Agrees || victim.Frees <= 0 {
				t.Fatalf("%s evicts %+v", victim.Feature, pod)
			}
			seen[victim.Pod] = true
		}
		for i, outcome := range plan.Outcomes {
			checkOutcome(t, outcome, trace.Considered[i], len(pods))
		}
		if _, err := json.Marshal(plan); err != nil {
			t.Fatal(err)
		}
		in.Pods = rapid.Permutation(pods).Draw(t, "another order")
		if diff := cmp.Diff(plan, Decide(in, nil)); diff != "" {
			t.Fatalf("another order of the same pods (-want +got):\n%s", diff)
		}
	})
}

func indexOf(pods []Pod, ref Ref) int {
	for i := range pods {
		if pods[i].Ref == ref {
			return i
		}
	}
	return -1
}

// checkOutcome: every pod is a candidate or excluded; victims come first and each was needed; the order is that of the keys.
func checkOutcome(t *rapid.T, outcome Outcome, considered Considered, pods int) {
	if listed := len(considered.Candidates) + len(considered.Excluded); listed != pods {
		t.Fatalf("%s: %d of %d pods are accounted for", outcome.Feature, listed, pods)
	}
	released := outcome.Pending
	for i, candidate := range considered.Candidates {
		if i > 0 && compareCandidates(considered.Candidates[i-1], candidate) >= 0 {
			t.Fatalf("%s: %v before %v", outcome.Feature, considered.Candidates[i-1], candidate)
		}
		if !candidate.Victim {
			continue
		}
		if i > 0 && !considered.Candidates[i-1].Victim || released >= outcome.Release {
			t.Fatalf("%s: %v goes, and was not needed or not next", outcome.Feature, candidate)
		}
		released += candidate.Frees
	}
	if outcome.State == Triggered && released < outcome.Release && outcome.Held == "" {
		t.Fatalf("%s: %d of %d released, and no reason given", outcome.Feature, released, outcome.Release)
	}
}
