package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

const afterTwoRounds = "- plugins: {balance: {enabled: [{name: LowNodeLoad}]}}\n" +
	"  pluginConfig: [{name: LowNodeLoad, args: {lowThresholds: {cpu: 45}, highThresholds: {cpu: 75}, anomalyCondition: {consecutiveAbnormalities: 2}}}]\n"

// overutilized has a node whose pods use 28 of 31 cpu, another one without pods, and LowNodeLoad. The node was overutilized twice in a row.
func overutilized() *clusterBuilder {
	room := func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("110") }
	b := makeCluster().node("hot", room).node("cold", room).usage("hot", "28", 0).usage("cold", "0", 0).
		descheduler(afterTwoRounds).configMap("koord-descheduler-history", "0-LowNodeLoad-abc", fmt.Sprintf(
		`{"savedAt":%[1]q,"history":{"nodes":{"hot":{"pool":"__default_node_pool__","node":{"abnormalities":2},"observedAt":%[1]q}}}}`, builtAt.Format("2006-01-02T15:04:05Z")))
	for i := range 4 {
		name := fmt.Sprintf("web-%d", i)
		b.pod("shop", name, "hot", "100m", owned("web"))
		metric := &b.server.Metrics[0].Status
		metric.PodsMetric = append(metric.PodsMetric, &slov1alpha1.PodMetricInfo{Namespace: "shop", Name: name, PodUsage: slov1alpha1.ResourceMap{ResourceList: resources("7", "1Gi")}})
	}
	return b.list("podmigrationjobs", &schedulingv1alpha1.PodMigrationJobList{})
}

func TestMigrationsAreForecastFromWhatMayBeRead(t *testing.T) {
	const (
		// byChart is by LoadAwareRebalancing.
		byChart = "2 pods would move in 3 rounds (4m0s), the first in round 1"

		first = "1 pod would move in 3 rounds (4m0s), the first in round 1"
		third = "1 pod would move in 3 rounds (4m0s), the first in round 3"
		none  = "nothing moves in 3 rounds (4m0s): node pool __default_node_pool__: no node is underutilized: of 2 nodes, 0 underutilized, 0 overutilized, 2 of unknown load"
	)
	unknownToChart := []string{"LoadAwareRebalancing also knows*", "this cluster has no diagnostics API; koord-scheduler, which confirms each move*was not asked: it may refuse some (KOORD0004)"}
	tests := map[string]struct {
		edit           func(*clusterBuilder)
		want           string
		wantIncomplete []string
	}{
		"everything":    {func(*clusterBuilder) {}, first, nil},
		"not the usage": {func(b *clusterBuilder) { b.denied("list nodemetrics") }, none, []string{"list nodemetrics*what is used is unknown, and no node counts as overutilized (KOORD0002)"}},
		"not the jobs":  {func(b *clusterBuilder) { b.denied("list podmigrationjobs") }, first, []string{"list podmigrationjobs*which pods are leaving already is unknown (KOORD0002)"}},
		"not the NodeSLOs": {
			func(b *clusterBuilder) { b.denied("list nodeslos") }, first,
			[]string{"list nodeslos*from which load on agents hold best-effort pods back and evict is unknown (KOORD0002)"},
		},
		"no history was kept":    {func(b *clusterBuilder) { b.server.ConfigMaps = b.server.ConfigMaps[:1] }, third, nil},
		"a history that is none": {func(b *clusterBuilder) { b.server.ConfigMaps[1].Data["0-LowNodeLoad-abc"] = "[" }, third, nil},
		"not the configurations": {
			func(b *clusterBuilder) { b.denied("get configmaps") }, byChart,
			append([]string{"get configmaps*the defaults of the chart are used instead (KOORD0002)", "get configmaps*koord-scheduler is taken to have its default thresholds (KOORD0002)"}, unknownToChart...),
		},
		"no configuration of the descheduler": {
			func(b *clusterBuilder) { b.server.ConfigMaps = nil }, byChart,
			append([]string{"there is no configmap koordinator-system/koord-descheduler-config*; the defaults of the chart are used instead"}, unknownToChart...),
		},
		"one that is none": {
			func(b *clusterBuilder) { b.server.ConfigMaps[0].Data["koord-descheduler-config"] = "profiles: [" }, byChart,
			append([]string{"read configmap koordinator-system/koord-descheduler-config: *; the defaults of the chart are used instead"}, unknownToChart...),
		},
		"a scheduler's configuration that is none": {
			func(b *clusterBuilder) { b.configMap(schedulerConfig, "config.yaml", "kind: [") }, first,
			[]string{"read configmap koordinator-system/koord-scheduler-config: *; koord-scheduler is taken to have its default thresholds"},
		},
		"jobs that the server does not manage to list": {
			func(b *clusterBuilder) { b.failing("list podmigrationjobs") }, first, []string{"list podmigrationjobs.scheduling.koordinator.sh: *; which pods are leaving already is unknown"},
		},
		"a cluster without koordinator": {
			func(b *clusterBuilder) { b.server.NoCRDs = true }, none, []string{"list nodemetrics*"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := overutilized()
			tc.edit(cluster)
			answer, err := cluster.source(t).ForecastMigrations(t.Context(), 3)
			if err != nil {
				t.Fatal(err)
			}
			if answer.Message != tc.want {
				t.Errorf("message %q, want %q", answer.Message, tc.want)
			}
			checkIncomplete(t, answer.Incomplete, tc.wantIncomplete)
		})
	}
}

