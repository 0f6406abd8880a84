package fleet

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/host/simulated"
	"koordinator.sh/koord/agent/host/trace"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// running starts a fleet that ends with the test, and waits until it has gone.
func running(t *testing.T, opts Options) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, opts) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run() = %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("Run() does not return after its context ended")
		}
	})
}

// eventually polls a condition; between two looks it lets the fleet's clock run on by a step, if it has one.
func eventually(t *testing.T, what string, clock *testclock.FakeClock, step time.Duration, condition func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for !condition() {
		select {
		case <-deadline.C:
			t.Fatalf("not within a minute: %s", what)
		case <-poll.C:
			clock.Step(step)
		}
	}
}

func testNode(name string, annotations map[string]string) *corev1.Node {
	size := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi")}
	return &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{simulated.LabelNode: "true"}, Annotations: annotations},
		Status:     corev1.NodeStatus{Capacity: size, Allocatable: size},
	}
}

func testMetric(name string) *slov1alpha1.NodeMetric {
	return &slov1alpha1.NodeMetric{
		TypeMeta:   metav1.TypeMeta{APIVersion: "slo.koordinator.sh/v1alpha1", Kind: "NodeMetric"},
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("metric-" + name)},
	}
}

// testService is a running prod pod of 4 cores and 8 GiB, two days old.
func testService(name, node string) *corev1.Pod {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi")}
	priority := int32(9500)
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", UID: types.UID("pod-" + name), Labels: map[string]string{extension.LabelPodQoS: "LS"}},
		Spec: corev1.PodSpec{
			NodeName: node, Priority: &priority,
			Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &metav1.Time{Time: noon.Add(-48 * time.Hour)}},
	}
}

func (s *apiServer) statusOf(node string) slov1alpha1.NodeMetricStatus {
	var metric slov1alpha1.NodeMetric
	s.read("nodemetrics", "/"+node, &metric)
	return metric.Status
}

func TestFirstReportIsComplete(t *testing.T) {
	api := newAPIServer(t)
	api.put("nodes", testNode("sim-1", nil))
	api.put("nodemetrics", testMetric("sim-1"))
	api.put("pods", testService("web-1", "sim-1"))
	pending := testService("web-2", "sim-1")
	pending.Status.Phase = corev1.PodPending
	api.put("pods", pending)
	clock := testclock.NewFakeClock(noon)
	running(t, Options{RESTConfig: api.config(), Seed: 1, Clock: clock})
	eventually(t, "first report", clock, 0, func() bool { return api.reportsOf("sim-1") > 0 })

	status := api.statusOf("sim-1")
	if !status.UpdateTime.Time.Equal(noon) {
		t.Errorf("updateTime = %s, want %s", status.UpdateTime, noon)
	}
	if got := len(status.NodeMetric.AggregatedNodeUsages); got != 3 {
		t.Errorf("%d aggregated windows, want 5m, 10m and 30m", got)
	}
	if len(status.PodsMetric) != 1 || status.PodsMetric[0].Name != "web-1" {
		t.Fatalf("podsMetric = %v, want the running pod alone", status.PodsMetric)
	}
	pod := status.PodsMetric[0]
	if pod.Priority != extension.PriorityProd || pod.QoS != extension.QoSLS {
		t.Errorf("pod is %s %s, want koord-prod LS", pod.Priority, pod.QoS)
	}
	if used := pod.PodUsage.ResourceList.Cpu().MilliValue(); used < 400 || used > 1600 {
		t.Errorf("pod uses %dm, want 10-40%% of 4 cores", used)
	}
	if reclaimable := status.ProdReclaimableMetric.Resource.ResourceList.Cpu().MilliValue(); reclaimable < 1500 || reclaimable > 3600 {
		t.Errorf("prodReclaimable cpu = %dm, want what a service of 4 cores leaves at its peak", reclaimable)
	}
}

