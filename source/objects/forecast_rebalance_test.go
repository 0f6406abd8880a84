package objects

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// spread gives every pod a controller of its own, so that a round may move more than one.
func (f *forecasting) spread() *forecasting {
	for i := range f.Pods {
		ofController("StatefulSet", f.Pods[i].Name)(&f.Pods[i])
	}
	return f
}

// bare leaves no pod a controller.
func (f *forecasting) bare() *forecasting {
	for i := range f.Pods {
		bare(&f.Pods[i])
	}
	return f
}

func TestAPlanIsForecastRoundByRound(t *testing.T) {
	const planner = "LoadAwareRebalancing"
	tests := map[string]struct {
		cluster *forecasting
		rounds  int
		args    string
		more    string
		want    []string
	}{
		"one pod of a workload in a round":      {hotAndCold("cold"), 1, "", "", []string{"1 hot-0 hot->cold"}},
		"another in the next":                   {(&forecasting{}).node("hot", 19, 19, 19, 19, 19).node("cold"), 2, "", "", []string{"1 hot-0 hot->cold", "2 hot-1 hot->cold"}},
		"two off a node in a round":             {(&forecasting{}).node("hot", 19, 19, 19, 19, 19).node("a").node("b").spread(), 1, "", "", []string{"1 hot-0 hot->a", "1 hot-1 hot->b"}},
		"as many as the node may lose":          {(&forecasting{}).node("hot", 19, 19, 19, 19, 19).node("a").node("b").spread(), 1, "maxMovesPerNode: 1", "", []string{"1 hot-0 hot->a"}},
		"as many as the round may have":         {(&forecasting{}).node("hot", 19, 19, 19, 19, 19).node("a").node("b").spread(), 1, "", "maxNoOfPodsToEvictTotal: 1", []string{"1 hot-0 hot->a"}},
		"none where it is paused":               {hotAndCold("cold"), 3, "paused: true", "", nil},
		"none to nodes that it does not choose": {hotAndCold("cold"), 1, "nodeSelector: {matchLabels: {pool: gpu}}", "", nil},
		"none where load is even":               {(&forecasting{}).node("a", 30).node("b", 30), 2, "", "", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, movesOf(tc.cluster.forecast(t, tc.rounds, profile(planner, tc.args), tc.more))); diff != "" {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPlanIsToldInOneSentence(t *testing.T) {
	tests := map[string]struct {
		cluster *forecasting
		args    string
		more    string
		want    string
	}{
		"pods move":            {hotAndCold("cold"), "", "", "1 pod would move in 1 round, the first in round 1"},
		"in dry run":           {hotAndCold("cold"), "dryRun: true", "", "1 pod would move without dryRun in 1 round, the first in round 1"},
		"the plugin is paused": {hotAndCold("cold"), "paused: true", "", "nothing moves in 1 round: the plugin is paused: its argument paused is true"},
		"nothing to do": {(&forecasting{}).node("a", 30).node("b", 30), "", "",
			"nothing moves in 1 round: no node is overutilized and the load is spread: nothing to do; highest cpu usage 30.0% on a, threshold 75%; highest memory usage 1.0% on a, threshold 80%"},
		"no pod may leave": {hotAndCold("cold").bare(), "", "",
			"nothing moves in 1 round: 0 pods are moved; not moved: 3 NotEvictable; highest cpu usage 90.0% on hot, threshold 75%; highest memory usage 3.0% on hot, threshold 80%"},
		"a limit is reached": {hotAndCold("cold"), "", "maxNoOfPodsToEvictPerNamespace: 0",
			"nothing moves in 1 round: 1 move planned and not made, because maxNoOfPodsToEvictPerNamespace 0 of a round is reached; " +
				"highest cpu usage 90.0% on hot, threshold 75%; highest memory usage 3.0% on hot, threshold 80%"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			answer := tc.cluster.forecast(t, 1, profile("LoadAwareRebalancing", tc.args), tc.more)
			if answer.Message != tc.want {
				t.Errorf("message %q, want %q", answer.Message, tc.want)
			}
			if wantHot := strings.Contains(tc.want, "cpu usage 90.0%"); len(answer.Pools) != 1 || (answer.Pools[0].Overutilized == 1) != wantHot {
				t.Errorf("pools %+v, overutilized %t", answer.Pools, wantHot)
			}
		})
	}
}

func TestAPlannedMoveIsDescribed(t *testing.T) {
	cluster := hotAndCold("tainted", "a", "b", "c", "d", "e")
	cluster.Nodes[1].Name, cluster.Metrics[1].Name = "0-tainted", "0-tainted" // the first that is tried
	cluster.Nodes[1].Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	answer := cluster.forecast(t, 1, profile("LoadAwareRebalancing", ""))
	if len(answer.Moves) != 1 {
		t.Fatalf("moves %q", movesOf(answer))
	}
	got := answer.Moves[0]
	if !strings.HasPrefix(got.Reason, "the potential falls by ") || len(got.Keys) != 2 || got.Keys[0].Name != "gain" || got.Keys[1].Name != "cost" {
		t.Errorf("reason %q, keys %v", got.Reason, got.Keys)
	}
	got.Reason, got.Keys = "", nil
	want := diagnosticsv1alpha1.ForecastMove{
		Round: 1, Namespace: "shop", Name: "hot-0", From: "hot", To: "a", Alternatives: []string{"b", "c", "d"}, Profile: "koord-descheduler", Plugin: "LoadAwareRebalancing",
		Usage: []diagnosticsv1alpha1.ForecastAmount{{Resource: "cpu", Amount: 3000, Unit: diagnosticsv1alpha1.MilliCPU}, {Resource: "memory", Amount: 1 << 30, Unit: diagnosticsv1alpha1.Bytes}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("move (-want +got):\n%s", diff)
	}
}

// job is a pod of a job that has run for a time and likely takes so long.
func job(ran time.Duration, likely int64) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.StartTime = &metav1.Time{Time: now.Add(-ran)}
		_ = extension.SetJobPrediction(pod, &extension.JobPrediction{Duration: &extension.JobDuration{
			LikelySeconds: likely, LeastSeconds: likely, MostSeconds: likely, Runs: 9,
		}})
	}
}

func TestAPlanSaysWhatJobsWouldLose(t *testing.T) {
	cluster := (&forecasting{}).node("hot", 30, 30, 30).node("cold").spread()
	cluster.pod("hot-0", job(55*time.Minute, 3600))
	cluster.pod("hot-1", job(40*time.Minute, 7200))
	cluster.pod("hot-2", job(40*time.Minute, 36000))
	answer := cluster.forecast(t, 1, profile("LoadAwareRebalancing", "maxMovesPerNode: 1, costWeight: 0.003"))
	if diff := cmp.Diff([]string{"1 hot-2 hot->cold"}, movesOf(answer)); diff != "" {
		t.Fatalf("moves (-want +got):\n%s", diff)
	}
	move := answer.Moves[0]
	if want := "; the pod would lose 40m of work"; !strings.HasSuffix(move.Reason, want) || move.Keys[len(move.Keys)-1] != (diagnosticsv1alpha1.ForecastKey{Name: "done", Value: "0"}) {
		t.Errorf("reason %q, want that it ends with %q; keys %v, want done", move.Reason, want, move.Keys)
	}
	reasons := map[string]string{}
	for _, stay := range answer.Stays {
		reasons[stay.Name] = stay.Reason
	}
	if want := "EndsSoon: its job is likely to end in 5m; the pod would lose 55m of work"; reasons["hot-0"] != want {
		t.Errorf("hot-0 stays because of %q, want %q", reasons["hot-0"], want)
	}
}

func TestNodesOfAPlanAreShownBeforeAndAfter(t *testing.T) {
	cluster := hotAndCold("cold", "stale", "amplified")
	cluster.Metrics[2].Status.UpdateTime = &metav1.Time{Time: now.Add(-time.Hour)}
	cluster.Nodes[3].Status.Allocatable["cpu"] = resource.MustParse("20")
	cluster.Nodes[3].Annotations = map[string]string{extension.AnnotationNodeRawAllocatable: `{"cpu":"10"}`}
	cluster.Nodes[3].Spec.Unschedulable = true
	var got []string
	for _, n := range cluster.forecast(t, 1, profile("LoadAwareRebalancing", "highThresholds: {cpu: 70}")).Nodes {
		line := fmt.Sprintf("%s %s->%s", n.Name, n.Class, n.ClassAfter)
		for _, r := range n.Resources {
			line += fmt.Sprintf(" %s %d->%d of %d, %d->%d below %d", r.Resource, r.Before, r.After, r.Capacity, r.BeforeBasisPoints, r.AfterBasisPoints, *r.HighBasisPoints)
		}
		got = append(got, strings.TrimSpace(line+" "+n.Problem))
	}
	want := []string{
		"amplified normal->normal cpu 0->0 of 10000, 0->0 below 7000", "cold normal->normal cpu 0->3000 of 10000, 0->3000 below 7000",
		"hot high->normal cpu 9000->6000 of 10000, 9000->6000 below 7000", "stale unknown->unknown its NodeMetric is missing or expired",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestPodsThatAPlanKeepsSayWhy(t *testing.T) {
	moving := schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Name: "move-it"}}
	moving.Spec.PodRef = &corev1.ObjectReference{Namespace: "shop", Name: "hot-0"}
	tests := map[string]struct {
		edit func(*forecasting)
		of   string
		want string
	}{
		"a gate refuses it":         {func(f *forecasting) { f.pod("hot-0", withEmptyDir) }, "hot-0", "NotEvictable: it has local storage: emptyDir cache, and evictLocalStoragePods is false"},
		"a job moves it already":    {func(f *forecasting) { f.Jobs = append(f.Jobs, moving) }, "hot-0", "NotEvictable: PodMigrationJob move-it moves it already"},
		"its usage is not reported": {func(f *forecasting) { f.Metrics[0].Status.PodsMetric = f.Metrics[0].Status.PodsMetric[1:] }, "hot-0", "UsageUnknown"},
		"no other node takes it": {func(f *forecasting) {
			f.Nodes[1].Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
		}, "hot-0", "NoTarget: 1 node(s) had untolerated taint(s)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := (&forecasting{}).node("hot", 30, 30, 30).node("cold").spread()
			tc.edit(cluster)
			reasons := map[string]string{}
			for _, stay := range cluster.forecast(t, 1, profile("LoadAwareRebalancing", "")).Stays {
				reasons[stay.Name] = stay.Reason
			}
			if got := reasons[tc.of]; got != tc.want {
				t.Errorf("%s stays because of %q, want %q", tc.of, got, tc.want)
			}
		})
	}
}

