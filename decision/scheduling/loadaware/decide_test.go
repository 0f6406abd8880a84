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

type filterCase struct {
	name        string
	args        *Args
	pod         *corev1.Pod
	in          NodeInput
	want        Verdict
	wantReason  string
	wantMessage string
}

func (test filterCase) run(t *testing.T) {
	t.Helper()
	if test.pod == nil {
		test.pod = newPod("incoming", 9500, list("cpu", "1", "memory", "1Gi"), nil)
	}
	if test.in.Node == nil {
		test.in.Node = newNode()
	}
	in := input(test.args, test.pod, test.in)
	got := Filter(in, nil)
	if diff := cmp.Diff(test.want, got); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
	if got.Reason() != test.wantReason {
		t.Errorf("reason %q, want %q", got.Reason(), test.wantReason)
	}
	trace := &Trace{}
	if traced := Filter(in, trace); traced != got {
		t.Errorf("with a trace the verdict is %+v, without %+v", traced, got)
	}
	if message := trace.Message(got); message != test.wantMessage {
		t.Errorf("message %q, want %q", message, test.wantMessage)
	}
}

func refusedCPU(profile Profile, percent, threshold int64) Verdict {
	code := finding.LoadThresholdExceeded
	if profile == Aggregated {
		code = finding.LoadAggregatedExceeded
	}
	return Verdict{Code: code, Resource: "cpu", Profile: profile, Percent: percent, Threshold: threshold}
}

func TestFilterByUsage(t *testing.T) {
	aggregated := newMetric("cpu", "10", "memory", "10Gi")
	aggregated.Status.NodeMetric.AggregatedNodeUsages = []slov1alpha1.AggregatedUsage{
		{Duration: metav1.Duration{Duration: 5 * time.Minute}, Usage: map[extension.AggregationType]slov1alpha1.ResourceMap{extension.P95: usage("cpu", "20")}},
		{Duration: metav1.Duration{Duration: 30 * time.Minute}, Usage: map[extension.AggregationType]slov1alpha1.ResourceMap{extension.P95: usage("cpu", "70")}},
	}
	prod := newMetric("cpu", "90", "memory", "10Gi")
	prod.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{
		reported("web", extension.PriorityProd, "cpu", "63"), reported("job", extension.PriorityBatch, "cpu", "20"), nil,
	}
	prodWithRoom := newMetric("cpu", "60", "memory", "10Gi")
	prodWithRoom.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{reported("web", extension.PriorityProd, "cpu", "53")}
	p95 := &AggregatedArgs{UsageThresholds: map[corev1.ResourceName]int64{"cpu": 60}, UsageAggregationType: "p95"}
	prodArgs := func(threshold int64) *Args {
		return &Args{ProdUsageThresholds: map[corev1.ResourceName]int64{"cpu": threshold}}
	}
	tests := []filterCase{
		{
			name: "70 of 96 CPUs are beyond 65%", in: NodeInput{Metric: newMetric("cpu", "70", "memory", "256Gi")},
			want: refusedCPU(Plain, 74, 65), wantReason: "node(s) cpu usage exceed threshold",
			wantMessage: "cpu usage 73% + this pod 1% > threshold 65%",
		},
		{
			name: "usage that reaches the threshold passes", in: NodeInput{Metric: newMetric("cpu", "61550m", "memory", "256Gi")},
			wantMessage: "cpu usage 64% + this pod 1% <= threshold 65%, memory usage 50% + this pod 0% <= threshold 95%",
		},
		{
			name: "the 95th percentile of the longest window is beyond 60%", args: &Args{Aggregated: p95}, in: NodeInput{Metric: aggregated},
			want: refusedCPU(Aggregated, 74, 60), wantReason: "node(s) cpu aggregated usage exceed threshold",
			wantMessage: "p95 (30m0s) cpu usage 73% + this pod 1% > threshold 60%",
		},
		{
			name: "a percentile that was not reported is replaced by the latest usage", args: &Args{Aggregated: p95},
			in: NodeInput{Metric: newMetric("cpu", "70", "memory", "1Gi")}, want: refusedCPU(Aggregated, 74, 60),
			wantReason: "node(s) cpu aggregated usage exceed threshold", wantMessage: "cpu usage 73% + this pod 1% > threshold 60%",
		},
		{
			name: "prod pods use more than 50%", args: prodArgs(50), in: NodeInput{Metric: prod},
			want: refusedCPU(Prod, 67, 50), wantReason: "node(s) cpu usage exceed threshold",
			wantMessage: "prod cpu usage 66% + this pod 1% > threshold 50%",
		},
		{
			name: "prod usage with a large pod is beyond 60%", args: prodArgs(60), in: NodeInput{Metric: prodWithRoom},
			pod:  newPod("large", 9500, list("cpu", "20"), nil),
			want: refusedCPU(Prod, 73, 60), wantReason: "node(s) cpu usage exceed threshold",
			wantMessage: "prod cpu usage 55% + this pod 18% > threshold 60%",
		},
		{
			name: "a batch pod is held to the thresholds of the whole node", args: prodArgs(50), in: NodeInput{Metric: prod},
			pod:  newPod("batch", 5500, list("kubernetes.io/batch-cpu", "1000"), nil),
			want: refusedCPU(Plain, 95, 65), wantReason: "node(s) cpu usage exceed threshold",
			wantMessage: "cpu usage 94% + this pod 1% > threshold 65%",
		},
	}
	for _, test := range tests {
		t.Run(test.name, test.run)
	}
}

