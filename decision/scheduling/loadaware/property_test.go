package loadaware

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// drawList draws amounts of cpu and memory, up to a share of a node with 96 CPU and 512Gi.
func drawList(t *rapid.T, label string, share float64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(rapid.Int64Range(0, int64(96000*share)).Draw(t, label+" cpu"), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(rapid.Int64Range(0, int64(512<<30*share)).Draw(t, label+" memory"), resource.BinarySI),
	}
}

func drawThresholds(t *rapid.T, label string) map[corev1.ResourceName]int64 {
	thresholds := map[corev1.ResourceName]int64{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		thresholds[name] = 0 // an empty map would stand for the defaults
		if rapid.Bool().Draw(t, label+" has "+string(name)) {
			thresholds[name] = rapid.Int64Range(0, 100).Draw(t, label+" "+string(name))
		}
	}
	return thresholds
}

func drawArgs(t *rapid.T) *Args {
	args := &Args{
		UsageThresholds:          drawThresholds(t, "usage"),
		ProdUsageThresholds:      drawThresholds(t, "prod"),
		FilterExpiredNodeMetrics: new(rapid.Bool().Draw(t, "filter expired")),
		ProdUsageIncludeSys:      rapid.Bool().Draw(t, "system"),
		ScoreAccordingProdUsage:  rapid.Bool().Draw(t, "score prod"),
	}
	if rapid.Bool().Draw(t, "aggregated") {
		args.Aggregated = &AggregatedArgs{UsageThresholds: drawThresholds(t, "aggregated"), UsageAggregationType: "p95", ScoreAggregationType: "p90"}
	}
	return args
}

func drawNode(t *rapid.T) NodeInput {
	metric := newMetric()
	metric.Status.UpdateTime.Time = now.Add(-time.Duration(rapid.Int64Range(0, 300).Draw(t, "age")) * time.Second)
	info := metric.Status.NodeMetric
	info.NodeUsage.ResourceList = drawList(t, "usage", 1.2)
	info.SystemUsage.ResourceList = drawList(t, "system", 0.1)
	info.AggregatedNodeUsages = []slov1alpha1.AggregatedUsage{{
		Duration: metav1.Duration{Duration: 5 * time.Minute},
		Usage: map[extension.AggregationType]slov1alpha1.ResourceMap{
			extension.P95: {ResourceList: drawList(t, "p95", 1.2)}, extension.P90: {ResourceList: drawList(t, "p90", 1.2)},
		},
	}}
	in := NodeInput{Node: newNode(), Metric: metric}
	for i := range rapid.IntRange(0, 3).Draw(t, "pods") {
		name := string(rune('a' + i))
		priority := rapid.SampledFrom([]int32{9500, 7500, 5500}).Draw(t, "priority")
		in.Assigned = append(in.Assigned, AssignedPod{
			Pod: newPod(name, priority, drawList(t, name, 0.2), nil), AssignedAt: now.Add(-time.Duration(rapid.IntRange(0, 300).Draw(t, "since")) * time.Second),
		})
		if rapid.Bool().Draw(t, "reported") {
			metric.Status.PodsMetric = append(metric.Status.PodsMetric, &slov1alpha1.PodMetricInfo{
				Namespace: "default", Name: name, Priority: extension.PriorityClassOfValue(priority), PodUsage: slov1alpha1.ResourceMap{ResourceList: drawList(t, name+" used", 0.2)},
			})
		}
	}
	return in
}

func drawPod(t *rapid.T) *corev1.Pod {
	return newPod("incoming", rapid.SampledFrom([]int32{9500, 7500, 5500, 0}).Draw(t, "priority"), drawList(t, "request", 0.3), nil)
}

// grow adds to one resource of lists, within what is still plausible.
func grow(t *rapid.T, lists ...corev1.ResourceList) {
	name := rapid.SampledFrom([]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}).Draw(t, "grown")
	growth := drawList(t, "growth", 2)[name]
	for _, usage := range lists {
		quantity := usage[name]
		quantity.Add(growth)
		usage[name] = quantity
	}
}

func TestMoreUsageNeverLetsANodePass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args, pod, in := drawArgs(t), drawPod(t), drawNode(t)
		before := Filter(input(args, pod, in), nil)
		if got := CodeOf(before.Reason()); got != before.Code {
			t.Fatalf("code %q of %q, want %q", got, before.Reason(), before.Code)
		}
		grown := in.Metric.DeepCopy()
		lists := []corev1.ResourceList{grown.Status.NodeMetric.NodeUsage.ResourceList, grown.Status.NodeMetric.SystemUsage.ResourceList,
			grown.Status.NodeMetric.AggregatedNodeUsages[0].Usage[extension.P95].ResourceList}
		for _, pod := range grown.Status.PodsMetric {
			lists = append(lists, pod.PodUsage.ResourceList)
		}
		which := rapid.IntRange(0, len(lists)-1).Draw(t, "list")
		affected := lists[which : which+1]
		if which >= 3 { // what a pod uses, the node uses, too
			affected = append(lists[:3:3], lists[which])
		}
		grow(t, affected...)
		in.Metric = grown
		if after := Filter(input(args, pod, in), nil); !before.Passed() && after.Passed() {
			t.Errorf("the node was refused (%s) and passes with more usage", before.Reason())
		}
	})
}

