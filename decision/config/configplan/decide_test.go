package configplan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/scheduling/quota"
)

const colocation, threshold = "colocation-config", "resource-threshold-config"

// small is three nodes: gold with a service and two batch pods, silver with a service, and one without measurements.
func small(t *testing.T, old, next map[string]string) Input {
	t.Helper()
	in := Input{Old: parsed(t, old), New: parsed(t, next), Now: fixtureNow}
	in.Nodes = []corev1.Node{makeNode("gold-1", map[string]string{"pool": "gold"}), makeNode("silver-1", map[string]string{"pool": "silver"}), makeNode("dark-1", nil)}
	in.Pods = []corev1.Pod{
		service("gold-1", "web-0", "8", "16Gi"), batch("gold-1", "exec-1", 5500, "4000", "8Gi"), batch("gold-1", "exec-2", 5400, "2000", "4Gi"),
		service("silver-1", "web-1", "8", "16Gi"),
	}
	in.Metrics = []slov1alpha1.NodeMetric{
		makeMetric("gold-1", "15", "100Gi", use("shop", "web-0", "6", "12Gi"), use("spark", "exec-1", "5", "40Gi"), use("spark", "exec-2", "3", "44Gi")),
		makeMetric("silver-1", "7", "16Gi", use("shop", "web-1", "6", "12Gi")),
	}
	return in
}

func TestNothingChangesWhenNothingChanges(t *testing.T) {
	config := map[string]string{colocation: `{"enable": true}`, threshold: `{"clusterStrategy": {"enable": true}}`}
	plan := Of(small(t, config, config))
	if !plan.Empty() || plan.Summary.NodesAffected != 0 || len(plan.Pods) > 0 || len(plan.Histogram) > 0 {
		t.Errorf("got %+v", plan)
	}
}

