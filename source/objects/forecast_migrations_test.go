package objects

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/lownodeload"
)

// forecasting is a cluster whose nodes have 10 CPUs and 100 GiB.
type forecasting struct{ MigrationSnapshot }

// node adds a node with pods that use percentages of its CPU each. Their names are that of the node with a number.
func (f *forecasting) node(name string, uses ...int64) *forecasting {
	n := node(name, readyNode)
	n.Status.Allocatable = resources("cpu", "10", "memory", "100Gi", "pods", "110")
	m := metric(name, 0, "0")
	for i, percent := range uses {
		p := web(fmt.Sprintf("%s-%d", name, i), name, requesting("cpu", "100m"))
		f.Pods = append(f.Pods, *p)
		m.Status.PodsMetric = append(m.Status.PodsMetric, &slov1alpha1.PodMetricInfo{Namespace: p.Namespace, Name: p.Name, PodUsage: slov1alpha1.ResourceMap{
			ResourceList: corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(percent*100, resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("1Gi")},
		}})
	}
	f.Nodes, f.Metrics = append(f.Nodes, n), append(f.Metrics, m)
	return f
}

// pod edits a pod.
func (f *forecasting) pod(name string, edits ...func(*corev1.Pod)) *forecasting {
	for i := range f.Pods {
		if f.Pods[i].Name == name {
			for _, edit := range edits {
				edit(&f.Pods[i])
			}
		}
	}
	return f
}