func TestOtherNodesAreLeftAlone(t *testing.T) {
	api := newAPIServer(t)
	real := testNode("real-1", nil)
	real.Labels = nil
	for _, node := range []*corev1.Node{testNode("sim-1", nil), real} {
		api.put("nodes", node)
		api.put("nodemetrics", testMetric(node.Name))
	}
	clock := testclock.NewFakeClock(noon)
	running(t, Options{RESTConfig: api.config(), Clock: clock})
	eventually(t, "three reports of the simulated node", clock, time.Second, func() bool { return api.reportsOf("sim-1") >= 3 })
	if got := api.reportsOf("real-1"); got != 0 {
		t.Errorf("%d reports for a node that is not simulated, want none", got)
	}
}

func TestSimulationAnnotations(t *testing.T) {
	tests := map[string]struct {
		annotations map[string]string
		want        func(slov1alpha1.NodeMetricStatus) string
	}{
		"a node frozen from the start has one stale report": {
			annotations: map[string]string{simulated.AnnotationFreezeMetrics: "true"},
			want: func(s slov1alpha1.NodeMetricStatus) string {
				return differs(noon.Sub(s.UpdateTime.Time) >= 15*time.Minute, "updateTime %s is not stale", s.UpdateTime)
			},
		},
		"a node frozen for an hour reports as of then": {
			annotations: map[string]string{simulated.AnnotationFreezeMetrics: "1h"},
			want: func(s slov1alpha1.NodeMetricStatus) string {
				return differs(s.UpdateTime.Time.Equal(noon.Add(-time.Hour)), "updateTime %s", s.UpdateTime)
			},
		},
		"negative": {
			annotations: map[string]string{simulated.AnnotationReport: "negative"},
			want: func(s slov1alpha1.NodeMetricStatus) string {
				return differs(s.NodeMetric.NodeUsage.ResourceList.Cpu().Sign() < 0, "cpu %s", s.NodeMetric.NodeUsage.ResourceList.Cpu())
			},
		},
		"absurd": {
			annotations: map[string]string{simulated.AnnotationReport: "absurd"},
			want: func(s slov1alpha1.NodeMetricStatus) string {
				return differs(s.NodeMetric.NodeUsage.ResourceList.Cpu().Value() == 320, "cpu %s", s.NodeMetric.NodeUsage.ResourceList.Cpu())
			},
		},
		"future": {
			annotations: map[string]string{simulated.AnnotationReport: "future"},
			want: func(s slov1alpha1.NodeMetricStatus) string {
				return differs(s.UpdateTime.Time.Equal(noon.Add(time.Hour)), "updateTime %s", s.UpdateTime)
			},
		},
		"hot": {
			annotations: map[string]string{simulated.AnnotationHotPercent: "85"},
			want: func(s slov1alpha1.NodeMetricStatus) string {
				used := s.NodeMetric.NodeUsage.ResourceList.Cpu().MilliValue()
				return differs(used > 80*160 && used < 90*160, "cpu %dm of 16 cores", used)
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			api := newAPIServer(t)
			api.put("nodes", testNode("sim-1", test.annotations))
			api.put("nodemetrics", testMetric("sim-1"))
			api.put("pods", testService("web-1", "sim-1"))
			clock := testclock.NewFakeClock(noon)
			running(t, Options{RESTConfig: api.config(), Clock: clock})
			eventually(t, "first report", clock, 0, func() bool { return api.reportsOf("sim-1") > 0 })
			if problem := test.want(api.statusOf("sim-1")); problem != "" {
				t.Error(problem)
			}
		})
	}
}

func differs(ok bool, format string, args ...any) string {
	if ok {
		return ""
	}
	return fmt.Sprintf("unexpected "+format, args...)
}

