package live

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// evicting is a cluster in which all that evicts is installed, with a best-effort pod of a StatefulSet on a node whose koordlet evicts for
// memory. A job moves the pod, a pod of a higher priority waits, and the quota of the pod uses too much.
func evicting() *clusterBuilder {
	bestEffort := func(p *corev1.Pod) {
		p.Labels = map[string]string{extension.LabelPodQoS: string(extension.QoSBE)}
		p.Spec.Priority = new(int32(5500))
	}
	waiting := func(p *corev1.Pod) { p.Spec.Priority = new(int32(9500)) }
	used := slov1alpha1.ResourceMap{ResourceList: resources("1", "8Gi")}
	b := makeCluster().node("worker-1").pod("shop", "web-0", "worker-1", "1", owned("web"), readyPod, bestEffort).pod("shop", "urgent", "", "1", waiting).
		usage("worker-1", "2", 0).budget("shop", "web", 1).deployment("koord-descheduler").
		descheduler("- plugins: {balance: {enabled: [{name: LowNodeLoad}]}}\n").
		configMap(schedulerConfig, "config.yaml", "kind: KubeSchedulerConfiguration\nprofiles:\n- pluginConfig:\n  - {name: ElasticQuota, args: {monitorAllQuotas: true}}\n")
	b.server.Metrics[0].Status.PodsMetric = []*slov1alpha1.PodMetricInfo{{Namespace: "shop", Name: "web-0", PodUsage: used}}
	b.server.NodeSLOs = []slov1alpha1.NodeSLO{{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}, Spec: slov1alpha1.NodeSLOSpec{
		ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{Enable: new(true), MemoryEvictThresholdPercent: new(int64(70))},
	}}}
	job := schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Name: "move-web"}}
	job.Spec.PodRef, job.Status.Phase = &corev1.ObjectReference{Namespace: "shop", Name: "web-0"}, schedulingv1alpha1.PodMigrationJobRunning
	quota := schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop", Annotations: map[string]string{extension.AnnotationQuotaRuntime: `{"cpu":"1"}`}}}
	quota.Status.Used = resources("2", "1Gi")
	return b.list("podmigrationjobs", &schedulingv1alpha1.PodMigrationJobList{Items: []schedulingv1alpha1.PodMigrationJob{job}}).
		list("elasticquotas", &schedulingsigsv1alpha1.ElasticQuotaList{Items: []schedulingsigsv1alpha1.ElasticQuota{quota}})
}