func TestAPlanSaysWhatItDoesNotKnow(t *testing.T) {
	const past, review = "LoadAwareRebalancing also knows the load of the past", "koord-scheduler, which confirms each move"
	for args, want := range map[string][]string{"": {past, review}, "schedulerReview: Preferred": {past, review}, "schedulerReview: Never": {past}} {
		got := hotAndCold("cold").forecast(t, 1, profile("LoadAwareRebalancing", args)).Incomplete
		if len(got) != len(want) {
			t.Fatalf("%q: incomplete %q", args, got)
		}
		for i := range got {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%q: %q, want %q", args, got[i], want[i])
			}
		}
	}
}

// TestAPlanRemembersItsMoves: what moved in one round stays where it is in the next, while another pod of that node moves on.
func TestAPlanRemembersItsMoves(t *testing.T) {
	cluster := (&forecasting{}).node("hot", 30, 30, 30).node("cold", 28).node("tainted").spread().pod("cold-0", toleratesAll)
	cluster.Nodes[2].Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	answer := cluster.forecast(t, 2, profile("LoadAwareRebalancing", "maxMovesPerPass: 1"))
	if diff := cmp.Diff([]string{"1 hot-0 hot->cold", "2 cold-0 cold->tainted"}, movesOf(answer)); diff != "" {
		t.Errorf("moves (-want +got):\n%s", diff)
	}
	want := diagnosticsv1alpha1.ForecastStay{Namespace: "shop", Name: "hot-0", Node: "cold", Reason: "CoolingDown"}
	if !slices.Contains(answer.Stays, want) {
		t.Errorf("stays %v, want %v", answer.Stays, want)
	}
}

