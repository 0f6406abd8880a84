package objects

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// balanced is a cluster whose nodes have 10 CPUs and 100 GiB, and one prod pod each.
type balanced struct{ BalanceInput }

// node adds a node of which its pod and the system, half each, use percentages of the CPU and the memory.
func (b *balanced) node(name string, cpu, memory int64, edits ...func(*corev1.Node)) {
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Allocatable: resources("cpu", "10", "memory", "100Gi"), Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
	for _, edit := range edits {
		edit(&node)
	}
	half := slov1alpha1.ResourceMap{ResourceList: corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewMilliQuantity(cpu*50, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(memory<<29, resource.BinarySI),
	}}
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-" + name}, Spec: corev1.PodSpec{NodeName: name, Priority: new(int32(9500))}}
	gone := &slov1alpha1.PodMetricInfo{Namespace: "shop", Name: "gone-" + name, PodUsage: half}
	b.Nodes, b.Pods = append(b.Nodes, node), append(b.Pods, pod)
	b.Metrics = append(b.Metrics, slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: slov1alpha1.NodeMetricStatus{
		UpdateTime: &metav1.Time{Time: now}, NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: half, SystemUsage: half},
		PodsMetric: []*slov1alpha1.PodMetricInfo{{Namespace: pod.Namespace, Name: pod.Name, PodUsage: half}, gone},
	}})
}

func cordoned(n *corev1.Node)     { n.Spec.Unschedulable = true }
func notReadyNode(n *corev1.Node) { n.Status.Conditions = nil }

func inPool(pool string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels = map[string]string{"pool": pool} }
}

// profile of koord-descheduler with one plugin and its arguments, in YAML.
func profile(plugin, args string) string {
	return fmt.Sprintf("- plugins: {balance: {enabled: [{name: %s}]}}\n  pluginConfig: [{name: %s, args: {%s}}]\n", plugin, plugin, args)
}

const (
	thresholds = "lowThresholds: {cpu: 45, memory: 55}, highThresholds: {cpu: 75, memory: 80}"
	fromMean   = "useDeviationThresholds: true, lowThresholds: {cpu: 10}, highThresholds: {cpu: 10}"
	uneven     = "lowThresholds: {cpu: 45}, highThresholds: {memory: 80}"
	prod       = thresholds + ", prodLowThresholds: {cpu: 10}, prodHighThresholds: {cpu: 30}"
	pools      = "nodePools: [{name: gold, nodeSelector: {matchLabels: {pool: gold}}, lowThresholds: {cpu: 20}, highThresholds: {cpu: 40}}]"
)

