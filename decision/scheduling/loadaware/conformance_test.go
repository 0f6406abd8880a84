package loadaware

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// held is a pod that was assigned to the node some time ago.
func held(pod *corev1.Pod, ago time.Duration) AssignedPod {
	return AssignedPod{Pod: pod, AssignedAt: now.Add(-ago)}
}

// weightless is a pod whose estimate is zero, so that a node is compared as it is.
func weightless() *corev1.Pod { return newPod("weightless", 7500, nil, nil) }

// TestWhatExpiredNodeMetricsMean has a node that was at 70 of 96 CPUs when it reported last.
func TestWhatExpiredNodeMetricsMean(t *testing.T) {
	refused, hot := Verdict{Code: finding.LoadMetricExpired}, refusedCPU(Plain, 73, 65)
	tests := []struct {
		name           string
		filter, enable *bool
		ago            time.Duration
		never          bool
		want           Verdict
	}{
		{name: "younger than three minutes it is compared", ago: 179 * time.Second, want: hot},
		{name: "from three minutes on it refuses", ago: 180 * time.Second, want: refused},
		{name: "never reported it refuses", never: true, want: refused},
		{name: "nodes without news may be let pass", enable: new(true), ago: time.Hour},
		{name: "nodes without any report may be let pass", enable: new(true), never: true},
		{name: "news are compared however nodes without them are treated", enable: new(true), ago: time.Minute, want: hot},
		{name: "unfiltered it is compared although it is old", filter: new(false), ago: time.Hour, want: hot},
		{name: "unfiltered it is compared although undated", filter: new(false), never: true, want: hot},
		{name: "unfiltered it is compared even where nodes without news may pass", filter: new(false), enable: new(true), ago: time.Hour, want: hot},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			metric := newMetric("cpu", "70", "memory", "1Gi")
			metric.Status.UpdateTime = &metav1.Time{Time: now.Add(-test.ago)}
			if test.never {
				metric.Status.UpdateTime = nil
			}
			args := &Args{FilterExpiredNodeMetrics: test.filter, EnableScheduleWhenNodeMetricsExpired: test.enable}
			in := input(args, weightless(), NodeInput{Node: newNode(), Metric: metric})
			if diff := cmp.Diff(test.want, Filter(in, nil)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if fresh := !test.never && test.ago < 3*time.Minute; (Score(in) > 0) != fresh {
				t.Errorf("score %d; only news score", Score(in))
			}
		})
	}
}

func TestLongReportIntervals(t *testing.T) {
	metric := newMetric("cpu", "40", "memory", "1Gi")
	metric.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{reported("p", extension.PriorityProd, "cpu", "1")}
	for name, test := range map[string]struct {
		interval *int64
		ago      time.Duration
		want     int64
	}{
		"a minute is the default":                     {nil, 71 * time.Second, 0},
		"a pod of the last minute counts":             {nil, 69 * time.Second, 16000},
		"a longer interval is heeded":                 {new(int64(300)), 4 * time.Minute, 16000},
		"an interval of nothing is the default":       {new(int64(0)), 69 * time.Second, 16000},
		"an interval longer than any life is heeded":  {new(int64(1) << 62), time.Hour, 16000},
		"a negative interval is the default":          {new(int64(-1)), 71 * time.Second, 0},
		"a pod older than a long interval is covered": {new(int64(300)), 6 * time.Minute, 0},
	} {
		metric.Spec.CollectPolicy = &slov1alpha1.NodeMetricCollectPolicy{ReportIntervalSeconds: test.interval}
		in := input(nil, weightless(), NodeInput{Node: newNode(), Metric: metric, Assigned: []AssignedPod{held(newPod("p", 9500, list("cpu", "20"), nil), test.ago)}})
		if got := in.Node.everyone[0]; got != test.want {
			t.Errorf("%s: %d milliCPU beyond the report, want %d", name, got, test.want)
		}
	}
}

// TestEstimatesHoldByTheTimeOfTheReport has a pod scheduled five minutes ago and a report of ten seconds ago: what
// counts is whether the report was made too early, not what time it is.
func TestEstimatesHoldByTheTimeOfTheReport(t *testing.T) {
	metric := newMetric("cpu", "40", "memory", "1Gi")
	metric.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{reported("p", extension.PriorityProd, "cpu", "1")}
	pod := held(newPod("p", 9500, list("cpu", "20"), nil), 5*time.Minute)
	for seconds, want := range map[int64]int64{290: 0, 291: 16000, 299: 16000, 301: 16000} {
		in := input(&Args{EstimatedSecondsAfterPodScheduled: &seconds}, weightless(), NodeInput{Node: newNode(), Metric: metric, Assigned: []AssignedPod{pod}})
		if got := in.Node.everyone[0]; got != want {
			t.Errorf("for %d seconds: %d milliCPU beyond the report, want %d", seconds, got, want)
		}
	}
}

