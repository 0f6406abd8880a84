package overview

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/scheduling/loadaware"
)

var noon = time.Date(2026, 7, 24, 12, 0, 0, 0, time.UTC)

func resources(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func usage(cpu, memory string) slov1alpha1.ResourceMap {
	return slov1alpha1.ResourceMap{ResourceList: resources("cpu", cpu, "memory", memory)}
}

func pod(name string, priority int32, requests corev1.ResourceList) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{NodeName: "node-a", Priority: &priority, Containers: []corev1.Container{
			{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests, Limits: requests}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable},
	}
}

func metric(name string, age time.Duration, pods ...*slov1alpha1.PodMetricInfo) slov1alpha1.NodeMetric {
	return slov1alpha1.NodeMetric{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: slov1alpha1.NodeMetricStatus{
			UpdateTime:            &metav1.Time{Time: noon.Add(-age)},
			NodeMetric:            &slov1alpha1.NodeMetricInfo{NodeUsage: usage("8", "8Gi"), SystemUsage: usage("1", "1Gi")},
			PodsMetric:            pods,
			ProdReclaimableMetric: &slov1alpha1.ReclaimableMetric{Resource: usage("2", "2Gi")},
		},
	}
}

func podUse(name, cpu, memory string) *slov1alpha1.PodMetricInfo {
	return &slov1alpha1.PodMetricInfo{Namespace: "default", Name: name, PodUsage: usage(cpu, memory)}
}