func TestAnotherThresholdNeverLetsANodePass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args, pod, in := drawArgs(t), drawPod(t), drawNode(t)
		before := Filter(input(args, pod, in), nil)
		if got := CodeOf(before.Reason()); got != before.Code {
			t.Fatalf("code %q of %q, want %q", got, before.Reason(), before.Code)
		}
		groups := []map[corev1.ResourceName]int64{args.UsageThresholds}
		if before.Profile == Prod {
			groups = []map[corev1.ResourceName]int64{args.ProdUsageThresholds}
		} else if before.Profile == Aggregated {
			groups = []map[corev1.ResourceName]int64{args.Aggregated.UsageThresholds}
		}
		for _, group := range groups {
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				if group[name] == 0 {
					group[name] = rapid.Int64Range(1, 100).Draw(t, "added")
				}
			}
		}
		if after := Filter(input(args, pod, in), nil); !before.Passed() && after.Passed() {
			t.Errorf("the node was refused (%s) and passes with another threshold", before.Reason())
		}
	})
}

func TestTraceAgreesWithTheVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := input(drawArgs(t), drawPod(t), drawNode(t))
		want := Filter(in, nil)
		trace := &Trace{}
		if got := Filter(in, trace); got != want {
			t.Fatalf("verdict %+v with a trace, %+v without", got, want)
		}
		if trace.Message(want) == "" {
			t.Error("no message")
		}
		for _, c := range trace.Comparisons {
			if sum := c.UsedPercent() + c.AssignedPercent() + c.PodPercent(); sum != c.Percent {
				t.Errorf("%s: the shares add up to %d%%, not %d%%", c.Resource, sum, c.Percent)
			}
			if exceeded := c.Percent > c.Threshold; exceeded && want.Passed() {
				t.Errorf("%s is at %d%% of %d%% and the node passes", c.Resource, c.Percent, c.Threshold)
			}
		}
		trace.Operands(want)
	})
}

func TestScoreStaysInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if score := Score(input(drawArgs(t), drawPod(t), drawNode(t))); score < 0 || score > MaxScore {
			t.Errorf("score %d", score)
		}
	})
}

func FuzzDecodeArgs(f *testing.F) {
	f.Add([]byte(`{"usageThresholds":{"cpu":65},"aggregated":{"usageThresholds":{"cpu":60},"usageAggregationType":"p95","usageAggregatedDuration":"5m"}}`))
	f.Add([]byte(`{"resourceWeights":{"nvidia.com/gpu":1},"estimatedScalingFactors":{"nvidia.com/gpu":100},"supportedResources":["a--b"]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		args, err := DecodeArgs(&runtime.Unknown{Raw: raw})
		if err != nil {
			return
		}
		in := input(args, newPod("incoming", 9500, list("cpu", "1"), nil), NodeInput{Node: newNode(), Metric: newMetric("cpu", "70")})
		trace := &Trace{}
		trace.Operands(Filter(in, trace))
		Score(in)
	})
}

func FuzzAnnotations(f *testing.F) {
	f.Add(`{"usageThresholds":{"cpu":80}}`, `{"cpu":"100","memory":"1Ti"}`, `{"cpu":100}`, "60")
	f.Add(`{"aggregatedUsage":{"usageThresholds":{"cpu":80},"usageAggregationType":"p95"}}`, `{"cpu":"-1"}`, `{"cpu":-5}`, "-1")
	f.Fuzz(func(t *testing.T, thresholds, allocatable, factors, seconds string) {
		node, pod := newNode(), newPod("incoming", 9500, list("cpu", "1"), nil)
		node.Annotations = map[string]string{extension.AnnotationCustomUsageThresholds: thresholds, extension.AnnotationNodeRawAllocatable: allocatable}
		pod.Annotations = map[string]string{extension.AnnotationEstimatedScalingFactors: factors, extension.AnnotationEstimatedSecondsAfterPodScheduled: seconds}
		in := input(&Args{AllowCustomizeEstimation: true}, pod, NodeInput{
			Node: node, Metric: newMetric("cpu", "70", "memory", "1Gi"), Assigned: []AssignedPod{{Pod: pod, AssignedAt: now}},
		})
		trace := &Trace{}
		trace.Operands(Filter(in, trace))
		if score := Score(in); score < 0 || score > MaxScore {
			t.Errorf("score %d", score)
		}
	})
}