// TestMovesAreForecastThatTheSchedulerConfirms: the planner has koord-scheduler confirm its moves, and so has the forecast where it may ask.
func TestMovesAreForecastThatTheSchedulerConfirms(t *testing.T) {
	const (
		planned = "1 pod would move in 1 round, the first in round 1"
		none    = "nothing moves in 1 round: 0 pods are moved; not moved: "
	)
	tests := map[string]struct {
		edit           func(*clusterBuilder, *placing)
		want           string
		wantStay       string
		wantIncomplete string
	}{
		"it takes the target":   {func(*clusterBuilder, *placing) {}, planned, "", ""},
		"it refuses the target": {func(_ *clusterBuilder, s *placing) { s.refuses = "Insufficient gpu" }, none, "NoTarget: 1 Insufficient gpu", ""},
		"a standby answers": {
			func(_ *clusterBuilder, s *placing) { s.standby = true }, planned, "", "no leading koord-scheduler answered; *was not asked: it may refuse some",
		},
		"no permission to ask it": {
			func(b *clusterBuilder, _ *placing) { b.denied("create placementreviews") }, planned, "",
			"you do not have permission to create placementreviews.diagnostics.koordinator.sh; *was not asked: it may refuse some (KOORD0002)",
		},
		"no diagnostics API": {
			func(b *clusterBuilder, _ *placing) { b.server.Diagnostics = nil }, planned, "", "this cluster has no diagnostics API; *was not asked: it may refuse some (KOORD0004)",
		},
		"no scheduler": {
			func(b *clusterBuilder, _ *placing) {
				b.server.Diagnostics = status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, string(finding.SchedulerUnavailable))
			}, planned, "", "koord-scheduler did not respond: broken*was not asked: it may refuse some (" + string(finding.SchedulerUnavailable) + ")",
		},
		"it need not confirm": {
			func(b *clusterBuilder, s *placing) {
				s.refuses = "Insufficient gpu"
				b.server.ConfigMaps[0] = deschedulerConfig(planner("schedulerReview: Never"))
			}, planned, "", "",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster, scheduler := overutilized(), &placing{to: "cold"}
			cluster.server.ConfigMaps[0], cluster.server.Diagnostics = deschedulerConfig(planner("")), scheduler
			tc.edit(cluster, scheduler)
			answer, err := cluster.source(t).ForecastMigrations(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(answer.Message, tc.want) {
				t.Errorf("message %q, want %q", answer.Message, tc.want)
			}
			if tc.wantStay != "" && (len(answer.Stays) == 0 || answer.Stays[0].Reason != tc.wantStay) {
				t.Errorf("stays %+v, want them because of %q", answer.Stays, tc.wantStay)
			}
			want := []string{"LoadAwareRebalancing also knows*"}
			if tc.wantIncomplete != "" {
				want = append(want, tc.wantIncomplete)
			}
			checkIncomplete(t, answer.Incomplete, want)
		})
	}
}