// forecast with profiles in YAML, and what else the DeschedulerConfiguration says.
func (f *forecasting) forecast(t rapid.TB, rounds int, profiles string, more ...string) *diagnosticsv1alpha1.MigrationForecast {
	t.Helper()
	var err error
	if f.Descheduler, err = ReadDescheduler(map[string]string{DeschedulerConfigMap: strings.Join(append(more, "profiles:\n"+profiles), "\n")}); err != nil {
		t.Fatal(err)
	}
	f.Rounds, f.Now = rounds, now
	answer, err := ForecastMigrations(&f.MigrationSnapshot)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func movesOf(answer *diagnosticsv1alpha1.MigrationForecast) []string {
	var out []string
	for _, move := range answer.Moves {
		out = append(out, fmt.Sprintf("%d %s %s->%s", move.Round, move.Name, move.From, move.To))
	}
	return out
}

// hotAndCold has a node that uses 90 % of its CPU, in pods of 30 %, and others that use nothing.
func hotAndCold(cold ...string) *forecasting {
	f := (&forecasting{}).node("hot", 30, 30, 30)
	for _, name := range cold {
		f.node(name)
	}
	return f
}

const (
	atOnce = "lowThresholds: {cpu: 45, memory: 55}, highThresholds: {cpu: 75, memory: 80}, anomalyCondition: {consecutiveAbnormalities: 1}"
	after5 = "lowThresholds: {cpu: 45, memory: 55}, highThresholds: {cpu: 75, memory: 80}"
	inPart = "node pool __default_node_pool__: "
)

func TestAForecastIsToldInOneSentence(t *testing.T) {
	low := func(args string) string { return profile("LowNodeLoad", args) }
	stale := func(f *forecasting) *forecasting {
		f.Metrics[1].Status.UpdateTime = &metav1.Time{Time: now.Add(-time.Hour)}
		return f
	}
	tests := map[string]struct {
		cluster  *forecasting
		rounds   int
		profiles string
		more     string
		want     string
	}{
		"a pod moves at once": {hotAndCold("cold"), 1, low(atOnce), "", "1 pod would move in 1 round, the first in round 1"},
		"two pods of a hotter node": {
			(&forecasting{}).node("hot", 30, 30, 30, 9).node("c"), 2, low(strings.ReplaceAll(atOnce, "75", "50")), "",
			"2 pods would move in 2 rounds (2m0s), the first in round 1",
		},
		"rounds have the interval": {hotAndCold("cold"), 7, low(after5), "deschedulingInterval: 30s", "1 pod would move in 7 rounds (3m0s), the first in round 6"},
		"a plugin in dry run":      {hotAndCold("cold"), 1, low("dryRun: true, " + atOnce), "", "1 pod would move without dryRun in 1 round, the first in round 1"},
		"a descheduler in dry run": {hotAndCold("cold"), 1, low(atOnce), "dryRun: true", "1 pod would move without dryRun in 1 round, the first in round 1"},
		"the node is not overutilized long": {
			hotAndCold("cold"), 2, low(after5), "",
			"nothing moves in 2 rounds (2m0s): " + inPart + "no overutilized node is anomalous yet: of 2 nodes, 1 underutilized, 1 overutilized; it takes 6 overutilized rounds in a row, and 2 were looked at",
		},
		"no node is overutilized": {
			(&forecasting{}).node("busy", 60).node("cold"), 1, low(atOnce), "",
			"nothing moves in 1 round: " + inPart + "no node is overutilized: of 2 nodes, 1 underutilized, 0 overutilized; highest cpu usage 60.0% on busy, threshold 75%; highest memory usage 1.0% on busy, threshold 80%",
		},
		"no node is underutilized": {
			hotAndCold().node("busy", 60), 1, low(atOnce), "",
			"nothing moves in 1 round: " + inPart + "no node is underutilized: of 2 nodes, 0 underutilized, 1 overutilized",
		},
		"all nodes are underutilized": {
			(&forecasting{}).node("a", 7).node("b", 9), 1, low(atOnce), "",
			"nothing moves in 1 round: " + inPart + "all nodes are underutilized: of 2 nodes, 2 underutilized, 0 overutilized; highest cpu usage 9.0% on b, threshold 75%; highest memory usage 1.0% on a, threshold 80%",
		},
		"too few nodes are underutilized": {
			hotAndCold("cold"), 1, low("numberOfNodes: 1, " + atOnce), "",
			"nothing moves in 1 round: " + inPart + "the number of underutilized nodes is not above numberOfNodes: of 2 nodes, 1 underutilized, 1 overutilized; numberOfNodes is 1",
		},
		"the load of a node is unknown": {
			stale(hotAndCold("cold")), 1, low(atOnce), "",
			"nothing moves in 1 round: " + inPart + "no node is underutilized: of 2 nodes, 0 underutilized, 1 overutilized, 1 of unknown load",
		},
		"no pod can leave": {
			hotAndCold("cold").pod("hot-0", bare).pod("hot-1", bare).pod("hot-2", withEmptyDir), 1, low(atOnce), "",
			"nothing moves in 1 round: " + inPart + "no pod of 1 overutilized node can leave",
		},
		"the plugin is paused": {hotAndCold("cold"), 1, low("paused: true, " + atOnce), "", "nothing moves in 1 round: the plugin is paused: its argument paused is true"},
		"the profile selects no node": {
			hotAndCold("cold"), 1, "- nodeSelector: {matchLabels: {pool: gpu}}\n" + strings.Replace(low(atOnce), "- ", "  ", 1), "",
			"nothing moves in 1 round: " + inPart + "no node is underutilized: of 0 nodes, 0 underutilized, 0 overutilized",
		},
		"a plugin without thresholds": {hotAndCold("cold"), 1, low(""), "", "nothing moves in 1 round: no node pool has nodes and thresholds"},
		"another plugin":              {hotAndCold("cold"), 1, profile("RemoveDuplicates", ""), "", "no plugin is enabled that is forecast"},
		"no profile":                  {hotAndCold("cold"), 1, "", "", "no plugin is enabled that is forecast"},
		"the others know the load":    {hotAndCold("cold"), 1, profile("RemoveDuplicates", "") + low(atOnce), "", "1 pod would move in 1 round, the first in round 1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.cluster.forecast(t, tc.rounds, tc.profiles, tc.more); got.Message != tc.want {
				t.Errorf("message %q, want %q", got.Message, tc.want)
			}
		})
	}
}