func testNode(name string) corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{
			Capacity:    resources("cpu", "16", "memory", "32Gi"),
			Allocatable: resources("cpu", "15", "memory", "30Gi", "kubernetes.io/batch-cpu", "6000"),
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

func TestNodesAddUpByBand(t *testing.T) {
	finished := pod("done", 9500, resources("cpu", "9"))
	finished.Status.Phase = corev1.PodSucceeded
	gone := podUse("gone", "250m", "0")
	gone.Priority = extension.PriorityFree
	list := Nodes(NodesInput{
		Nodes: []corev1.Node{testNode("node-b"), testNode("node-a")},
		Pods: overcommit.RequestsOfAll([]corev1.Pod{
			pod("web", 9500, resources("cpu", "4", "memory", "4Gi")),
			pod("plain", 0, resources("cpu", "1")),
			pod("mid", 7500, resources("kubernetes.io/mid-cpu", "2000")),
			pod("spark", 5500, resources("kubernetes.io/batch-cpu", "3000", "kubernetes.io/batch-memory", "4Gi")),
			finished,
		}),
		Metrics: []slov1alpha1.NodeMetric{
			metric("node-a", 10*time.Second, podUse("web", "2", "2Gi"), podUse("mid", "1", "1Gi"), podUse("spark", "2500m", "3Gi"), gone),
			metric("node-b", time.Hour),
		},
		Now: noon,
	})
	if len(list.Items) != 2 || list.Items[0].Name != "node-a" || list.Kind != "NodeOverviewList" {
		t.Fatalf("list %+v, want node-a before node-b", list)
	}
	a, b := list.Items[0], list.Items[1]
	number := func(n int64) *int64 { return &n }
	want := diagnosticsv1alpha1.ResourceOverview{
		Capacity: 16_000, Allocatable: 15_000, Used: number(8_000), SystemUsed: number(1_000),
		ProdRequested: number(5_000), ProdUsed: number(2_000), MidRequested: number(2_000), MidUsed: number(1_000),
		BatchAllocatable: number(6_000), BatchRequested: number(3_000), BatchUsed: number(2_500), FreeUsed: number(250), Reclaimable: number(2_000),
	}
	if diff := cmp.Diff(want, a.CPU); diff != "" {
		t.Errorf("node-a cpu (-want +got):\n%s", diff)
	}
	if *a.Pods != 4 || !a.Ready || a.Metric.State != diagnosticsv1alpha1.MetricFresh || a.Load.State != diagnosticsv1alpha1.LoadNormal {
		t.Errorf("node-a = %d pods, ready %t, %s, %s; want 4 pods, ready, Fresh, Normal", *a.Pods, a.Ready, a.Metric.State, a.Load.State)
	}
	if b.Metric.State != diagnosticsv1alpha1.MetricExpired || b.CPU.Used != nil || b.Load.State != diagnosticsv1alpha1.LoadExpired {
		t.Errorf("node-b = %s, used %v, %s; want Expired without use", b.Metric.State, b.CPU.Used, b.Load.State)
	}
}

// TestUseOfAnAmplifiedNodeComparesWithWhatItHas, of the resources that are amplified.
func TestUseOfAnAmplifiedNodeComparesWithWhatItHas(t *testing.T) {
	node := testNode("node-a")
	node.Annotations = map[string]string{extension.AnnotationNodeRawAllocatable: `{"cpu": "10"}`}
	row := Nodes(NodesInput{Nodes: []corev1.Node{node}, Now: noon}).Items[0]
	if row.CPU.Allocatable != 15_000 || row.CPU.RawAllocatable == nil || *row.CPU.RawAllocatable != 10_000 {
		t.Errorf("cpu is %+v, want 15 cores of which the node has 10", row.CPU)
	}
	if row.Memory.RawAllocatable != nil {
		t.Errorf("memory is not amplified, and is %+v", row.Memory)
	}
}

func usesOf(metrics ...slov1alpha1.NodeMetric) []NodeUses {
	var uses []NodeUses
	for i := range metrics {
		uses = append(uses, UsesOf(&metrics[i], noon))
	}
	return uses
}

func TestPodsShowTheTierTheyConsume(t *testing.T) {
	unlimited := pod("unlimited", 9500, resources("cpu", "1"))
	unlimited.Spec.Containers[0].Resources.Limits = nil
	pending := pod("a-pending", 5500, resources("kubernetes.io/batch-cpu", "500"))
	pending.Spec.NodeName = ""
	list := Pods(PodsInput{
		Rows: rowsOf(unlimited, pod("spark", 5500, resources("kubernetes.io/batch-cpu", "3000")), pending),
		Uses: usesOf(metric("node-a", 10*time.Second, podUse("spark", "2500m", "3Gi"))),
	})
	type row struct {
		Name, Band string
		CPU        diagnosticsv1alpha1.PodResourceOverview
	}
	var got []row
	for _, item := range list.Items {
		got = append(got, row{item.Name, item.PriorityBand, item.CPU})
	}
	number := func(n int64) *int64 { return &n }
	want := []row{
		{"a-pending", "koord-batch", diagnosticsv1alpha1.PodResourceOverview{Tier: "batch", Requested: 500, Limit: number(500)}},
		{"spark", "koord-batch", diagnosticsv1alpha1.PodResourceOverview{Tier: "batch", Requested: 3000, Limit: number(3000), Used: number(2500)}},
		{"unlimited", "koord-prod", diagnosticsv1alpha1.PodResourceOverview{Tier: "plain", Requested: 1000}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// BenchmarkOverview is the work behind `top nodes` and `top pods` on 1,000 nodes with 20,000 pods.
func BenchmarkOverview(b *testing.B) {
	var nodes []corev1.Node
	var pods []corev1.Pod
	var metrics []slov1alpha1.NodeMetric
	for n := range 1000 {
		name := fmt.Sprintf("node-%04d", n)
		nodes = append(nodes, testNode(name))
		m := metric(name, 10*time.Second)
		for p := range 20 {
			one := pod(fmt.Sprintf("pod-%04d-%02d", n, p), []int32{9500, 5500}[p%2], resources("cpu", "500m", "memory", "512Mi"))
			one.Spec.NodeName = name
			pods = append(pods, one)
			m.Status.PodsMetric = append(m.Status.PodsMetric, podUse(one.Name, "100m", "256Mi"))
		}
		metrics = append(metrics, m)
	}
	b.Run("nodes", func(b *testing.B) {
		for b.Loop() {
			Nodes(NodesInput{Nodes: nodes, Pods: overcommit.RequestsOfAll(pods), Metrics: metrics, Now: noon})
		}
	})
	b.Run("pods", func(b *testing.B) {
		for b.Loop() {
			Pods(PodsInput{Rows: rowsOf(pods...), Uses: usesOf(metrics...)})
		}
	})
}

// TestOperandsAreThereWhenAskedFor: they are three quarters of a row, and 30 MB of the rows of 5,000 nodes.
func TestOperandsAreThereWhenAskedFor(t *testing.T) {
	in := NodesInput{Nodes: []corev1.Node{testNode("node-a")}, Metrics: []slov1alpha1.NodeMetric{metric("node-a", 10*time.Second)}, Now: noon}
	row := func(in NodesInput) (diagnosticsv1alpha1.LoadOverview, int) {
		item := Nodes(in).Items[0]
		text, err := json.MarshalIndent(item, "", "    ")
		if err != nil {
			t.Fatal(err)
		}
		return item.Load, len(text)
	}
	load, size := row(in)
	if len(load.Operands) > 0 || load.State != diagnosticsv1alpha1.LoadNormal || size > 2000 {
		t.Errorf("%d bytes with load %+v, want at most 2000 without operands", size, load)
	}
	in.Operands = true
	if load, size := row(in); len(load.Operands) == 0 || load.State != diagnosticsv1alpha1.LoadNormal {
		t.Errorf("%d bytes with load %+v, want operands", size, load)
	}
}

func TestUnknownIsNoZero(t *testing.T) {
	in := func(inputs ...unknown.Input) NodesInput {
		out := NodesInput{
			Nodes: []corev1.Node{testNode("node-a")}, Pods: overcommit.RequestsOfAll([]corev1.Pod{pod("web", 9500, resources("cpu", "4"))}),
			Metrics: []slov1alpha1.NodeMetric{metric("node-a", 10*time.Second, podUse("web", "2", "2Gi"))}, Now: noon, Unknown: unknown.Inputs{},
		}
		for _, input := range inputs {
			out.Unknown[input] = unknown.Cause{Reason: diagnosticsv1alpha1.UnknownForbidden}
		}
		if out.Unknown.Has(unknown.Pods) {
			out.Pods = nil
		}
		if out.Unknown.Has(unknown.NodeMetrics) {
			out.Metrics = nil
		}
		return out
	}
	type row struct {
		Pods                *int32
		Requested, Batch    *int64
		Used                *int64
		Metric              diagnosticsv1alpha1.MetricState
		Load                diagnosticsv1alpha1.LoadState
		LoadMessage, Unread string
	}
	requested, none, used := new(int64(4000)), new(int64), new(int64(8000))
	tests := map[string]struct {
		in   NodesInput
		want row
	}{
		"all was read": {in(), row{new(int32(1)), requested, none, used, diagnosticsv1alpha1.MetricFresh, diagnosticsv1alpha1.LoadNormal, "", ""}},
		"no pods":      {in(unknown.Pods), row{nil, nil, nil, used, diagnosticsv1alpha1.MetricFresh, diagnosticsv1alpha1.LoadNormal, "", "pods"}},
		"no NodeMetrics": {in(unknown.NodeMetrics), row{new(int32(1)), requested, none, nil, diagnosticsv1alpha1.MetricUnknown,
			diagnosticsv1alpha1.LoadUnknown, "no permission to read the NodeMetrics", "nodemetrics.slo.koordinator.sh"}},
		"no thresholds": {in(unknown.SchedulerConfiguration), row{new(int32(1)), requested, none, used, diagnosticsv1alpha1.MetricFresh,
			diagnosticsv1alpha1.LoadUnknown, "no permission to read koord-scheduler-config", "configmaps/koord-scheduler-config"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			list := Nodes(tc.in)
			n := list.Items[0]
			got := row{n.Pods, n.CPU.ProdRequested, n.CPU.BatchRequested, n.CPU.Used, n.Metric.State, n.Load.State, n.Load.Message, ""}
			for _, input := range list.Unknown {
				got.Unread += input.Input
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
		})
	}
}

func rowsOf(pods ...corev1.Pod) []diagnosticsv1alpha1.PodOverview {
	rows := make([]diagnosticsv1alpha1.PodOverview, len(pods))
	for i := range pods {
		rows[i] = PodOf(&pods[i])
	}
	return rows
}

// TestLoadIsUnknownWhereItIsJudgedByPercentilesThatAreNotRead: of other nodes, and all else of these, the metrics are enough.
func TestLoadIsUnknownWhereItIsJudgedByPercentilesThatAreNotRead(t *testing.T) {
	const aggregated = `{"aggregatedUsage": {"usageThresholds": {"cpu": 80}, "usageAggregationType": "p95"}}`
	annotated := func(thresholds string) corev1.Node {
		node := testNode("node-a")
		node.Annotations = map[string]string{extension.AnnotationCustomUsageThresholds: thresholds}
		return node
	}
	p95 := &loadaware.Args{Aggregated: &loadaware.AggregatedArgs{UsageThresholds: map[corev1.ResourceName]int64{"cpu": 80}, UsageAggregationType: "p95"}}
	tests := map[string]struct {
		node           corev1.Node
		args           *loadaware.Args
		wantState      diagnosticsv1alpha1.LoadState
		wantIncomplete []string
	}{
		"by the latest usage":                     {node: testNode("node-a"), wantState: diagnosticsv1alpha1.LoadNormal},
		"by thresholds of its own for the latest": {node: annotated(`{"usageThresholds": {"cpu": 80}}`), wantState: diagnosticsv1alpha1.LoadNormal},
		"by thresholds of its own for percentiles": {
			node: annotated(aggregated), wantState: diagnosticsv1alpha1.LoadUnknown,
			wantIncomplete: []string{"the load of 1 node is unknown: it is judged by usage percentiles, which are not read here"},
		},
		"by percentiles everywhere": {
			node: testNode("node-a"), args: p95, wantState: diagnosticsv1alpha1.LoadUnknown,
			wantIncomplete: []string{"the load of 1 node is unknown: it is judged by usage percentiles, which are not read here"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := NodesInput{Nodes: []corev1.Node{test.node}, Metrics: []slov1alpha1.NodeMetric{metric("node-a", 10*time.Second)}, LoadArgs: test.args, NoPercentiles: true, Now: noon}
			list := Nodes(in)
			if got := list.Items[0]; got.Load.State != test.wantState || got.CPU.Used == nil {
				t.Errorf("load %+v, used %v; want %s with use", got.Load, got.CPU.Used, test.wantState)
			}
			if diff := cmp.Diff(test.wantIncomplete, list.Incomplete); diff != "" {
				t.Errorf("incomplete (-want +got):\n%s", diff)
			}
		})
	}
}

// TestManyNodesAreEachWhatTheyAreAlone: where there are many, several are looked at at the same time.
func TestManyNodesAreEachWhatTheyAreAlone(t *testing.T) {
	const count = 1000
	in := NodesInput{Now: noon}
	for n := range count {
		node := testNode(fmt.Sprintf("node-%04d", count-n))
		one := pod("web-"+node.Name, 9500, resources("cpu", fmt.Sprint(n%7)))
		one.Spec.NodeName = node.Name
		in.Nodes, in.Pods = append(in.Nodes, node), append(in.Pods, overcommit.RequestsOf(&one))
		in.Metrics = append(in.Metrics, metric(node.Name, time.Duration(n)*time.Second, podUse(one.Name, "100m", "256Mi")))
	}
	var want []diagnosticsv1alpha1.NodeOverview
	for n := count - 1; n >= 0; n-- {
		want = append(want, Nodes(NodesInput{Nodes: in.Nodes[n : n+1], Pods: in.Pods, Metrics: in.Metrics[n : n+1], Now: noon}).Items...)
	}
	if diff := cmp.Diff(want, Nodes(in).Items); diff != "" {
		t.Errorf("rows (-alone +together):\n%s", diff)
	}
}

// largeCluster has nodes with ten pods each, and what is measured of them.
func largeCluster(nodes int) NodesInput {
	in := NodesInput{Now: noon}
	for i := range nodes {
		node, measured := testNode(fmt.Sprintf("node-%04d", i)), metric(fmt.Sprintf("node-%04d", i), time.Minute)
		for j := range 10 {
			one := pod(fmt.Sprintf("%s-pod-%d", node.Name, j), 9500, resources("cpu", "1", "memory", "2Gi"))
			one.Spec.NodeName = node.Name
			in.Pods = append(in.Pods, overcommit.RequestsOf(&one))
			measured.Status.PodsMetric = append(measured.Status.PodsMetric, podUse(one.Name, "500m", "1Gi"))
		}
		in.Nodes, in.Metrics = append(in.Nodes, node), append(in.Metrics, measured)
	}
	return in
}

// TestARowAllocatesLittle: koord-manager makes those of all nodes for each answer.
func TestARowAllocatesLittle(t *testing.T) {
	const nodes, most = 100, 30
	in := largeCluster(nodes)
	if got := testing.AllocsPerRun(10, func() { Nodes(in) }) / nodes; got > most {
		t.Errorf("%.0f allocations a row, want at most %d", got, most)
	}
}

func BenchmarkNodes5000(b *testing.B) {
	in := largeCluster(5000)
	b.ReportAllocs()
	for b.Loop() {
		Nodes(in)
	}
}