func TestPodsThatAreListedButNotMeasured(t *testing.T) {
	metric := newMetric("cpu", "10", "memory", "1Gi")
	metric.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{{Namespace: "default", Name: "p", Priority: extension.PriorityProd}}
	in := input(nil, weightless(), NodeInput{Node: newNode(), Metric: metric, Assigned: []AssignedPod{held(newPod("p", 9500, list("cpu", "20"), nil), time.Hour)}})
	if got := in.Node.everyone[0]; got != 17000 {
		t.Errorf("%d milliCPU beyond the report, want the whole estimate of 17000", got)
	}
}

// TestProdUsage has a pod that requests 20 CPU, is estimated at 17 and was reported at 5.
func TestProdUsage(t *testing.T) {
	pod := func(priority int32) *corev1.Pod { return newPod("p", priority, list("cpu", "20"), nil) }
	tests := []struct {
		name       string
		system     bool
		reportedAs extension.PriorityClass
		assigned   []AssignedPod
		want       int64
	}{
		{name: "a prod pod counts as measured", reportedAs: extension.PriorityProd, assigned: []AssignedPod{held(pod(9500), time.Hour)}, want: 5000},
		{name: "a new prod pod counts by its estimate", reportedAs: extension.PriorityProd, assigned: []AssignedPod{held(pod(9500), time.Second)}, want: 17000},
		{name: "a pod of another band does not count", reportedAs: extension.PriorityMid, assigned: []AssignedPod{held(pod(7500), time.Hour)}, want: 0},
		{name: "a new pod of another band does not count", reportedAs: extension.PriorityMid, assigned: []AssignedPod{held(pod(7500), time.Second)}, want: 0},
		{name: "a pod reported before it became prod counts by its estimate", reportedAs: extension.PriorityMid, assigned: []AssignedPod{held(pod(9500), time.Hour)}, want: 17000},
		{name: "a pod reported as prod that is not does not count", reportedAs: extension.PriorityProd, assigned: []AssignedPod{held(pod(7500), time.Hour)}, want: 0},
		{name: "and not twice where two pods had its name", reportedAs: extension.PriorityProd, assigned: []AssignedPod{held(pod(7500), time.Hour), held(pod(7500), time.Minute)}, want: 0},
		{name: "a pod that is gone counts until the next report", reportedAs: extension.PriorityProd, want: 5000},
		{name: "the system may count", system: true, reportedAs: extension.PriorityProd, assigned: []AssignedPod{held(pod(9500), time.Hour)}, want: 7000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			metric := newMetric("cpu", "40", "memory", "1Gi")
			metric.Status.NodeMetric.SystemUsage = usage("cpu", "2")
			metric.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{reported("p", test.reportedAs, "cpu", "5")}
			args := &Args{ProdUsageThresholds: map[corev1.ResourceName]int64{"cpu": 50}, ProdUsageIncludeSys: test.system}
			in := input(args, newPod("tiny", 9500, list("cpu", "1m"), nil), NodeInput{Node: newNode(), Metric: metric, Assigned: test.assigned})
			trace := &Trace{}
			verdict := Filter(in, trace)
			got := trace.Comparisons[0]
			if used := got.Used + got.Assigned; used != test.want {
				t.Errorf("prod pods use %d milliCPU, want %d", used, test.want)
			}
			parts, _ := trace.parts(got)
			var sum int64
			for _, part := range parts {
				sum += part.Value
			}
			if sum != got.Assigned {
				t.Errorf("the parts of the estimate add up to %d, not %d; operands %v", sum, got.Assigned, trace.Operands(verdict))
			}
		})
	}
}