// TestEarlierMovesOfADeploymentCount: jobs name the Deployment, of which the ReplicaSet of the pods may be another one by now.
func TestEarlierMovesOfADeploymentCount(t *testing.T) {
	const looping, returning = "Looping", "ReturnsToNode"
	job := func(from, to string, ago time.Duration) schedulingv1alpha1.PodMigrationJob {
		out := schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{
			Name: from + "-" + to, CreationTimestamp: metav1.NewTime(now.Add(-ago)),
			Annotations: map[string]string{extension.AnnotationSourceNode: from, extension.AnnotationSourceWorkload: "Deployment/web/uid-web"},
		}}
		out.Spec.PodRef = &corev1.ObjectReference{Namespace: "shop", Name: "before"}
		out.Status.Phase, out.Status.NodeName = schedulingv1alpha1.PodMigrationJobSucceeded, to
		return out
	}
	deployment := &metav1.OwnerReference{Kind: "Deployment", Name: "web", UID: "uid-web", Controller: new(true)}
	away, back := job("hot", "cold", 5*time.Hour), job("cold", "hot", 3*time.Hour)
	tests := map[string]struct {
		plugin string
		jobs   []schedulingv1alpha1.PodMigrationJob
		above  map[types.UID]*metav1.OwnerReference
		want   []string
		// wantStay begins why hot-0 stays.
		wantStay string
	}{
		"the planner does not move it in circles": {"LoadAwareRebalancing", []schedulingv1alpha1.PodMigrationJob{away, back}, map[types.UID]*metav1.OwnerReference{"rs": deployment}, nil, looping},
		"the planner does not move it back":       {"LoadAwareRebalancing", []schedulingv1alpha1.PodMigrationJob{job("cold", "hot", 5*time.Hour)}, map[types.UID]*metav1.OwnerReference{"rs": deployment}, nil, returning},
		"LowNodeLoad does not move it in circles": {"LowNodeLoad", []schedulingv1alpha1.PodMigrationJob{away, back}, map[types.UID]*metav1.OwnerReference{"rs": deployment}, nil, "KOORD1501: Deployment/web/uid-web left node hot "},
		"LowNodeLoad moves it back once":          {"LowNodeLoad", []schedulingv1alpha1.PodMigrationJob{job("cold", "hot", 5*time.Hour)}, map[types.UID]*metav1.OwnerReference{"rs": deployment}, []string{"1 hot-0 hot->cold"}, ""},
		"the Deployment of the pods is not known": {"LoadAwareRebalancing", []schedulingv1alpha1.PodMigrationJob{away, back}, nil, []string{"1 hot-0 hot->cold"}, ""},
		"the jobs are of another one":             {"LoadAwareRebalancing", []schedulingv1alpha1.PodMigrationJob{away, back}, map[types.UID]*metav1.OwnerReference{"rs": {Kind: "Deployment", Name: "web", UID: "uid-new"}}, []string{"1 hot-0 hot->cold"}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := hotAndCold("cold")
			for i := range cluster.Pods {
				cluster.Pods[i].OwnerReferences[0].UID = "rs"
			}
			cluster.Jobs, cluster.Above = tc.jobs, tc.above
			args := ""
			if tc.plugin == "LowNodeLoad" {
				args = "lowThresholds: {cpu: 45}, highThresholds: {cpu: 75}, anomalyCondition: {consecutiveAbnormalities: 1}"
			}
			answer := cluster.forecast(t, 1, profile(tc.plugin, args))
			if diff := cmp.Diff(tc.want, movesOf(answer)); diff != "" {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
			for _, stay := range answer.Stays {
				if stay.Name == "hot-0" && (tc.wantStay == "" || !strings.HasPrefix(stay.Reason, tc.wantStay)) {
					t.Errorf("hot-0 stays because of %q, want %q", stay.Reason, tc.wantStay)
				}
			}
			if tc.wantStay != "" && len(answer.Stays) == 0 {
				t.Errorf("no pod stays, want %q", tc.wantStay)
			}
		})
	}
}