func TestBalanceIsTheVerdictOfThePlugins(t *testing.T) {
	const low, planner = "LowNodeLoad", "LoadAwareRebalancing"
	tests := map[string]struct {
		profiles    string
		cpu, memory int64
		edit        func(*corev1.Node)
		want        string
	}{
		"LowNodeLoad above a high threshold":     {profile(low, thresholds), 81, 20, nil, "Overutilized LowNodeLoad: cpu 81% > 75%"},
		"above both":                             {profile(low, thresholds), 81, 90, nil, "Overutilized LowNodeLoad: cpu 81% > 75%, memory 90% > 80%"},
		"at a high threshold":                    {profile(low, thresholds), 75, 20, nil, "Normal LowNodeLoad: cpu 75% (45% to 75%), memory 20% (55% to 80%)"},
		"below one low threshold":                {profile(low, thresholds), 20, 60, nil, "Normal LowNodeLoad: cpu 20% (45% to 75%), memory 60% (55% to 80%)"},
		"below all low thresholds":               {profile(low, thresholds), 20, 30, nil, "Underutilized LowNodeLoad: cpu 20% <= 45%, memory 30% <= 55%"},
		"below all low thresholds, but cordoned": {profile(low, thresholds), 20, 30, cordoned, "Normal LowNodeLoad: cpu 20% (45% to 75%), memory 30% (55% to 80%), the node is cordoned"},
		"one threshold for each resource":        {profile(low, uneven), 50, 20, nil, "Normal LowNodeLoad: cpu 50% (45% to 100%), memory 20% <= 80%"},
		"no threshold for memory":                {profile(low, "lowThresholds: {cpu: 45}"), 20, 90, nil, "Underutilized LowNodeLoad: cpu 20% <= 45%"},
		"above that of prod pods":                {profile(low, prod), 64, 20, nil, "Overutilized LowNodeLoad: prod cpu 32% > 30%"},
		"in a node pool":                         {profile(low, pools), 41, 20, inPool("gold"), "Overutilized LowNodeLoad gold: cpu 41% > 40%"},
		"in no node pool":                        {profile(low, pools), 41, 20, nil, "<none>"},
		"LowNodeLoad, paused":                    {profile(low, "paused: true, "+thresholds), 81, 20, nil, "<none>"},
		"LowNodeLoad, in dry run":                {profile(low, "dryRun: true, "+thresholds), 81, 20, nil, "Overutilized LowNodeLoad: cpu 81% > 75%"},
		"not ready":                              {profile(low, thresholds), 81, 20, notReadyNode, "Unknown LowNodeLoad: koord-descheduler leaves out nodes that are not ready"},

		"LoadAwareRebalancing above a threshold":      {profile(planner, ""), 81, 20, nil, "Overutilized LoadAwareRebalancing: cpu 81% > 75%"},
		"LoadAwareRebalancing has no low thresholds":  {profile(planner, ""), 20, 30, nil, "Normal LoadAwareRebalancing: cpu 20% <= 75%, memory 30% <= 80%"},
		"LoadAwareRebalancing, paused":                {profile(planner, "paused: true"), 81, 20, nil, "<none>"},
		"LoadAwareRebalancing, not ready":             {profile(planner, ""), 81, 20, notReadyNode, "Unknown LoadAwareRebalancing: koord-descheduler leaves out nodes that are not ready"},
		"LoadAwareRebalancing that decides as before": {profile(planner, "mode: Upstream"), 20, 30, nil, "Underutilized LoadAwareRebalancing: cpu 20% <= 45%, memory 30% <= 55%"},
		"a node that its selector leaves out":         {profile(planner, "nodeSelector: {matchLabels: {pool: gold}}"), 81, 20, nil, "<none>"},

		"the first of two plugins that finds it overutilized": {
			profile(low, "highThresholds: {cpu: 90}, lowThresholds: {cpu: 10}") + profile(planner, ""), 81, 20, nil, "Overutilized LoadAwareRebalancing: cpu 81% > 75%",
		},
		"the first of two plugins that do not": {profile(planner, "") + profile(low, thresholds), 20, 30, nil, "Normal LoadAwareRebalancing: cpu 20% <= 75%, memory 30% <= 80%"},
		"no plugin that moves pods by load":    {profile("RemoveDuplicates", ""), 81, 20, nil, "<none>"},
		"no profile":                           {"", 81, 20, nil, "<none>"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := &balanced{}
			b.node("a", tc.cpu, tc.memory)
			if tc.edit != nil {
				tc.edit(&b.Nodes[0])
			}
			if got := b.verdicts(t, tc.profiles)["a"]; got != tc.want {
				t.Errorf("balance %q, want %q", got, tc.want)
			}
		})
	}
}

// verdicts are the answers by node, as STATE PLUGIN POOL: MESSAGE.
func (b *balanced) verdicts(t *testing.T, profiles string) map[string]string {
	t.Helper()
	var err error
	if b.Descheduler, err = ReadDescheduler(map[string]string{DeschedulerConfigMap: "profiles:\n" + profiles}); err != nil {
		t.Fatal(err)
	}
	b.Now = now
	judged, err := Balance(&b.BalanceInput)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i := range b.Nodes {
		out[b.Nodes[i].Name] = "<none>"
		if one := judged[b.Nodes[i].Name]; one != nil {
			pool := ""
			if one.Pool != "" {
				pool = " " + one.Pool
			}
			out[b.Nodes[i].Name] = fmt.Sprintf("%s %s%s: %s", one.State, one.Plugin, pool, one.Message)
		}
	}
	return out
}

