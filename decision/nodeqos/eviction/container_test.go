package eviction

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/core/podrequest"
)

// task is a container of YARN that has used CPU time.
func task(name string, priority int32, requestMilli, usedMemory int64, work time.Duration) Pod {
	return ContainerOf(&Container{
		Agent: "yarn", Namespace: "yarn", Name: name, Priority: priority, Created: noon.Add(-time.Hour), CPUTime: &work,
		Requests: podrequest.Amount{MilliCPU: requestMilli, Memory: usedMemory}, Used: &podrequest.Amount{MilliCPU: requestMilli, Memory: usedMemory},
	}, noon)
}

func TestContainersOfOtherSchedulersAreEvictedBesidePods(t *testing.T) {
	memory := slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: new(int64(80)), MemoryEvictLowerPercent: new(int64(70))}
	for name, test := range map[string]struct {
		pods        []Pod
		wantVictims []string
	}{
		"of containers the one that loses the least work goes first, however much it uses": {
			pods:        []Pod{task("old", 5500, 1000, 9*giga, time.Hour), task("young", 5500, 1000, 8*giga, time.Minute), task("new", 5500, 1000, 6*giga, time.Second)},
			wantVictims: []string{"new", "young"},
		},
		"a pod of a lower priority goes before any container": {
			pods:        []Pod{task("task", 5500, 1000, 9*giga, time.Second), batch("executor", 5000, 1000, 1000, 20*giga)},
			wantVictims: []string{"executor"},
		},
		"a container goes before pods of its priority, and pods follow": {
			pods:        []Pod{batch("executor", 5500, 1000, 1000, 50*giga), task("task", 5500, 1000, 1*giga, time.Hour)},
			wantVictims: []string{"task", "executor"},
		},
		"a container that is being killed counts as gone": {
			pods: []Pod{
				func() Pod { killed := task("killed", 5500, 1000, 14*giga, 0); killed.Leaving = true; return killed }(),
				task("task", 5500, 1000, 9*giga, time.Hour),
			},
		},
		"a container whose priority is not known has that of batch pods": {
			pods:        []Pod{task("task", 0, 1000, 14*giga, 0), batch("executor", 5499, 1000, 1000, 14*giga)},
			wantVictims: []string{"executor"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := Decide(input(only(BEMemoryEvict), node(0, 98*giga), memory, test.pods...), nil)
			if diff := cmp.Diff(test.wantVictims, names(plan.Victims)); diff != "" {
				t.Errorf("victims (-want +got):\n%s\noutcomes %+v", diff, plan.Outcomes)
			}
		})
	}
}

func TestContainersThatWereNotMeasuredLoseWhatTheyMayHaveUsed(t *testing.T) {
	for name, test := range map[string]struct {
		container Container
		wantWork  float64
	}{
		"the CPU time that was measured":     {container: Container{CPUTime: new(90 * time.Second), Created: noon.Add(-time.Hour)}, wantWork: 90},
		"its age times what it requests":     {container: Container{Created: noon.Add(-time.Minute), Requests: podrequest.Amount{MilliCPU: 4000}}, wantWork: 240},
		"its age where it requests nothing":  {container: Container{Created: noon.Add(-time.Minute)}, wantWork: 60},
		"nothing where nothing is known":     {},
		"nothing of a start that lies ahead": {container: Container{Created: noon.Add(time.Hour)}},
		"nothing of a counter gone backward": {container: Container{CPUTime: new(-time.Second)}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ContainerOf(&test.container, noon); got.Work != test.wantWork {
				t.Errorf("work = %v, want %v", got.Work, test.wantWork)
			}
		})
	}
}

// TestWhatPodsAreOfferedLeavesContainersOut: the offer of a node is without what other schedulers have of it.
func TestWhatPodsAreOfferedLeavesContainersOut(t *testing.T) {
	most := int32(5999)
	strategy := slov1alpha1.ResourceThresholdStrategy{
		AllocatableEvictPriorityThreshold: &most, CPUAllocatableEvictThresholdPercent: new(int64(100)), CPUAllocatableEvictLowerPercent: new(int64(90)),
	}
	agreeing := task("task", 5500, 30_000, giga, 0)
	agreeing.Agrees = true
	in := input(only(CPUAllocatableEvict), node(0, 0), strategy, batch("executor", 5500, 30_000, 1000, giga), agreeing)
	trace := &Trace{}
	plan := Decide(in, trace)
	outcome := outcomeOf(plan, CPUAllocatableEvict, podrequest.Batch)
	if outcome.State != Calm || outcome.ObservedPercent != 75 {
		t.Errorf("outcome = %+v, want 30 of 40 cores requested", outcome)
	}
	var codes []Code
	for _, excluded := range trace.Considered[1].Excluded {
		codes = append(codes, excluded.Code)
	}
	if diff := cmp.Diff([]Code{DoesNotAgree, NotOffered}, codes); diff != "" {
		t.Errorf("exclusions (-want +got):\n%s", diff)
	}
}