func TestFilterByKnowledge(t *testing.T) {
	hot := func(change func(*slov1alpha1.NodeMetric)) *slov1alpha1.NodeMetric {
		metric := newMetric("cpu", "70", "memory", "1Gi")
		change(metric)
		return metric
	}
	old := hot(func(m *slov1alpha1.NodeMetric) { m.Status.UpdateTime.Time = now.Add(-3 * time.Minute) })
	daemon := newPod("agent", 9500, nil, nil)
	daemon.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent", Controller: new(true)}}
	expiredVerdict := Verdict{Code: finding.LoadMetricExpired}
	tests := []filterCase{
		{name: "a node without NodeMetric passes", wantMessage: "no NodeMetric, so the node passes"},
		{
			name: "an old NodeMetric refuses", in: NodeInput{Metric: old}, want: expiredVerdict,
			wantReason: ReasonExpired, wantMessage: "NodeMetric is 3m0s old, expired after 3m0s",
		},
		{
			name: "a NodeMetric that was never reported refuses",
			in:   NodeInput{Metric: hot(func(m *slov1alpha1.NodeMetric) { m.Status = slov1alpha1.NodeMetricStatus{} })},
			want: expiredVerdict, wantReason: ReasonExpired, wantMessage: "NodeMetric was never reported",
		},
		{
			name: "an old NodeMetric may be let pass", args: &Args{EnableScheduleWhenNodeMetricsExpired: new(true)}, in: NodeInput{Metric: old},
			wantMessage: "NodeMetric is 3m0s old, expired after 3m0s, and such nodes pass by configuration",
		},
		{
			name: "an old NodeMetric may stay in use", args: &Args{FilterExpiredNodeMetrics: new(false)}, in: NodeInput{Metric: old},
			want: refusedCPU(Plain, 74, 65), wantReason: "node(s) cpu usage exceed threshold",
			wantMessage: "cpu usage 73% + this pod 1% > threshold 65%",
		},
		{
			name: "negative usage is not believed", wantMessage: "NodeMetric is invalid: nodeUsage has a negative cpu, so the node passes",
			in: NodeInput{Metric: newMetric("cpu", "-1", "memory", "1Gi")},
		},
		{
			name: "eleven times the capacity is not believed", in: NodeInput{Metric: newMetric("cpu", "1056", "memory", "1Gi")},
			wantMessage: "NodeMetric is invalid: nodeUsage has more than 10 times the node's cpu, so the node passes",
		},
		{
			name: "a report from the future is not believed", wantMessage: "NodeMetric is invalid: it was updated 1h0m0s in the future, so the node passes",
			in: NodeInput{Metric: hot(func(m *slov1alpha1.NodeMetric) { m.Status.UpdateTime.Time = now.Add(time.Hour) })},
		},
		{
			name: "a report of the year 9999 is not believed", wantMessage: "NodeMetric is invalid: it was updated 7978y in the future, so the node passes",
			in: NodeInput{Metric: hot(func(m *slov1alpha1.NodeMetric) {
				m.Status.UpdateTime.Time = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
			})},
		},
		{
			name: "pods of a DaemonSet pass a hot node", pod: daemon, in: NodeInput{Metric: newMetric("cpu", "90", "memory", "1Gi")},
			wantMessage: "DaemonSet pods pass on every node",
		},
		{
			name: "a threshold of zero is none", args: &Args{UsageThresholds: map[corev1.ResourceName]int64{"cpu": 0}},
			in: NodeInput{Metric: old}, wantMessage: "no threshold applies",
		},
	}
	for _, test := range tests {
		t.Run(test.name, test.run)
	}
}