func TestFreezingStopsReports(t *testing.T) {
	api := newAPIServer(t)
	for _, name := range []string{"sim-1", "sim-2"} {
		api.put("nodes", testNode(name, nil))
		api.put("nodemetrics", testMetric(name))
	}
	clock := testclock.NewFakeClock(noon)
	running(t, Options{RESTConfig: api.config(), Clock: clock})
	eventually(t, "a report of each", clock, 0, func() bool { return api.reportsOf("sim-1") > 0 && api.reportsOf("sim-2") > 0 })

	frozen := testNode("sim-1", map[string]string{simulated.AnnotationFreezeMetrics: "true"})
	api.put("nodes", frozen)
	// One report may be under way when the annotation arrives; from the tenth of the other node on there must be none.
	more := func(n int) func() bool { return func() bool { return api.reportsOf("sim-2") >= n } }
	eventually(t, "ten reports of the other", clock, 10*time.Second, more(10))
	before := api.reportsOf("sim-1")
	eventually(t, "twenty reports of the other", clock, 10*time.Second, more(20))
	if after := api.reportsOf("sim-1"); after != before {
		t.Errorf("a frozen node made %d reports", after-before)
	}

	api.put("nodes", testNode("sim-1", nil))
	eventually(t, "a report after thawing", clock, 10*time.Second, func() bool { return api.reportsOf("sim-1") > before })
}

func TestReportsSurviveTheAPIServer(t *testing.T) {
	api := newAPIServer(t)
	api.put("nodes", testNode("sim-1", nil))
	api.put("nodemetrics", testMetric("sim-1"))
	clock := testclock.NewFakeClock(noon)
	running(t, Options{RESTConfig: api.config(), Clock: clock})
	eventually(t, "first report", clock, 0, func() bool { return api.reportsOf("sim-1") > 0 })

	api.stop()
	clock.Step(2 * time.Minute)
	before := api.reportsOf("sim-1")
	api.start()
	eventually(t, "a report to the new server", clock, time.Second, func() bool { return api.reportsOf("sim-1") > before })

	api.put("nodes", testNode("sim-2", nil))
	api.put("nodemetrics", testMetric("sim-2"))
	eventually(t, "a node created after the restart", clock, time.Second, func() bool { return api.reportsOf("sim-2") > 0 })
}

func TestFailedReportsAreRetriedBeforeTheNextIsDue(t *testing.T) {
	api := newAPIServer(t)
	api.put("nodes", testNode("sim-1", nil))
	api.put("nodemetrics", testMetric("sim-1"))
	api.refusing(http.StatusInternalServerError)
	clock := testclock.NewFakeClock(noon)
	running(t, Options{RESTConfig: api.config(), Clock: clock})
	eventually(t, "a refused report", clock, 0, func() bool { return api.refusals() > 0 })
	api.refusing(0)
	eventually(t, "the report again", clock, 10*time.Millisecond, func() bool { return api.reportsOf("sim-1") > 0 })
	// The second report is due after half of the interval, 30 seconds, at the earliest.
	if late := clock.Now().Sub(noon); late >= 30*time.Second {
		t.Errorf("the report was made again %s later, with the next one", late)
	}
}

func TestANewNodeMetricIsReportedToAtOnce(t *testing.T) {
	api := newAPIServer(t)
	api.put("nodes", testNode("sim-1", nil))
	api.put("nodemetrics", testMetric("sim-1"))
	clock := testclock.NewFakeClock(noon)
	running(t, Options{RESTConfig: api.config(), Clock: clock})
	eventually(t, "first report", clock, 0, func() bool { return api.reportsOf("sim-1") > 0 })
	api.remove("nodemetrics", "/sim-1")
	again := testMetric("sim-1")
	again.UID = "another"
	api.put("nodemetrics", again)
	eventually(t, "a report to the new one", clock, 10*time.Millisecond, func() bool { return api.statusOf("sim-1").UpdateTime != nil })
	if late := clock.Now().Sub(noon); late >= 30*time.Second {
		t.Errorf("it was reported to %s later, when the next report was due", late)
	}
}

func TestPodsComeAndGo(t *testing.T) {
	api := newAPIServer(t)
	api.put("nodes", testNode("sim-1", nil))
	api.put("nodemetrics", testMetric("sim-1"))
	clock := testclock.NewFakeClock(noon)
	running(t, Options{RESTConfig: api.config(), Clock: clock, ReportInterval: 5 * time.Second})
	eventually(t, "a report without pods", clock, 0, func() bool { return api.reportsOf("sim-1") > 0 })

	pod := testService("web-1", "sim-1")
	pod.Status.StartTime = &metav1.Time{Time: clock.Now()}
	api.put("pods", pod)
	eventually(t, "a report with the pod", clock, time.Second, func() bool { return len(api.statusOf("sim-1").PodsMetric) == 1 })
	api.remove("pods", "shop/web-1")
	eventually(t, "a report without the pod", clock, time.Second, func() bool { return len(api.statusOf("sim-1").PodsMetric) == 0 })
}