// TestContainersShareTheLimitOfBestEffortPods: both are below the cgroup that suppression limits, but only pods in what a node offers.
func TestContainersShareTheLimitOfBestEffortPods(t *testing.T) {
	pods := []Pod{batch("executor", 5500, 10_000, 10_000, giga), task("task", 5500, 30_000, giga, 0)}
	strategy := slov1alpha1.ResourceThresholdStrategy{
		CPUEvictBESatisfactionLowerPercent: new(int64(40)), CPUEvictBESatisfactionUpperPercent: new(int64(50)), CPUEvictBEUsageThresholdPercent: new(int64(90)),
	}
	for name, test := range map[string]struct {
		policy      slov1alpha1.CPUEvictPolicy
		wantState   State
		wantVictims []string
	}{
		"by the limit":          {policy: slov1alpha1.EvictByRealLimitPolicy, wantState: Triggered, wantVictims: []string{"task"}},
		"by what pods may have": {policy: slov1alpha1.EvictByAllocatablePolicy, wantState: Calm},
	} {
		t.Run(name, func(t *testing.T) {
			strategy := strategy
			strategy.CPUEvictPolicy = test.policy
			in := input(only(BECPUEvict), node(0, 0), strategy, pods...)
			got := BestEffortOf(pods, 10_000)
			in.BestEffort = &Satisfaction{Average: got, Current: got, Samples: 100, Interval: time.Second}
			plan := Decide(in, nil)
			if plan.Outcomes[0].State != test.wantState {
				t.Errorf("state = %s, want %s: %s", plan.Outcomes[0].State, test.wantState, plan.Outcomes[0].Reason)
			}
			if diff := cmp.Diff(test.wantVictims, names(plan.Victims)); diff != "" {
				t.Errorf("victims (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheOrderOfPodsAndContainersIsTotal: victims are the same whatever order pods and containers come in.
func TestTheOrderOfPodsAndContainersIsTotal(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	memory := slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: new(int64(50)), MemoryEvictLowerPercent: new(int64(30))}
	for range 200 {
		var pods []Pod
		for i := range 12 {
			name := string(rune('a' + i))
			priority := int32(5500 + random.IntN(2))
			if random.IntN(2) == 0 {
				pods = append(pods, task(name, priority, 1000, giga*int64(1+random.IntN(9)), time.Duration(random.IntN(3))*time.Minute))
			} else {
				pod := batch(name, priority, 1000, 1000, giga*int64(1+random.IntN(3)))
				if random.IntN(2) == 0 {
					pod.Job = &jobinsight.Progress{Started: noon.Add(-time.Duration(random.IntN(90)) * time.Minute),
						Expected: &extension.JobPrediction{Duration: &extension.JobDuration{LikelySeconds: 3600, MostSeconds: 3600}}}
				}
				pods = append(pods, pod)
			}
		}
		want := Decide(input(only(BEMemoryEvict), node(0, 70*giga), memory, pods...), nil)
		random.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		got := Decide(input(only(BEMemoryEvict), node(0, 70*giga), memory, pods...), &Trace{})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("plan of shuffled pods (-want +got):\n%s", diff)
		}
	}
}

func TestReleaseContainers(t *testing.T) {
	ended := task("ended", 5000, 9000, 9*giga, 0)
	ended.Active = false
	for name, test := range map[string]struct {
		containers   []Pod
		wanted       podrequest.Amount
		wantNames    []string
		wantReleased podrequest.Amount
	}{
		"the least progress is lost first": {
			containers: []Pod{task("a", 5500, 1000, giga, time.Hour), task("b", 5500, 1000, giga, time.Second), task("c", 5500, 1000, giga, time.Minute)},
			wanted:     podrequest.Amount{MilliCPU: 1500}, wantNames: []string{"b", "c"}, wantReleased: podrequest.Amount{MilliCPU: 2000, Memory: 2 * giga},
		},
		"a higher priority goes last, such as an application master's": {
			containers: []Pod{task("master", 5501, 1000, giga, 0), task("task", 5500, 1000, giga, time.Hour)},
			wanted:     podrequest.Amount{Memory: 1}, wantNames: []string{"task"}, wantReleased: podrequest.Amount{MilliCPU: 1000, Memory: giga},
		},
		"what has none of the resource stays": {
			containers: []Pod{task("memory", 5500, 0, giga, 0), task("cpu", 5500, 1000, 0, time.Hour)},
			wanted:     podrequest.Amount{MilliCPU: 1000}, wantNames: []string{"cpu"}, wantReleased: podrequest.Amount{MilliCPU: 1000},
		},
		"more than there is": {
			containers: []Pod{task("a", 5500, 1000, giga, 0), ended}, wanted: podrequest.Amount{MilliCPU: 5000},
			wantNames: []string{"a"}, wantReleased: podrequest.Amount{MilliCPU: 1000, Memory: giga},
		},
		"nothing wanted": {containers: []Pod{task("a", 5500, 1000, giga, 0)}},
	} {
		t.Run(name, func(t *testing.T) {
			chosen, released := ReleaseContainers(test.containers, test.wanted)
			var got []string
			for _, ref := range chosen {
				got = append(got, ref.Name)
			}
			if diff := cmp.Diff(test.wantNames, got); diff != "" {
				t.Errorf("chosen (-want +got):\n%s", diff)
			}
			if released != test.wantReleased {
				t.Errorf("released = %+v, want %+v", released, test.wantReleased)
			}
		})
	}
}

func TestContainersAreBestEffort(t *testing.T) {
	got := ContainerOf(&Container{Agent: "yarn", Name: "c", Labels: map[string]string{extension.LabelPodEvictEnabled: "true"}}, noon)
	if got.QoS != extension.QoSBE || !got.Agrees || got.UID != "yarn/c" || got.Kind() != "container" {
		t.Errorf("container = %+v", got)
	}
}