// TestOffersAreThoseOfTheController compares every number with overcommit.Calculate, which the controller writes.
func TestOffersAreThoseOfTheController(t *testing.T) {
	in := small(t, map[string]string{colocation: `{"enable": true}`}, map[string]string{colocation: `{"enable": true, "cpuReclaimThresholdPercent": 80,
		"nodeConfigs": [{"name": "silver", "nodeSelector": {"matchLabels": {"pool": "silver"}}, "enable": false}]}`})
	plan := Of(in)
	got := map[string]map[corev1.ResourceName][2]int64{}
	for _, node := range plan.Nodes {
		got[node.Name] = map[corev1.ResourceName][2]int64{}
		for _, offer := range node.Offers {
			got[node.Name][offer.Resource] = [2]int64{valueOr(offer.Old, -1), valueOr(offer.New, -1)}
		}
	}
	want := map[string]map[corev1.ResourceName][2]int64{}
	for i := range in.Nodes {
		node := &in.Nodes[i]
		var results [2]overcommit.Result
		for at, config := range []configmerge.Config{in.Old, in.New} {
			input := overcommit.NodeInput{Node: node, Now: in.Now, Strategy: config.Colocation(node)}
			for m := range in.Metrics {
				if in.Metrics[m].Name == node.Name {
					input.Metric = &in.Metrics[m]
				}
			}
			for p := range in.Pods {
				if in.Pods[p].Spec.NodeName == node.Name {
					input.Pods = append(input.Pods, &in.Pods[p])
				}
			}
			results[at] = overcommit.Calculate(input, nil)
		}
		want[node.Name] = map[corev1.ResourceName][2]int64{}
		for _, name := range overcommit.Resources() {
			a, _ := results[0].Of(name)
			b, _ := results[1].Of(name)
			if shown(a) != shown(b) {
				want[node.Name][name] = [2]int64{shown(a), shown(b)}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("offers (-controller +plan):\n%s", diff)
	}
	if want["gold-1"][extension.BatchCPU] == [2]int64{} || want["silver-1"][extension.BatchCPU][1] != -1 {
		t.Errorf("the case is no test: %v", want)
	}
}

func shown(value overcommit.Value) int64 {
	if value.Withdrawn {
		return -1
	}
	return value.Value
}

func valueOr(value *int64, fallback int64) int64 {
	if value == nil {
		return fallback
	}
	return *value
}

func TestNodesAreGroupedByWhatChangesOnThem(t *testing.T) {
	in := small(t,
		map[string]string{threshold: `{"clusterStrategy": {"cpuSuppressThresholdPercent": 60}}`},
		map[string]string{threshold: `{"clusterStrategy": {"cpuSuppressThresholdPercent": 50}, "nodeStrategies": [
			{"name": "gold", "nodeSelector": {"matchLabels": {"pool": "gold"}}, "cpuSuppressThresholdPercent": 60},
			{"name": "any", "nodeSelector": {"matchExpressions": [{"key": "pool", "operator": "Exists"}]}, "cpuEvictThresholdPercent": 90}]}`})
	plan := Of(in)
	path := "cpuSuppressThresholdPercent"
	field := "NodeSLO.spec.resourceUsedThresholdWithBE."
	want := []NodeGroup{
		{Nodes: 1, Names: []string{"dark-1"}, Writes: []string{"NodeSLO"}, Changes: []SettingChange{
			{Key: threshold, Path: path, Old: "60", New: "50", OldLayer: "cluster", NewLayer: "cluster", Field: field + path}}},
		{Nodes: 1, Names: []string{"silver-1"}, Writes: []string{"NodeSLO"}, Changes: []SettingChange{
			{Key: threshold, Path: "cpuEvictThresholdPercent", New: "90", NewLayer: "node strategy any", Field: field + "cpuEvictThresholdPercent"},
			{Key: threshold, Path: path, Old: "60", New: "50", OldLayer: "cluster", NewLayer: "cluster", Field: field + path}}},
	}
	if diff := cmp.Diff(want, plan.Groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	wantStrategies := []StrategyMatch{
		{Key: threshold, Layer: "node strategy gold", After: new(1), Names: []string{"gold-1"}},
		{Key: threshold, Layer: "node strategy any", After: new(1), Names: []string{"silver-1"}, Shadowed: 1},
		{Key: threshold, Layer: "cluster", Before: new(3), After: new(1), Names: []string{"dark-1"}},
	}
	if diff := cmp.Diff(wantStrategies, plan.Strategies); diff != "" {
		t.Errorf("strategies (-want +got):\n%s", diff)
	}
	if plan.Summary.NodeSLOs != 2 || plan.Summary.NodesAffected != 2 {
		t.Errorf("summary %+v", plan.Summary)
	}
}

// TestANodesOwnSettingsHideAChange: the annotation and the labels of a node stand above both configurations.
func TestANodesOwnSettingsHideAChange(t *testing.T) {
	in := small(t, map[string]string{colocation: `{"enable": true, "cpuReclaimThresholdPercent": 60}`}, map[string]string{colocation: `{"enable": true, "cpuReclaimThresholdPercent": 70}`})
	in.Nodes[0].Labels[extension.LabelCPUReclaimRatio] = "0.5"
	for _, node := range Of(in).Nodes {
		if node.Name == "gold-1" {
			t.Errorf("gold-1 changes: %+v", node)
		}
	}
}

func TestPodsAtOnce(t *testing.T) {
	const on = `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 65, "memoryEvictThresholdPercent": 90}}`
	// gold-1 uses 15 of 32 CPUs: 6 by the service, 8 by batch, 1 by the system; and 100 of 128 Gi, which is 78 percent.
	tests := map[string]struct {
		old, next string
		features  map[string]bool
		want      []PodEffect
	}{
		"nothing is at risk": {old: on, next: on},
		"what happens already is no news": {
			old:  `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 40, "memoryEvictThresholdPercent": 90}}`,
			next: `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 39, "memoryEvictThresholdPercent": 90}}`,
		},
		"a lower threshold suppresses": {
			old: on, next: `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 40, "memoryEvictThresholdPercent": 90}}`,
			want: []PodEffect{
				{Namespace: "spark", Name: "exec-1", Node: "gold-1", Effect: Suppressed, Feature: "BECPUSuppress", Reason: "best-effort pods use 8 cores, and 5.8 are left to them at 40%"},
				{Namespace: "spark", Name: "exec-2", Node: "gold-1", Effect: Suppressed, Feature: "BECPUSuppress", Reason: "best-effort pods use 8 cores, and 5.8 are left to them at 40%"},
			},
		},
		"what is left in any case is enough": {
			old: on, next: `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 40, "cpuSuppressMinPercent": 25, "memoryEvictThresholdPercent": 90}}`,
		},
		"memory is released by the lowest priority, as much as is needed": {
			old: on, next: `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 75, "memoryEvictLowerPercent": 60}}`,
			want: []PodEffect{{Namespace: "spark", Name: "exec-2", Node: "gold-1", Effect: Evicted, Feature: "BEMemoryEvict", Reason: "78% of the memory is used; pods are evicted from 75%"}},
		},
		"and by the next when that is not enough": {
			old: on, next: `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 75, "memoryEvictLowerPercent": 40}}`,
			want: []PodEffect{
				{Namespace: "spark", Name: "exec-2", Node: "gold-1", Effect: Evicted, Feature: "BEMemoryEvict", Reason: "78% of the memory is used; pods are evicted from 75%"},
				{Namespace: "spark", Name: "exec-1", Node: "gold-1", Effect: Evicted, Feature: "BEMemoryEvict", Reason: "78% of the memory is used; pods are evicted from 75%"},
			},
		},
		"a feature that is off does nothing": {
			old: on, next: `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 75}}`, features: map[string]bool{"CPUEvict": true},
		},
		"pods that do not agree are not evicted by priority": {
			old: on, next: `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 90, "cpuEvictThresholdPercent": 40, "evictEnabledPriorityThreshold": 5999}}`,
		},
		"low satisfaction evicts": {
			old: on, next: `{"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 30, "memoryEvictThresholdPercent": 90,
				"cpuEvictBESatisfactionLowerPercent": 50, "cpuEvictBESatisfactionUpperPercent": 60}}`,
			want: []PodEffect{
				{Namespace: "spark", Name: "exec-1", Node: "gold-1", Effect: Suppressed, Feature: "BECPUSuppress", Reason: "best-effort pods use 8 cores, and 2.6 are left to them at 30%"},
				{Namespace: "spark", Name: "exec-2", Node: "gold-1", Effect: Suppressed, Feature: "BECPUSuppress", Reason: "best-effort pods use 8 cores, and 2.6 are left to them at 30%"},
				{Namespace: "spark", Name: "exec-2", Node: "gold-1", Effect: Evicted, Feature: "BECPUEvict", Reason: "best-effort pods get 2.6 of 6 cores requested, evicted at 50%"},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := small(t, map[string]string{threshold: tc.old}, map[string]string{threshold: tc.next})
			in.Features = tc.features
			plan := Of(in)
			if diff := cmp.Diff(tc.want, plan.Pods); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			if got := *plan.Summary.PodsSuppressed + *plan.Summary.PodsEvicted; got != len(tc.want) {
				t.Errorf("summary %+v", plan.Summary)
			}
		})
	}
}

// TestPodsThatAgreeAreEvictedByPriority: CPU above the threshold, of pods up to a priority that carry the label.
func TestPodsThatAgreeAreEvictedByPriority(t *testing.T) {
	next := `{"clusterStrategy": {"enable": true, "cpuEvictThresholdPercent": 40, "cpuEvictLowerPercent": 35, "evictEnabledPriorityThreshold": 5450, "memoryEvictThresholdPercent": 90}}`
	in := small(t, nil, map[string]string{threshold: next})
	for i := range in.Pods {
		if in.Pods[i].Namespace == "spark" {
			in.Pods[i].Labels[extension.LabelPodEvictEnabled] = "true"
		}
	}
	want := []PodEffect{{Namespace: "spark", Name: "exec-2", Node: "gold-1", Effect: Evicted, Feature: "CPUEvict", Reason: "46% of the CPU is used; pods are evicted from 40%"}}
	if diff := cmp.Diff(want, Of(in).Pods); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}

// TestRequestsBeyondTheOfferAreEvicted when the offer was lowered. Switching co-location off withdraws the offer, and evicts no pod.
func TestRequestsBeyondTheOfferAreEvicted(t *testing.T) {
	const evict = `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 99, "cpuAllocatableEvictThresholdPercent": 110,
		"cpuAllocatableEvictLowerPercent": 100, "allocatableEvictPriorityThreshold": 5999}}`
	agree := func(in Input) Input {
		for i := range in.Pods {
			if in.Pods[i].Namespace == "spark" {
				in.Pods[i].Labels[extension.LabelPodEvictEnabled] = "true"
			}
		}
		return in
	}
	config := func(colocated string) map[string]string {
		return map[string]string{threshold: evict, colocation: colocated}
	}
	const wide = `{"enable": true, "cpuReclaimThresholdPercent": 90}`
	plan := Of(agree(small(t, config(wide), config(`{"enable": true, "cpuReclaimThresholdPercent": 38}`))))
	var evicted []string
	for _, pod := range plan.Pods {
		if pod.Effect == Evicted {
			evicted = append(evicted, pod.Name+" "+pod.Feature)
		}
	}
	if diff := cmp.Diff([]string{"exec-2 CPUAllocatableEvict"}, evicted); diff != "" {
		t.Errorf("a smaller offer evicts (-want +got):\n%s\n%+v", diff, plan.Nodes)
	}
	if plan := Of(agree(small(t, config(wide), config(`{"enable": false}`)))); *plan.Summary.PodsEvicted != 0 {
		t.Errorf("an offer that is withdrawn evicts %+v", plan.Pods)
	}
}

func TestQuotasFollowTheClustersTotal(t *testing.T) {
	in := small(t, map[string]string{colocation: `{"enable": true, "cpuReclaimThresholdPercent": 60}`}, map[string]string{colocation: `{"enable": true, "cpuReclaimThresholdPercent": 80}`})
	in.Quotas = []schedulingsigsv1alpha1.ElasticQuota{makeQuota("spark", "spark", "3000", "100000"), makeQuota("plain", "plain", "0", "0")}
	in.Quotas[1].Spec.Max, in.Quotas[1].Spec.Min = amounts("cpu", "10"), amounts("cpu", "1")
	// More is asked for than there is, so that the share is what there is.
	in.Pods[1].Spec.Containers[0].Resources.Requests = amounts("kubernetes.io/batch-cpu", "60000")
	plan := Of(in)
	if len(plan.Quotas) != 1 || plan.Quotas[0].Name != "spark" {
		t.Fatalf("quotas %+v, want that of batch-cpu alone", plan.Quotas)
	}
	share := plan.Quotas[0].Shares[0]
	if share.Resource != extension.BatchCPU || share.New <= share.Old || share.Used != 62000 || !share.Overused {
		t.Errorf("share %+v", share)
	}
}

// TestQuotasFollowWhatNodesAreShownWith: the scheduler shares what node.status states, so that a node that is shown larger
// brings more cpu to share, to pods that wait for it too.
func TestQuotasFollowWhatNodesAreShownWith(t *testing.T) {
	in := small(t, nil, map[string]string{"resource-amplification-config": `{"enable": true, "resourceAmplificationRatio": {"cpu": 1.5}}`})
	in.Quotas = []schedulingsigsv1alpha1.ElasticQuota{makeQuota("shop", "shop", "0", "0")}
	in.Quotas[0].Spec.Min, in.Quotas[0].Spec.Max = amounts("cpu", "10"), amounts("cpu", "120")
	if plan := Of(in); len(plan.Quotas) != 0 {
		t.Fatalf("quotas %+v, though no more is asked for than there is", plan.Quotas)
	}
	waiting := service("", "web-2", "100", "1Gi")
	waiting.Status.Phase = corev1.PodPending
	in.Pods = append(in.Pods, waiting)
	want := []QuotaChange{{Namespace: "shop", Name: "shop", Shares: []ShareChange{{Resource: "cpu", Old: 96000, New: 116000, Used: 16000}}}}
	if diff := cmp.Diff(want, Of(in).Quotas); diff != "" {
		t.Errorf("quotas (-want +got):\n%s", diff)
	}
	if got := UnitOf(corev1.ResourceCPU); got != diagnosticsv1alpha1.MilliCPU {
		t.Errorf("the unit of cpu is %s", got)
	}
}

// TestQuotasAreSharedAsTheSchedulerIsConfigured: mins that are more than there is are scaled down by default; where that is
// off a quota has its min, whatever there is.
func TestQuotasAreSharedAsTheSchedulerIsConfigured(t *testing.T) {
	in := small(t, map[string]string{colocation: `{"enable": true, "cpuReclaimThresholdPercent": 60}`}, map[string]string{colocation: `{"enable": true, "cpuReclaimThresholdPercent": 80}`})
	in.Quotas = []schedulingsigsv1alpha1.ElasticQuota{makeQuota("spark", "spark", "900000", "900000")}
	in.Pods[1].Spec.Containers[0].Resources.Requests = amounts("kubernetes.io/batch-cpu", "900000")
	if plan := Of(in); len(plan.Quotas) != 1 {
		t.Errorf("quotas %+v with the scheduler's defaults", plan.Quotas)
	}
	in.QuotaArgs = &quota.Args{EnableMinQuotaScale: new(false)}
	quota.SetDefaults(in.QuotaArgs)
	if plan := Of(in); len(plan.Quotas) != 0 {
		t.Errorf("quotas %+v, though mins are not scaled", plan.Quotas)
	}
}

func TestUnconvergedNodeSLOsAreTold(t *testing.T) {
	config := map[string]string{threshold: `{"clusterStrategy": {"enable": true}}`}
	in := small(t, config, config)
	in.SLOs = []slov1alpha1.NodeSLO{{Spec: *specCopy(in.Old, &in.Nodes[0])}, {Spec: *specCopy(in.Old, &in.Nodes[1])}}
	in.SLOs[0].Name, in.SLOs[1].Name = "gold-1", "silver-1"
	in.SLOs[1].Spec.ResourceUsedThresholdWithBE.CPUSuppressThresholdPercent = new(int64(1))
	plan := Of(in)
	if diff := cmp.Diff([]string{"dark-1", "silver-1"}, plan.Unconverged); diff != "" || *plan.Summary.NodesUnconverged != 2 {
		t.Errorf("unconverged (-want +got):\n%s", diff)
	}
	if found := plan.Findings(); len(found) != 1 || found[0].Code != finding.ConfigUnconverged || !strings.HasSuffix(found[0].Message, ": dark-1, silver-1") || found[0].Fix == "" {
		t.Errorf("findings %+v", found)
	}
	in.SLOs = nil
	if plan := Of(in); plan.Summary.NodesUnconverged != nil || plan.Findings() != nil {
		t.Errorf("NodeSLOs that are unknown count as unconverged: %+v", plan.Summary)
	}
}

// TestEveryNodeIsNamed: a plan is what one looks up which nodes match which strategy in, so that it names all of them. Only
// the sentence of a finding is cut.
func TestEveryNodeIsNamed(t *testing.T) {
	old := map[string]string{threshold: `{"clusterStrategy": {"enable": true}}`}
	in := large(t, 30, 0, parsed(t, old))
	in.New = parsed(t, map[string]string{threshold: `{"clusterStrategy": {"enable": true}, "nodeStrategies": [
		{"name": "gold", "nodeSelector": {"matchLabels": {"pool": "gold"}}, "cpuSuppressThresholdPercent": 50}]}`})
	in.SLOs = []slov1alpha1.NodeSLO{}
	slices.Reverse(in.Nodes)
	var all, gold, others []string
	for i := range 30 {
		name := fmt.Sprintf("node-%05d", i)
		all = append(all, name)
		if i%3 == 0 {
			gold = append(gold, name)
		} else {
			others = append(others, name)
		}
	}
	plan := Of(in)
	got := map[string][]string{"group": plan.Groups[0].Names, "unconverged": plan.Unconverged}
	for _, match := range plan.Strategies {
		got[match.Layer] = match.Names
	}
	want := map[string][]string{"group": gold, "node strategy gold": gold, "cluster": others, "unconverged": all}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if message := plan.Findings()[0].Message; !strings.HasSuffix(message, ": node-00000, node-00001, node-00002, node-00003, node-00004 and 25 more") {
		t.Errorf("message %q", message)
	}
}

func TestHistogramCountsEveryNodeOnce(t *testing.T) {
	in := large(t, 30, 3, parsed(t, map[string]string{colocation: benchOld}))
	in.New = parsed(t, map[string]string{colocation: benchNew})
	plan := Of(in)
	counts := map[corev1.ResourceName]int{}
	for _, bucket := range plan.Histogram {
		counts[bucket.Resource] += bucket.Nodes
	}
	if diff := cmp.Diff(map[corev1.ResourceName]int{extension.BatchCPU: 30}, counts); diff != "" {
		t.Errorf("nodes by resource (-want +got):\n%s", diff)
	}
}

func TestBuckets(t *testing.T) {
	tests := map[string]struct {
		old, is overcommit.Value
		want    string
	}{
		"the same":        {overcommit.Value{Value: 5}, overcommit.Value{Value: 5}, "unchanged"},
		"both withdrawn":  {overcommit.Value{Withdrawn: true}, overcommit.Value{Withdrawn: true}, "unchanged"},
		"taken back":      {overcommit.Value{Value: 5}, overcommit.Value{Withdrawn: true}, "withdrawn"},
		"nothing is left": {overcommit.Value{Value: 5}, overcommit.Value{}, "-100..-50%"},
		"a little less":   {overcommit.Value{Value: 1000}, overcommit.Value{Value: 999}, "-5..0%"},
		"a fifth less":    {overcommit.Value{Value: 100}, overcommit.Value{Value: 80}, "-20..-5%"},
		"a little more":   {overcommit.Value{Value: 1000}, overcommit.Value{Value: 1001}, "0..+5%"},
		"twice as much":   {overcommit.Value{Value: 10}, overcommit.Value{Value: 20}, "+50% and more"},
		"from nothing":    {overcommit.Value{Withdrawn: true}, overcommit.Value{Value: 20}, "newly offered"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := bucketOf(tc.old, tc.is); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