func TestNodeMetricPolicyIsFollowed(t *testing.T) {
	api := newAPIServer(t)
	api.put("nodes", testNode("sim-1", nil))
	metric := testMetric("sim-1")
	metric.Spec.CollectPolicy = &slov1alpha1.NodeMetricCollectPolicy{
		ReportIntervalSeconds: new(int64(600)),
		NodeAggregatePolicy:   &slov1alpha1.AggregatePolicy{Durations: []metav1.Duration{{Duration: 15 * time.Minute}}},
	}
	api.put("nodemetrics", metric)
	clock := testclock.NewFakeClock(noon)
	running(t, Options{RESTConfig: api.config(), Clock: clock})
	var times []time.Time
	eventually(t, "four reports", clock, time.Second, func() bool {
		if status := api.statusOf("sim-1"); status.UpdateTime != nil && (len(times) == 0 || status.UpdateTime.After(times[len(times)-1])) {
			times = append(times, status.UpdateTime.Time)
		}
		return len(times) >= 4
	})
	if windows := api.statusOf("sim-1").NodeMetric.AggregatedNodeUsages; len(windows) != 1 || windows[0].Duration.Duration != 15*time.Minute {
		t.Errorf("windows = %v, want 15m alone", windows)
	}
	for i := 2; i < len(times); i++ {
		// The fleet's clock runs on while the fleet works, hence the wide bounds; the default would be a minute.
		if gap := times[i].Sub(times[i-1]); gap < 5*time.Minute || gap > 20*time.Minute {
			t.Errorf("report %d came %s after the one before, want about 10m", i, gap)
		}
	}
}

func TestTraceDrivesNodeMetric(t *testing.T) {
	// The service's recording steps from 10 to 40 at noon; its maximum becomes a peak of 40-60 % of the request.
	var csv strings.Builder
	csv.WriteString("ts,value\n")
	for at := noon.Add(-6 * time.Hour); at.Before(noon.Add(6 * time.Hour)); at = at.Add(time.Minute) {
		value := 10
		if !at.Before(noon) {
			value = 40
		}
		fmt.Fprintf(&csv, "%d,%d\n", at.Unix(), value)
	}
	series, err := trace.Parse(strings.NewReader(csv.String()), "web.csv", trace.MaxValues)
	if err != nil {
		t.Fatal(err)
	}
	set := &trace.Set{Services: series}
	api := newAPIServer(t)
	api.put("nodes", testNode("sim-1", nil))
	api.put("nodemetrics", testMetric("sim-1"))
	api.put("pods", testService("web-1", "sim-1"))
	clock := testclock.NewFakeClock(noon.Add(-10 * time.Minute))
	running(t, Options{RESTConfig: api.config(), Clock: clock, ReportInterval: 10 * time.Second, Trace: set})

	scale := set.For("shop/web-1", "shop/web-1").Scale
	wantLow, wantHigh := math.Ceil(10*scale*4000), math.Ceil(40*scale*4000)
	used := func() float64 {
		status := api.statusOf("sim-1")
		if len(status.PodsMetric) == 0 {
			return 0
		}
		return float64(status.PodsMetric[0].PodUsage.ResourceList.Cpu().MilliValue())
	}
	eventually(t, fmt.Sprintf("usage of %gm before the step", wantLow), clock, 0, func() bool { return used() == wantLow })
	eventually(t, fmt.Sprintf("usage of %gm after the step", wantHigh), clock, time.Second, func() bool { return used() == wantHigh })
	if now := clock.Now(); now.Before(noon.Add(4 * time.Minute)) {
		t.Errorf("the average over 5 minutes followed the step at %s already", now)
	}
}