// TestThresholdsOfTheNode has a node at 48 of 96 CPUs by its latest report and 72 by the 95th percentile of 5 minutes,
// of which prod pods use 48.
func TestThresholdsOfTheNode(t *testing.T) {
	const gpu = "nvidia.com/gpu"
	node := func(annotation string) *corev1.Node {
		node := newNode()
		node.Status.Allocatable[gpu] = list(gpu, "4")[gpu]
		node.Annotations = map[string]string{extension.AnnotationCustomUsageThresholds: annotation}
		return node
	}
	metric := newMetric("cpu", "48", "memory", "1Gi", gpu, "3")
	metric.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{reported("web", extension.PriorityProd, "cpu", "48")}
	metric.Status.NodeMetric.AggregatedNodeUsages = []slov1alpha1.AggregatedUsage{
		{Duration: metav1.Duration{Duration: 5 * time.Minute}, Usage: map[extension.AggregationType]slov1alpha1.ResourceMap{extension.P95: usage("cpu", "72"), extension.AVG: usage("cpu", "40")}},
	}
	percentiles := &Args{Aggregated: &AggregatedArgs{UsageThresholds: map[corev1.ResourceName]int64{"cpu": 70}, UsageAggregationType: "p95"}}
	prod := newPod("prod", 9500, list("cpu", "1m"), nil)
	gpuVerdict := Verdict{Code: finding.LoadThresholdExceeded, Resource: gpu, Profile: Plain, Percent: 75, Threshold: 50}
	tests := []struct {
		name       string
		args       *Args
		annotation string
		pod        *corev1.Pod
		want       Verdict
	}{
		{name: "its own limit for usage", annotation: `{"usageThresholds":{"cpu":40}}`, want: refusedCPU(Plain, 50, 40)},
		{name: "its own limit switches another resource off", annotation: `{"usageThresholds":{"memory":1}}`},
		{name: "its own 0 switches the limit off", args: &Args{UsageThresholds: map[corev1.ResourceName]int64{"cpu": 10}}, annotation: `{"usageThresholds":{"cpu":0}}`},
		{name: "its own limit for prod pods", annotation: `{"prodUsageThresholds":{"cpu":40}}`, pod: prod, want: refusedCPU(Prod, 50, 40)},
		{name: "its limit for prod pods leaves others alone", annotation: `{"prodUsageThresholds":{"cpu":40}}`},
		{name: "its own limit for a percentile", annotation: `{"aggregatedUsage":{"usageThresholds":{"cpu":60},"usageAggregationType":"p95"}}`, want: refusedCPU(Aggregated, 75, 60)},
		{name: "its own percentile", args: percentiles, annotation: `{"aggregatedUsage":{"usageThresholds":{"cpu":60},"usageAggregationType":"avg"}}`},
		{name: "its own window, which was not reported", annotation: `{"aggregatedUsage":{"usageThresholds":{"cpu":45},"usageAggregationType":"p95","usageAggregatedDuration":"10m"}}`,
			want: refusedCPU(Aggregated, 50, 45)},
		{name: "a percentile without a type is left to the configuration", args: percentiles, annotation: `{"aggregatedUsage":{"usageThresholds":{"cpu":60}}}`, want: refusedCPU(Aggregated, 75, 70)},
		{name: "a type that does not exist leaves all to the configuration", args: percentiles,
			annotation: `{"usageThresholds":{"cpu":40},"aggregatedUsage":{"usageThresholds":{"cpu":60},"usageAggregationType":"p42"}}`, want: refusedCPU(Aggregated, 75, 70)},
		{name: "a negative window does, too", annotation: `{"usageThresholds":{"cpu":40},"aggregatedUsage":{"usageThresholds":{"cpu":60},"usageAggregationType":"p95","usageAggregatedDuration":"-1m"}}`},
		{name: "prod limits come before percentiles", args: percentiles, annotation: `{"prodUsageThresholds":{"cpu":60}}`, pod: prod},
		{name: "a resource that the configuration does not know is passed over", annotation: `{"usageThresholds":{"nvidia.com/gpu":50}}`},
		{name: "a supported resource may have a limit on one node", args: &Args{SupportedResources: []corev1.ResourceName{gpu}},
			annotation: `{"usageThresholds":{"nvidia.com/gpu":50}}`, want: gpuVerdict},
		{name: "and so may one with a factor", args: &Args{EstimatedScalingFactors: map[corev1.ResourceName]int64{gpu: 80}},
			annotation: `{"usageThresholds":{"nvidia.com/gpu":50}}`, want: gpuVerdict},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.pod == nil {
				test.pod = weightless()
			}
			in := input(test.args, test.pod, NodeInput{Node: node(test.annotation), Metric: metric})
			if diff := cmp.Diff(test.want, Filter(in, nil)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPercentagesStayPositive(t *testing.T) {
	node := newNode()
	node.Status.Allocatable = list("cpu", "1m", "memory", "1")
	in := NodeInput{Node: node, Metric: newMetric("cpu", "0", "memory", "0")}
	for i := range 200 {
		in.Assigned = append(in.Assigned, held(newPod(string(rune('a'+i)), 9500, list("cpu", "1P", "memory", "1Ei"), nil), 0))
	}
	if verdict := Filter(input(nil, weightless(), in), nil); verdict.Passed() || verdict.Percent <= 0 {
		t.Errorf("verdict %+v on a node with pods beyond any size", verdict)
	}
}