func TestBalanceIsUnknownWithoutUsage(t *testing.T) {
	tests := map[string]struct {
		edit        func(*balanced)
		wantLow     string
		wantPlanner string
	}{
		"no NodeMetric": {
			func(b *balanced) { b.Metrics = nil }, "there is no NodeMetric", "its NodeMetric is missing or expired",
		},
		"an old one": {
			func(b *balanced) { b.Metrics[0].Status.UpdateTime = &metav1.Time{Time: now.Add(-time.Hour)} },
			"its NodeMetric is 1h0m0s old, expired after 3m0s", "its NodeMetric is missing or expired",
		},
		"no allocatable": {
			func(b *balanced) { b.Nodes[0].Status.Allocatable = nil }, "the node has no allocatable cpu", "its usage or its allocatable cannot be used",
		},
		"pods that could not be read": {
			func(b *balanced) { b.Pods, b.Unread = nil, "no permission to read the pods" }, "no permission to read the pods", "no permission to read the pods",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for profiles, want := range map[string]string{
				profile("LowNodeLoad", thresholds):  "Unknown LowNodeLoad: " + tc.wantLow,
				profile("LoadAwareRebalancing", ""): "Unknown LoadAwareRebalancing: " + tc.wantPlanner,
			} {
				b := &balanced{}
				b.node("a", 81, 20)
				tc.edit(b)
				if got := b.verdicts(t, profiles)["a"]; got != want {
					t.Errorf("balance %q, want %q", got, want)
				}
			}
		})
	}
}

// TestDistancesFromTheMeanNeedAllNodes: the mean of some nodes is another one.
func TestDistancesFromTheMeanNeedAllNodes(t *testing.T) {
	const some = "Unknown LowNodeLoad: useDeviationThresholds compares with the mean of all nodes of the pool, and only some nodes were listed"
	tests := map[string]struct {
		args    string
		partial bool
		want    map[string]string
	}{
		"all nodes": {fromMean, false, map[string]string{
			"a": "Underutilized LowNodeLoad: cpu 20% <= 40%", "b": "Normal LowNodeLoad: cpu 50% (40% to 60%)", "c": "Overutilized LowNodeLoad: cpu 80% > 60%",
		}},
		"some nodes": {fromMean, true, map[string]string{"a": some, "b": some, "c": some}},
		"some nodes, thresholds of their own": {thresholds, true, map[string]string{
			"a": "Underutilized LowNodeLoad: cpu 20% <= 45%, memory 10% <= 55%", "b": "Normal LowNodeLoad: cpu 50% (45% to 75%), memory 10% (55% to 80%)",
			"c": "Overutilized LowNodeLoad: cpu 80% > 75%",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := &balanced{BalanceInput{Partial: tc.partial}}
			b.node("a", 20, 10)
			b.node("b", 50, 10)
			b.node("c", 80, 10)
			if diff := cmp.Diff(tc.want, b.verdicts(t, profile("LowNodeLoad", tc.args))); diff != "" {
				t.Errorf("balance (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAMessageNeverContradictsItself(t *testing.T) {
	tests := map[string]struct {
		used, threshold float64
		want            string
	}{
		"whole percentages where they do": {81.27, 75, "cpu 81% > 75%"},
		"one digit where it takes one":    {75.3, 75, "cpu 75.3% > 75.0%"},
		"two digits at most":              {75.001, 75, "cpu 75.00% > 75.00%"},
		"thresholds between percentages":  {60.4, 59.6, "cpu 60.4% > 59.6%"},
	}
	for name, tc := range tests {
		if got := above("cpu", tc.used, tc.threshold); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// BenchmarkBalance is what `top nodes -o wide` of 1,000 nodes with 20,000 pods adds, without the request.
func BenchmarkBalance(b *testing.B) {
	in := &balanced{}
	for n := range 1000 {
		in.node(fmt.Sprintf("node-%04d", n), 40, 50)
		for p := range 19 {
			pod := in.Pods[len(in.Pods)-1]
			pod.Name = fmt.Sprintf("%s-%d", pod.Name, p)
			in.Pods = append(in.Pods, pod)
			usage := &in.Metrics[n].Status.PodsMetric
			*usage = append(*usage, &slov1alpha1.PodMetricInfo{Namespace: pod.Namespace, Name: pod.Name, PodUsage: (*usage)[0].PodUsage})
		}
	}
	for name, profiles := range map[string]string{"LowNodeLoad": profile("LowNodeLoad", thresholds), "LoadAwareRebalancing": profile("LoadAwareRebalancing", "")} {
		descheduler, err := ReadDescheduler(map[string]string{DeschedulerConfigMap: "profiles:\n" + profiles})
		if err != nil {
			b.Fatal(err)
		}
		in.Descheduler, in.Now = descheduler, now
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if judged, err := Balance(&in.BalanceInput); err != nil || judged["node-0007"].State == diagnosticsv1alpha1.BalanceUnknown {
					b.Fatalf("%d nodes are judged, %v", len(judged), err)
				}
			}
		})
	}
}