func TestAnEvictionIsExplainedFromWhatMayBeRead(t *testing.T) {
	const all = "descheduler now, preemption now, quota now, agent possible, drain possible, kubelet possible"
	without := func(changed string) string {
		name, _, _ := strings.Cut(changed, " ")
		states := slices.DeleteFunc(strings.Split(all, ", "), func(state string) bool { return strings.HasPrefix(state, name+" ") })
		return strings.Join(slices.Sorted(slices.Values(append(states, changed))), ", ")
	}
	tests := map[string]struct {
		edit func(*clusterBuilder)
		want string
		// wantIncomplete has a star between the beginning of a line and its end.
		wantIncomplete []string
	}{
		"everything": {func(*clusterBuilder) {}, without("kubelet possible"), nil},
		"not the node": {
			func(b *clusterBuilder) { b.denied("get nodes") }, "agent unknown, descheduler now, drain possible, kubelet unknown, preemption unknown, quota now",
			[]string{`get nodes "worker-1": not permitted*the node could not be read (KOORD0002)`},
		},
		"the node does not exist": {func(b *clusterBuilder) { b.server.Nodes = nil }, "agent protected, descheduler now, drain possible, kubelet possible, preemption possible, quota now", nil},
		"not what is used": {
			func(b *clusterBuilder) { b.denied("list nodemetrics") }, without("agent unknown"),
			[]string{"list nodemetrics.slo.koordinator.sh*what is used on the node, and whether koordlet runs there, is unknown (KOORD0002)"},
		},
		"not what is configured": {
			func(b *clusterBuilder) { b.denied("get nodeslos") }, without("agent unknown"),
			[]string{"get nodeslos.slo.koordinator.sh*which evictions are configured for the node is unknown (KOORD0002)"},
		},
		"not the gates of koordlet": {
			func(b *clusterBuilder) { b.denied("get daemonsets") }, without("agent possible"),
			[]string{"get daemonsets.apps*the feature gates of koordlet are unknown and taken to be the defaults (KOORD0002)"},
		},
		"not the budgets": {
			func(b *clusterBuilder) { b.denied("list poddisruptionbudgets") }, without("drain possible"),
			[]string{"list poddisruptionbudgets.policy*whether PodDisruptionBudgets protect the pod is unknown (KOORD0002)"},
		},
		"not the quotas": {
			func(b *clusterBuilder) { b.denied("list elasticquotas") }, without("quota unknown"),
			[]string{"list elasticquotas.scheduling.sigs.k8s.io*the quota of the pod is unknown (KOORD0002)"},
		},
		"not the jobs": {
			func(b *clusterBuilder) { b.denied("list podmigrationjobs") }, without("descheduler possible"),
			[]string{"list podmigrationjobs.scheduling.koordinator.sh*whether the pod has a PodMigrationJob is unknown (KOORD0002)"},
		},
		"not whether the descheduler runs": {
			func(b *clusterBuilder) { b.denied("get deployments") }, without("descheduler unknown"), []string{"get deployments.apps*whether koord-descheduler runs is unknown (KOORD0002)"},
		},
		"not the configurations": {
			func(b *clusterBuilder) { b.denied("get configmaps") }, without("quota unknown"),
			[]string{"get configmaps*whether the scheduler evicts pods of quotas is unknown (KOORD0002)", "get configmaps*the defaults of the chart are used instead (KOORD0002)"},
		},
		"not the pods": {func(b *clusterBuilder) { b.denied("list pods") }, "agent unknown, descheduler now, drain possible, kubelet possible, preemption unknown, quota now", []string{
			"list pods*the node's pods are unknown (KOORD0002)", "list pods*which pods wait for a node is unknown (KOORD0002)",
		}},
		"a scheduler's configuration that is none": {
			func(b *clusterBuilder) { b.server.ConfigMaps[1].Data["config.yaml"] = "kind: [" }, without("quota unknown"),
			[]string{"read configmap koordinator-system/koord-scheduler-config: *; whether the scheduler evicts pods of quotas is unknown"},
		},
		"a descheduler's configuration that is none": {
			func(b *clusterBuilder) { b.server.ConfigMaps[0].Data["koord-descheduler-config"] = "profiles: [" }, all,
			[]string{"read configmap koordinator-system/koord-descheduler-config: *; the defaults of the chart are used instead"},
		},
		"budgets that the server does not manage to list": {
			func(b *clusterBuilder) { b.failing("list poddisruptionbudgets") }, all,
			[]string{"list poddisruptionbudgets.policy in namespace \"shop\": *; whether PodDisruptionBudgets protect the pod is unknown"},
		},
		"a measurement that the server does not manage to give": {
			func(b *clusterBuilder) { b.failing("list nodemetrics") }, without("agent unknown"), []string{"list nodemetrics.slo.koordinator.sh: *; what is used on the node, and whether koordlet runs there, is unknown"},
		},
		"a cluster without koordinator": {
			func(b *clusterBuilder) { b.server.NoCRDs, b.server.ConfigMaps = true, nil }, "agent protected, descheduler protected, drain possible, kubelet possible, preemption now, quota protected", nil,
		},
		"a pod without a node": {func(b *clusterBuilder) {
			b.server.Pods[0].Spec.NodeName, b.server.Pods[0].Status.Phase = "", corev1.PodPending
			b.denied("get nodes", "list nodemetrics", "list pods", "get nodeslos")
		}, "agent protected, descheduler now, drain possible, kubelet possible, preemption possible, quota now", nil},
		"another node is asked for where nodeFit is true": {
			func(b *clusterBuilder) {
				b.server.ConfigMaps[0] = deschedulerConfig("- pluginConfig: [{name: MigrationController, args: {nodeFit: true}}]\n")
			}, without("descheduler protected"), nil,
		},
		"the other nodes may not be listed": {
			func(b *clusterBuilder) {
				b.server.ConfigMaps[0] = deschedulerConfig("- pluginConfig: [{name: MigrationController, args: {nodeFit: true}}]\n")
				b.denied("list nodes")
			}, without("descheduler unknown"), []string{"list nodes*whether another node takes the pod is unknown (KOORD0002)"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := evicting()
			tc.edit(cluster)
			answer, err := cluster.source(t).ExplainEviction(t.Context(), "shop", "web-0")
			if err != nil {
				t.Fatal(err)
			}
			var states []string
			for _, e := range answer.Evictors {
				states = append(states, e.Name+" "+e.State)
			}
			slices.Sort(states)
			want := slices.Sorted(slices.Values(strings.Split(tc.want, ", ")))
			if diff := cmp.Diff(want, states); diff != "" {
				t.Errorf("%s\nevictors (-want +got):\n%s", answer.Message, diff)
			}
			checkIncomplete(t, answer.Incomplete, tc.wantIncomplete)
		})
	}
}