func TestPodsThatNothingCreatesAgainAreNotPlanned(t *testing.T) {
	answer := hotAndCold("cold").bare().forecast(t, 1, "- plugins: {balance: {enabled: [{name: LoadAwareRebalancing}]}}\n  pluginConfig: [{name: MigrationController, args: {evictAllBarePods: true}}]\n")
	if len(answer.Moves) > 0 || len(answer.Stays) != 3 || answer.Stays[0].Reason != "NoWorkload" {
		t.Errorf("moves %q, stays %v", movesOf(answer), answer.Stays)
	}
}

// TestCheaperRemediesComeBeforeMoves: koordlet holds best-effort pods back by itself above its threshold.
func TestCheaperRemediesComeBeforeMoves(t *testing.T) {
	cluster := hotAndCold("cold")
	for i := range cluster.Pods {
		labelled(extension.LabelPodQoS, string(extension.QoSBE))(&cluster.Pods[i])
	}
	cluster.SLOs = []slov1alpha1.NodeSLO{{ObjectMeta: metav1.ObjectMeta{Name: "hot"}, Spec: slov1alpha1.NodeSLOSpec{ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{
		Enable: new(true), CPUSuppressThresholdPercent: new(int64(40)),
	}}}}
	answer := cluster.forecast(t, 1, profile("LoadAwareRebalancing", ""))
	want := []diagnosticsv1alpha1.ForecastRemedy{{
		Round: 1, Profile: "koord-descheduler", Remedy: "HoldBack", Node: "hot", Reason: "koordlet holds best-effort pods back",
	}}
	if diff := cmp.Diff(want, answer.Remedies); diff != "" {
		t.Errorf("remedies (-want +got):\n%s", diff)
	}
}