func TestTheLoadOfNodesIsForecast(t *testing.T) {
	answer := hotAndCold("cold").node("other", 30, 30).forecast(t, 1, profile("LowNodeLoad", atOnce))
	load := func(before, after int64) []diagnosticsv1alpha1.ForecastLoad {
		return []diagnosticsv1alpha1.ForecastLoad{{
			Resource: "cpu", Unit: diagnosticsv1alpha1.MilliCPU, Capacity: 10000, Before: before, After: after, BeforeBasisPoints: before, AfterBasisPoints: after,
			LowBasisPoints: new(int64(4500)), HighBasisPoints: new(int64(7500)),
		}, {
			Resource: "memory", Unit: diagnosticsv1alpha1.Bytes, Capacity: 100 << 30, Before: before / 3000 << 30, After: after / 3000 << 30,
			BeforeBasisPoints: before / 3000 * 100, AfterBasisPoints: after / 3000 * 100, LowBasisPoints: new(int64(5500)), HighBasisPoints: new(int64(8000)),
		}}
	}
	of := func(name, class, after string, rounds int32, ended string, loads []diagnosticsv1alpha1.ForecastLoad) diagnosticsv1alpha1.ForecastNode {
		return diagnosticsv1alpha1.ForecastNode{
			Name: name, Profile: "koord-descheduler", Pool: lownodeload.DefaultPool, Class: class, ClassAfter: after, RoundsNeeded: rounds, Ended: ended, Resources: loads,
		}
	}
	want := []diagnosticsv1alpha1.ForecastNode{
		of("cold", "low", "low", 0, "", load(0, 3000)), of("hot", "high", "normal", 1, "the node is not overutilized any more", load(9000, 6000)), of("other", "normal", "normal", 0, "", load(6000, 6000)),
	}
	if diff := cmp.Diff(want, answer.Nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	wantMoves := []diagnosticsv1alpha1.ForecastMove{{
		Round: 1, Namespace: "shop", Name: "hot-0", From: "hot", To: "cold", Profile: "koord-descheduler", Plugin: "LowNodeLoad",
		Reason: "node is overutilized, node cpu usage(90.00%)>threshold(75.00%)",
		Usage:  []diagnosticsv1alpha1.ForecastAmount{{Resource: "cpu", Amount: 3000, Unit: diagnosticsv1alpha1.MilliCPU}, {Resource: "memory", Amount: 1 << 30, Unit: diagnosticsv1alpha1.Bytes}},
	}}
	for i := range answer.Moves {
		answer.Moves[i].Keys = nil // held by the tests of the order of pods
	}
	if diff := cmp.Diff(wantMoves, answer.Moves); diff != "" {
		t.Errorf("moves (-want +got):\n%s", diff)
	}
}

// TestPodsMoveAfterAsManyRoundsAsTheConditionAsksFor: a node has to be overutilized for one round more than consecutiveAbnormalities, and for
// one where that is 1.
func TestPodsMoveAfterAsManyRoundsAsTheConditionAsksFor(t *testing.T) {
	stored := func(abnormalities uint32) map[string]string {
		kept, err := json.Marshal(lownodeload.StoredHistory{SavedAt: metav1.NewTime(now), History: lownodeload.History{Nodes: map[string]lownodeload.NodeHistory{
			"hot": {Pool: lownodeload.DefaultPool, Node: lownodeload.Detector{Abnormalities: abnormalities}, ObservedAt: metav1.NewTime(now.Add(-time.Minute))},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{"0-LowNodeLoad-abc": string(kept)}
	}
	tests := map[string]struct {
		consecutive int
		counts      map[string]string
		want        int32
		// wantNeeded are the rounds in a row that the node has to be overutilized, whatever was counted.
		wantNeeded int32
		wantNote   bool
	}{
		"at once":                          {consecutive: 1, want: 1, wantNeeded: 1, wantNote: true},
		"two":                              {consecutive: 2, want: 3, wantNeeded: 3, wantNote: true},
		"five":                             {consecutive: 5, want: 6, wantNeeded: 6, wantNote: true},
		"three of five were counted":       {consecutive: 5, counts: stored(3), want: 3, wantNeeded: 6},
		"all were counted":                 {consecutive: 5, counts: stored(5), want: 1, wantNeeded: 6},
		"the counts of another profile":    {consecutive: 2, counts: map[string]string{"1-LowNodeLoad-abc": stored(9)["0-LowNodeLoad-abc"]}, want: 3, wantNeeded: 3, wantNote: true},
		"counts that cannot be read":       {consecutive: 2, counts: map[string]string{"0-LowNodeLoad-abc": "{"}, want: 3, wantNeeded: 3, wantNote: true},
		"there are none yet, and are read": {consecutive: 2, counts: map[string]string{}, want: 3, wantNeeded: 3, wantNote: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := hotAndCold("cold")
			cluster.Counts = tc.counts
			answer := cluster.forecast(t, 8, profile("LowNodeLoad", fmt.Sprintf(after5+", anomalyCondition: {consecutiveAbnormalities: %d}", tc.consecutive)))
			if len(answer.Moves) != 1 || answer.Moves[0].Round != tc.want || answer.Moves[0].Seconds != int64(tc.want-1)*120 {
				t.Errorf("moves %+v, want one in round %d", answer.Moves, tc.want)
			}
			if noted := strings.Contains(strings.Join(answer.Notes, "\n"), "ConfigMap koord-descheduler-history"); noted != tc.wantNote {
				t.Errorf("notes %q", answer.Notes)
			}
			hot := slices.IndexFunc(answer.Nodes, func(n diagnosticsv1alpha1.ForecastNode) bool { return n.Name == "hot" })
			if hot < 0 || answer.Nodes[hot].RoundsNeeded != tc.wantNeeded {
				t.Errorf("nodes %+v, want hot to need %d rounds", answer.Nodes, tc.wantNeeded)
			}
		})
	}
}

func TestPodsThatStaySayWhy(t *testing.T) {
	tests := map[string]struct {
		edit func(*forecasting)
		more string
		want map[string]string
	}{
		"gates": {
			edit: func(f *forecasting) {
				f.pod("hot-0", bare).pod("hot-1", withEmptyDir).pod("hot-2", ofPriority(2000000000))
			},
			want: map[string]string{
				"hot-0": "it has no owner that would create it again, and evictAllBarePods is false",
				"hot-1": "it has local storage: emptyDir cache, and evictLocalStoragePods is false",
				"hot-2": "its priority 2000000000 is system-critical, from 2000000000 on, and evictSystemCriticalPods is false",
			},
		},
		"no evictions of the node": {more: "maxNoOfPodsToEvictPerNode: 0", want: map[string]string{"hot-0": "maxNoOfPodsToEvictPerNode 0 of a round is reached"}},
		"no evictions at all": {more: "maxNoOfPodsToEvictTotal: 0", want: map[string]string{
			"hot-0": "maxNoOfPodsToEvictTotal 0 of a round is reached", "hot-1": "maxNoOfPodsToEvictTotal 0 of a round is reached", "hot-2": "maxNoOfPodsToEvictTotal 0 of a round is reached"}},
		"no evictions of the namespace": {
			more: "maxNoOfPodsToEvictPerNamespace: 0", edit: func(f *forecasting) {
				f.pod("hot-2", inNamespace("bank"))
				f.Metrics[0].Status.PodsMetric[2].Namespace = "bank"
			},
			want: map[string]string{
				"hot-0": "maxNoOfPodsToEvictPerNamespace 0 of a round is reached", "hot-1": "maxNoOfPodsToEvictPerNamespace 0 of a round is reached", "hot-2": "maxNoOfPodsToEvictPerNamespace 0 of a round is reached"},
		},
		"no target takes them": {edit: func(f *forecasting) {
			for i := range 3 {
				f.pod(fmt.Sprintf("hot-%d", i), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "gpu"} })
			}
		}, want: map[string]string{"hot-0": "it fits on no underutilized node", "hot-1": "it fits on no underutilized node", "hot-2": "it fits on no underutilized node"}},
		"usage that is not reported": {edit: func(f *forecasting) {
			f.Metrics[0].Status.NodeMetric.SystemUsage = slov1alpha1.ResourceMap{ResourceList: resources("cpu", "9")}
			f.Metrics[0].Status.PodsMetric = nil
		}, want: map[string]string{"hot-0": "no usage of it is reported", "hot-1": "no usage of it is reported", "hot-2": "no usage of it is reported"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := hotAndCold("cold")
			if tc.edit != nil {
				tc.edit(cluster)
			}
			answer := cluster.forecast(t, 1, profile("LowNodeLoad", atOnce), tc.more)
			got := map[string]string{}
			for _, stay := range answer.Stays {
				got[stay.Name] = stay.Reason
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(answer.Moves) > 0 {
				t.Errorf("moves %v, stays (-want +got):\n%s", movesOf(answer), diff)
			}
		})
	}
}

func TestPodsThatAreLeavingAlreadyDoNotCount(t *testing.T) {
	job := func(phase schedulingv1alpha1.PodMigrationJobPhase, name string) schedulingv1alpha1.PodMigrationJob {
		j := schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Name: "move"}}
		j.Status.Phase, j.Spec.PodRef = phase, &corev1.ObjectReference{Namespace: "shop", Name: name}
		return j
	}
	tests := map[string]struct {
		phase schedulingv1alpha1.PodMigrationJobPhase
		pod   string
		want  []string
	}{
		"a job that was just created": {"", "hot-0", nil},
		"one that waits":              {schedulingv1alpha1.PodMigrationJobPending, "hot-1", nil},
		"one that runs":               {schedulingv1alpha1.PodMigrationJobRunning, "hot-2", nil},
		"one that succeeded":          {schedulingv1alpha1.PodMigrationJobSucceeded, "hot-0", []string{"1 hot-0 hot->cold"}},
		"one that failed":             {schedulingv1alpha1.PodMigrationJobFailed, "hot-0", []string{"1 hot-0 hot->cold"}},
		"one for another pod":         {schedulingv1alpha1.PodMigrationJobRunning, "web", []string{"1 hot-0 hot->cold"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := hotAndCold("cold")
			cluster.Jobs = []schedulingv1alpha1.PodMigrationJob{job(tc.phase, tc.pod), {}}
			if diff := cmp.Diff(tc.want, movesOf(cluster.forecast(t, 1, profile("LowNodeLoad", atOnce)))); diff != "" {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsThatMovedLoadTheirNewNode(t *testing.T) {
	// Each round moves one pod: the second finds the first on its new node, and both nodes end below the threshold.
	cluster := (&forecasting{}).node("hot", 22, 22, 22, 22).node("a").node("b")
	answer := cluster.forecast(t, 3, profile("LowNodeLoad", strings.ReplaceAll(atOnce, "75", "50")), "maxNoOfPodsToEvictTotal: 1")
	if diff := cmp.Diff([]string{"1 hot-0 hot->a", "2 hot-1 hot->b"}, movesOf(answer)); diff != "" {
		t.Errorf("moves (-want +got):\n%s", diff)
	}
	var got []string
	for _, n := range answer.Nodes {
		got = append(got, fmt.Sprintf("%s %d->%d", n.Name, n.Resources[0].Before, n.Resources[0].After))
	}
	if diff := cmp.Diff([]string{"a 0->2200", "b 0->2200", "hot 8800->4400"}, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestAForecastWithoutNodeFitLooksForNoNode(t *testing.T) {
	answer := hotAndCold("cold").forecast(t, 1, profile("LowNodeLoad", "nodeFit: false, "+atOnce))
	if diff := cmp.Diff([]string{"1 hot-0 hot->"}, movesOf(answer)); diff != "" {
		t.Errorf("moves (-want +got):\n%s", diff)
	}
	if !strings.Contains(strings.Join(answer.Notes, "\n"), "the argument nodeFit is false") || answer.Moves[0].Alternatives != nil {
		t.Errorf("notes %q, alternatives %q", answer.Notes, answer.Moves[0].Alternatives)
	}
}

func TestAlternativesAreTheOtherNodesWithRoom(t *testing.T) {
	cluster := hotAndCold("a", "b", "c", "d", "e", "f", "b-small").node("busy", 60)
	cluster.Nodes[7].Status.Allocatable["cpu"] = resource.MustParse("50m")
	cluster.Nodes[1].Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	answer := cluster.forecast(t, 1, profile("LowNodeLoad", atOnce))
	if len(answer.Moves) != 1 || len(answer.Moves[0].Alternatives) != 3 {
		t.Fatalf("moves %+v", answer.Moves)
	}
	for _, other := range answer.Moves[0].Alternatives {
		if other == answer.Moves[0].To || other == "a" || other == "b-small" || other == "busy" {
			t.Errorf("%s is an alternative to %s", other, answer.Moves[0].To)
		}
	}
}

// TestTheModeUpstreamIsForecastAsLowNodeLoad, with the thresholds of LoadAwareRebalancing. How often in a row nodes were overutilized is not
// kept for it, and koord-scheduler is not asked.
func TestTheModeUpstreamIsForecastAsLowNodeLoad(t *testing.T) {
	for name, tc := range map[string]struct {
		args        string
		want        []string
		wantMessage string
	}{
		"it moves when a node was overutilized often enough": {"", []string{"6 hot-0 hot->cold"}, "1 pod would move in 10 rounds (18m0s), the first in round 6"},
		"by its own thresholds":                              {", highThresholds: {cpu: 95}", nil, "nothing moves in 10 rounds (18m0s): node pool __default_node_pool__: no node is overutilized: "},
		"in dry run":                                         {", dryRun: true", []string{"6 hot-0 hot->cold"}, "1 pod would move without dryRun in 10 rounds (18m0s), the first in round 6"},
		"paused":                                             {", paused: true", nil, "nothing moves in 10 rounds (18m0s): the plugin is paused: its argument paused is true"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := hotAndCold("cold")
			cluster.Review = func(*diagnosticsv1alpha1.PlacementReviewSpec) (*diagnosticsv1alpha1.PlacementReviewStatus, *diagnosticsv1alpha1.Finding) {
				t.Error("koord-scheduler is asked")
				return nil, &diagnosticsv1alpha1.Finding{}
			}
			answer := cluster.forecast(t, 10, profile("LoadAwareRebalancing", "mode: Upstream"+tc.args))
			if diff := cmp.Diff(tc.want, movesOf(answer)); diff != "" {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
			if !strings.HasPrefix(answer.Message, tc.wantMessage) || len(answer.Incomplete)+len(answer.Unforecast) > 0 {
				t.Errorf("message %q, incomplete %q, want %q", answer.Message, answer.Incomplete, tc.wantMessage)
			}
			if len(tc.want) > 0 && (answer.Moves[0].Plugin != "LoadAwareRebalancing" || !strings.Contains(strings.Join(answer.Notes, "\n"), "is remembered by the process of koord-descheduler alone and is counted from 0 here")) {
				t.Errorf("by %s, notes %q", answer.Moves[0].Plugin, answer.Notes)
			}
		})
	}
}

func TestAForecastSaysWhatItLeavesOut(t *testing.T) {
	cluster := hotAndCold("cold", "broken", "gone")
	notReadyNode(&cluster.Nodes[2])
	cluster.Nodes[3].Status.Conditions[0].Status = corev1.ConditionUnknown
	cluster.Missing = []string{"list podmigrationjobs: not permitted"}
	answer := cluster.forecast(t, 1, profile("RemoveDuplicates", "")+profile("FragmentationAware", "")+profile("LowNodeLoad", atOnce))
	want := []string{
		"list podmigrationjobs: not permitted",
		"plugin RemoveDuplicates of profile koord-descheduler is enabled and not forecast; it may evict pods too",
		"plugin FragmentationAware of profile koord-descheduler is enabled and not forecast; it may evict pods too",
	}
	if diff := cmp.Diff(want, answer.Incomplete); diff != "" {
		t.Errorf("incomplete (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"RemoveDuplicates", "FragmentationAware"}, answer.Unforecast); diff != "" {
		t.Errorf("plugins that are not forecast (-want +got):\n%s", diff)
	}
	if notes := strings.Join(answer.Notes, "\n"); !strings.Contains(notes, "nodes that are not ready are left out: broken, gone") || len(answer.Nodes) != 2 {
		t.Errorf("%d nodes, notes %q", len(answer.Nodes), answer.Notes)
	}
}