// TestAWorkloadThatGoesInCirclesProtectsItsPods: jobs name the Deployment of a pod, which is looked up where one goes in circles.
func TestAWorkloadThatGoesInCirclesProtectsItsPods(t *testing.T) {
	const protected = "protected; gate MigrationLoop: KOORD1501: Deployment/web/uid-web left node worker-1 and was moved back to it from worker-2 10m0s later; plugins do not move its pods until *"
	tests := map[string]struct {
		edit func(*clusterBuilder)
		// want has a star for the rest.
		want           string
		wantIncomplete []string
	}{
		"its Deployment": {edit: func(*clusterBuilder) {}, want: protected},
		"a Deployment of another pod": {edit: func(b *clusterBuilder) {
			b.server.Lists["replicasets"].(*appsv1.ReplicaSetList).Items[0].OwnerReferences[0].UID = "uid-db"
		}, want: "possible; "},
		"the ReplicaSet has been deleted": {edit: func(b *clusterBuilder) { b.list("replicasets", &appsv1.ReplicaSetList{}) }, want: "possible; "},
		"the ReplicaSet may not be read": {
			edit: func(b *clusterBuilder) { b.denied("get replicasets") }, want: "possible; ",
			wantIncomplete: []string{"get replicasets.apps*whether the workload of the pod goes in circles is unknown (KOORD0002)"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := evicting()
			cluster.server.Pods[0].OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5f", UID: "uid-web-5f", Controller: new(true)}}
			set := appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: "web-5f", UID: "uid-web-5f",
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "uid-web", Controller: new(true)}},
			}}
			cluster.list("replicasets", &appsv1.ReplicaSetList{Items: []appsv1.ReplicaSet{set}})
			cluster.list("podmigrationjobs", &schedulingv1alpha1.PodMigrationJobList{Items: []schedulingv1alpha1.PodMigrationJob{
				moved("worker-1", "worker-2", 20*time.Minute), moved("worker-2", "worker-1", 10*time.Minute),
			}})
			tc.edit(cluster)
			answer, err := cluster.source(t).ExplainEviction(t.Context(), "shop", "web-0")
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, e := range answer.Evictors {
				if e.Name == "descheduler" {
					got = e.State + "; " + strings.Join(e.Protections, ", ")
				}
			}
			if want, _, open := strings.Cut(tc.want, "*"); got != want && !(open && strings.HasPrefix(got, want)) {
				t.Errorf("descheduler %q, want %q", got, tc.want)
			}
			checkIncomplete(t, answer.Incomplete, tc.wantIncomplete)
		})
	}
}

// moved is a job that moved a pod of Deployment web so long ago.
func moved(from, to string, ago time.Duration) schedulingv1alpha1.PodMigrationJob {
	job := schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{
		Name: "to-" + to, CreationTimestamp: metav1.NewTime(builtAt.Add(-ago)),
		Annotations: map[string]string{extension.AnnotationSourceNode: from, extension.AnnotationSourceWorkload: "Deployment/web/uid-web"},
	}}
	job.Spec.PodRef = &corev1.ObjectReference{Namespace: "shop", Name: "web-before"}
	job.Status.Phase, job.Status.NodeName = schedulingv1alpha1.PodMigrationJobSucceeded, to
	return job
}

func TestAPodThatCannotBeReadIsAnError(t *testing.T) {
	tests := map[string]struct {
		edit     func(*clusterBuilder)
		pod      string
		wantCode finding.Code
		want     string
	}{
		"a misspelt name":   {func(*clusterBuilder) {}, "web-1", finding.NotFound, `pod "web-1" not found in namespace "shop", did you mean "web-0"?`},
		"no permission":     {func(b *clusterBuilder) { b.denied("get pods") }, "web-0", finding.Forbidden, `get pods "web-0" in namespace "shop": not permitted for user "eve"`},
		"names are hidden":  {func(b *clusterBuilder) { b.denied("list pods") }, "web-1", finding.NotFound, `pod "web-1" not found in namespace "shop"`},
		"another namespace": {func(b *clusterBuilder) { b.server.Pods[0].Namespace = "bank" }, "web-0", finding.NotFound, `pod "web-0" not found in namespace "shop"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := evicting()
			tc.edit(cluster)
			answer, err := cluster.source(t).ExplainEviction(t.Context(), "shop", tc.pod)
			if !hasCode(err, tc.wantCode) || err.Error() != tc.want || answer != nil {
				t.Errorf("error %v, want %s %q", err, tc.wantCode, tc.want)
			}
		})
	}
}

// TestOnlyTheNamespaceOfThePodIsSearchedForBudgets: who may list them there alone gets the whole answer.
func TestOnlyTheNamespaceOfThePodIsSearchedForBudgets(t *testing.T) {
	cluster := evicting().budget("bank", "other", 0).denied("list poddisruptionbudgets -A")
	answer, err := cluster.source(t).ExplainEviction(t.Context(), "shop", "web-0")
	if err != nil || len(answer.Budgets) != 1 || answer.Budgets[0].Name != "web" || len(answer.Incomplete) > 0 {
		t.Errorf("budgets %+v, incomplete %q, error %v", answer.Budgets, answer.Incomplete, err)
	}
}