// TestJobsAreResizedBeforePodsMove: what a limit took from a node is not moved in the rounds that follow, and comes back when there is room.
func TestJobsAreResizedBeforePodsMove(t *testing.T) {
	cluster := hotAndCold("cold")
	limited := func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodRunning
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: pod.Name, UID: types.UID(pod.Name), Controller: new(true)}}
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64")},
		}
	}
	for i := range cluster.Pods {
		limited(&cluster.Pods[i])
	}
	answer := cluster.forecast(t, 3, profile("LoadAwareRebalancing", "varianceWeight: 0"))
	if len(answer.Remedies) == 0 || len(answer.Moves) > 0 {
		t.Fatalf("remedies %+v, moves %q, want remedies alone", answer.Remedies, movesOf(answer))
	}
	first := answer.Remedies[0]
	if first.Remedy != "LowerCPULimit" || first.Node != "hot" || first.BeforeMilliCPU != 64000 || first.AfterMilliCPU >= 64000 || first.Round != 1 {
		t.Errorf("remedy %+v, want a limit below 64 cores in the first round", first)
	}
	for _, remedy := range answer.Remedies {
		if remedy.Round > 1 {
			t.Errorf("remedy %+v, want none after the first round", remedy)
		}
	}
	for _, node := range answer.Nodes {
		if node.Name == "hot" && node.ClassAfter == "high" {
			t.Errorf("node %+v is overutilized in the end", node)
		}
	}
}