// TestAWorkloadThatGoesInCirclesIsNotForecast: jobs name the Deployment of a pod, which is looked up in the namespaces of jobs.
func TestAWorkloadThatGoesInCirclesIsNotForecast(t *testing.T) {
	const moves = "1 pod would move in 1 round, the first in round 1"
	stays := "KOORD1501: Deployment/web/uid-web left node hot and was moved back to it from cold 10m0s later; plugins do not move its pods until "
	set := appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web-5f", UID: "uid-web-5f",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "uid-web", Controller: new(true)}},
	}}
	tests := map[string]struct {
		edit           func(*clusterBuilder)
		want           string
		wantIncomplete []string
	}{
		"the Deployment came back": {edit: func(*clusterBuilder) {}, want: "nothing moves in 1 round: "},
		"it moved on": {edit: func(b *clusterBuilder) {
			b.list("podmigrationjobs", &schedulingv1alpha1.PodMigrationJobList{Items: []schedulingv1alpha1.PodMigrationJob{moved("cold", "hot", time.Hour)}})
		}, want: moves},
		"another Deployment": {edit: func(b *clusterBuilder) { b.list("replicasets", &appsv1.ReplicaSetList{}) }, want: moves},
		"ReplicaSets may not be read": {
			edit: func(b *clusterBuilder) { b.denied("list replicasets") }, want: moves,
			wantIncomplete: []string{"list replicasets.apps*to which Deployments pods belong is unknown (KOORD0002)"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := overutilized()
			for i := range cluster.server.Pods {
				cluster.server.Pods[i].OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5f", UID: "uid-web-5f", Controller: new(true)}}
			}
			cluster.list("replicasets", &appsv1.ReplicaSetList{Items: []appsv1.ReplicaSet{set}})
			cluster.list("podmigrationjobs", &schedulingv1alpha1.PodMigrationJobList{Items: []schedulingv1alpha1.PodMigrationJob{
				moved("hot", "cold", 20*time.Minute), moved("cold", "hot", 10*time.Minute),
			}})
			tc.edit(cluster)
			answer, err := cluster.source(t).ForecastMigrations(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(answer.Message, tc.want) {
				t.Errorf("message %q, want %q", answer.Message, tc.want)
			}
			if tc.want != moves && (len(answer.Stays) == 0 || !strings.HasPrefix(answer.Stays[0].Reason, stays)) {
				t.Errorf("stays %+v, want %q", answer.Stays, stays)
			}
			checkIncomplete(t, answer.Incomplete, tc.wantIncomplete)
		})
	}
}

// planner is a profile with LoadAwareRebalancing.
func planner(args string) string {
	return "- plugins: {balance: {enabled: [{name: LoadAwareRebalancing}]}}\n  pluginConfig: [{name: LoadAwareRebalancing, args: {" + args + "}}]\n"
}

// TestAnInterruptedQuestionFailsAForecast instead of an answer without the scheduler.
func TestAnInterruptedQuestionFailsAForecast(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cluster := overutilized()
	cluster.server.ConfigMaps[0] = deschedulerConfig(planner(""))
	cluster.server.Diagnostics = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel() })
	if answer, err := cluster.source(t).ForecastMigrations(ctx, 1); !errors.Is(err, context.Canceled) || answer != nil {
		t.Errorf("answer %v, error %v, want that it was interrupted", answer, err)
	}
}

func TestAForecastNeedsNodesAndPods(t *testing.T) {
	for _, what := range []string{"list nodes", "list pods"} {
		if answer, err := overutilized().denied(what).source(t).ForecastMigrations(t.Context(), 1); !hasCode(err, finding.Forbidden) || answer != nil {
			t.Errorf("%s is refused: answer %v, error %v", what, answer, err)
		}
	}
}

func TestArgumentsThatAreNoneFailAForecast(t *testing.T) {
	cluster := overutilized()
	cluster.server.ConfigMaps[0] = deschedulerConfig(strings.Replace(afterTwoRounds, "pluginConfig: [", "pluginConfig: [{name: MigrationController, args: {nodeSelector: 'a in ('}}, ", 1))
	_, err := cluster.source(t).ForecastMigrations(t.Context(), 1)
	if want := "forecast migrations: profile koord-descheduler: arguments of MigrationController: nodeSelector: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestTheHistoryIsReadWhereItIsUsed: koord-descheduler keeps one for LowNodeLoad alone.
func TestTheHistoryIsReadWhereItIsUsed(t *testing.T) {
	for plugin, want := range map[string]bool{"LowNodeLoad": true, "LoadAwareRebalancing": false} {
		cluster := overutilized()
		cluster.server.ConfigMaps[0] = deschedulerConfig("- plugins: {balance: {enabled: [{name: " + plugin + "}]}}\n")
		if _, err := cluster.source(t).ForecastMigrations(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if read := strings.Contains(strings.Join(cluster.server.Requests(), "\n"), "koord-descheduler-history"); read != want {
			t.Errorf("%s: the history is read: %t, want %t", plugin, read, want)
		}
	}
}
