package fleet

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/simulated"
	"koordinator.sh/koord/agent/host/trace"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// addPod puts a pod of sim-0000 that began so long ago into the agents' index and has the agent look.
func addPod(t *testing.T, a *agent, name string, age time.Duration) {
	t.Helper()
	pod := testService(name, a.name)
	pod.Status.StartTime = &metav1.Time{Time: noon.Add(-age)}
	record, err := recordPod(a.opts.timeline(), nil)(pod)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.pods.Add(record); err != nil {
		t.Fatal(err)
	}
	a.markPods()
}

// usage is what the latest report of an agent would say: of the node over half an hour, and of each pod.
type usage struct {
	Node int64
	Pods map[string]int64
}

func usageOf(t *testing.T, a *agent, now time.Time) usage {
	t.Helper()
	status := a.status(now)
	if status == nil || status.NodeMetric == nil {
		t.Fatalf("status %v has no usage", status)
	}
	out := usage{Pods: map[string]int64{}}
	for _, aggregate := range status.NodeMetric.AggregatedNodeUsages {
		if aggregate.Duration.Duration == 30*time.Minute {
			out.Node = milli(aggregate.Usage["avg"])
		}
	}
	for _, pod := range status.PodsMetric {
		out.Pods[pod.Name] = milli(pod.PodUsage)
	}
	return out
}

func milli(usage slov1alpha1.ResourceMap) int64 { return usage.ResourceList.Cpu().MilliValue() }

// TestALatePodWithAPastIsMeasuredOverIt compares an agent that learns of pods late with one that knew them from the start.
func TestALatePodWithAPastIsMeasuredOverIt(t *testing.T) {
	const step = DefaultSamplePeriod
	tests := []struct {
		name string
		// age of the late pod when the agent learns of it.
		age      time.Duration
		wantSame bool
	}{
		{name: "a pod older than all windows changes them back to their beginning", age: 2 * time.Hour, wantSame: true},
		{name: "a pod that just began changes nothing that was measured", age: -step},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var scratch host.Snapshot
			late := benchAgents(t, 1, 1, testclock.NewFakeClock(noon))[0]
			late.advance(noon, &scratch)
			without := usageOf(t, late, noon)
			machine := late.host
			addPod(t, late, "late", test.age)
			late.advance(noon.Add(step), &scratch)

			early := benchAgents(t, 1, 1, testclock.NewFakeClock(noon))[0]
			addPod(t, early, "late", test.age)
			early.advance(noon.Add(step), &scratch)

			got, want := usageOf(t, late, noon.Add(step)), usageOf(t, early, noon.Add(step))
			if diff := cmp.Diff(want, got); test.wantSame && diff != "" {
				t.Errorf("an agent that learned of the pod late differs from one that knew it (-knew +late):\n%s", diff)
			}
			if anew := late.host != machine; anew != test.wantSame {
				t.Errorf("simulated anew: %t, want %t", anew, test.wantSame)
			}
			if test.wantSame && got.Node < without.Node+got.Pods["late"]/2 {
				t.Errorf("the node's half hour went from %dm to %dm although the pod used %dm all the while", without.Node, got.Node, got.Pods["late"])
			}
		})
	}
}

// TestLearningOfAPodKeepsWhatWasLearnedOfOthers: the machine is replaced, its predictor is kept.
func TestLearningOfAPodKeepsWhatWasLearnedOfOthers(t *testing.T) {
	var scratch host.Snapshot
	a := benchAgents(t, 1, 2, testclock.NewFakeClock(noon))[0]
	a.advance(noon, &scratch)
	predictor, before := a.predictor, a.estimate(noon)
	addPod(t, a, "late", 48*time.Hour)
	a.advance(noon.Add(DefaultSamplePeriod), &scratch)
	if a.predictor != predictor {
		t.Error("the prediction began anew")
	}
	if after := a.estimate(noon); after.ByPod.Peak.MilliCPU <= before.ByPod.Peak.MilliCPU || after.ColdPods != 0 {
		t.Errorf("estimate %+v after %+v: the late pod is not learned", after, before)
	}
}

func TestAMachineThatChangedIsReportedAtOnce(t *testing.T) {
	var scratch host.Snapshot
	a := benchAgents(t, 1, 1, testclock.NewFakeClock(noon))[0]
	if !a.advance(noon, &scratch) {
		t.Fatal("the first report is not due")
	}
	hot, err := recordNode(testNode(a.name, map[string]string{simulated.AnnotationHotPercent: "85"}))
	if err != nil {
		t.Fatal(err)
	}
	a.setNode(hot.(*nodeRecord))
	if a.status(noon) != nil {
		t.Error("a report that was under way tells of a machine that is no more")
	}
	if !a.advance(noon.Add(time.Second), &scratch) {
		t.Error("the new machine is not reported")
	}
	if a.advance(noon.Add(2*time.Second), &scratch) {
		t.Error("it is reported twice")
	}
}

func TestATraceWithoutRecordingsIsRefused(t *testing.T) {
	opts := Options{RESTConfig: (&apiServer{address: "unused:1"}).config(), Trace: &trace.Set{}}
	if _, err := opts.withDefaults(); err == nil {
		t.Error("a trace without recordings was taken")
	}
}