func TestFilterByNodeAnnotations(t *testing.T) {
	annotated := func(key, value string) *corev1.Node {
		node := newNode()
		node.Annotations = map[string]string{key: value}
		return node
	}
	metric := newMetric("cpu", "70", "memory", "1Gi")
	tests := []filterCase{
		{
			name: "the node's own threshold counts", in: NodeInput{Metric: metric,
				Node: annotated(extension.AnnotationCustomUsageThresholds, `{"usageThresholds":{"cpu":80}}`)},
			wantMessage: "cpu usage 73% + this pod 1% <= threshold 80%",
		},
		{
			name: "a threshold out of range leaves the configured ones in force", in: NodeInput{Metric: metric,
				Node: annotated(extension.AnnotationCustomUsageThresholds, `{"usageThresholds":{"cpu":800}}`)},
			want: refusedCPU(Plain, 74, 65), wantReason: "node(s) cpu usage exceed threshold",
			wantMessage: "cpu usage 73% + this pod 1% > threshold 65%",
		},
		{
			name: "usage is measured against what the node had before amplification", in: NodeInput{Metric: metric,
				Node: annotated(extension.AnnotationNodeRawAllocatable, `{"cpu":"140"}`)},
			wantMessage: "cpu usage 50% + this pod 1% <= threshold 65%, memory usage 0% + this pod 0% <= threshold 95%",
		},
	}
	for _, test := range tests {
		t.Run(test.name, test.run)
	}
}

func TestFilterCountsAssignedPods(t *testing.T) {
	metric := newMetric("cpu", "40", "memory", "1Gi")
	metric.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{reported("known", extension.PriorityProd, "cpu", "4")}
	assigned := func(name string, ago time.Duration) []AssignedPod {
		return []AssignedPod{{Pod: newPod(name, 9500, list("cpu", "30", "memory", "1Gi"), nil), AssignedAt: now.Add(-ago)}}
	}
	refused := func(percent int64) Verdict { return refusedCPU(Plain, percent, 65) }
	passed := "cpu usage 42% + this pod 1% <= threshold 65%, memory usage 0% + this pod 0% <= threshold 95%"
	tests := []filterCase{
		{
			name: "a pod that is not reported counts by its estimate", in: NodeInput{Metric: metric, Assigned: assigned("new", time.Hour)},
			want: refused(69), wantReason: "node(s) cpu usage exceed threshold",
			wantMessage: "cpu usage 42% + just assigned 26% + this pod 1% > threshold 65%",
		},
		{
			name: "a reported pod that is new counts by what is missing of its estimate", in: NodeInput{Metric: metric, Assigned: assigned("known", 65*time.Second)},
			want: Verdict{}, wantMessage: "cpu usage 42% + just assigned 22% + this pod 1% <= threshold 65%, memory usage 0% + this pod 0% <= threshold 95%",
		},
		{name: "a reported pod that is old counts as measured", in: NodeInput{Metric: metric, Assigned: assigned("known", 75*time.Second)}, wantMessage: passed},
		{
			name: "a pod may count by its estimate for longer", args: &Args{EstimatedSecondsAfterPodScheduled: new(int64(600))},
			in:   NodeInput{Metric: metric, Assigned: assigned("known", 75*time.Second)},
			want: Verdict{}, wantMessage: "cpu usage 42% + just assigned 22% + this pod 1% <= threshold 65%, memory usage 0% + this pod 0% <= threshold 95%",
		},
	}
	for _, test := range tests {
		t.Run(test.name, test.run)
	}
}
