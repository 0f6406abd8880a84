package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// shared is a cluster with a gang of which one of two members has a node, and a quota with that pod. Another namespace has both too.
func shared() *clusterBuilder {
	member := func(p *corev1.Pod) {
		p.Labels = map[string]string{extension.LabelPodGroup: "train", extension.LabelQuotaName: "team"}
		p.Spec.SchedulerName = "koord-scheduler"
	}
	group := func(namespace, name string) schedulingsigsv1alpha1.PodGroup {
		return schedulingsigsv1alpha1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: schedulingsigsv1alpha1.PodGroupSpec{MinMember: 2}}
	}
	quota := func(namespace, name string) schedulingsigsv1alpha1.ElasticQuota {
		q := schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		q.Spec.Max, q.Spec.Min = resources("8", "8Gi"), resources("4", "4Gi")
		return q
	}
	return makeCluster().node("worker-1").pod("ml", "train-0", "worker-1", "1", member).pod("ml", "train-1", "", "1", member).
		list("podgroups", &schedulingsigsv1alpha1.PodGroupList{Items: []schedulingsigsv1alpha1.PodGroup{group("ml", "train"), group("bank", "secret")}}).
		list("elasticquotas", &schedulingsigsv1alpha1.ElasticQuotaList{Items: []schedulingsigsv1alpha1.ElasticQuota{quota("ml", "team"), quota("bank", "vault")}})
}

func TestAGangIsExplainedFromWhatMayBeRead(t *testing.T) {
	tests := map[string]struct {
		edit           func(*clusterBuilder)
		gang           string
		wantIncomplete []string
		wantCode       finding.Code
		wantErr        string
	}{
		"everything": {edit: func(*clusterBuilder) {}, gang: "train"},
		"not the PodGroups": {
			edit: func(b *clusterBuilder) { b.denied("list podgroups") }, gang: "train",
			wantIncomplete: []string{"list podgroups*the rules of gangs with a PodGroup are unknown (KOORD0002)"},
		},
		"the server fails to list": {
			edit: func(b *clusterBuilder) { b.failing("list podgroups") }, gang: "train",
			wantIncomplete: []string{"list podgroups*; the rules of gangs with a PodGroup are unknown"},
		},
		"not installed": {edit: func(b *clusterBuilder) { b.server.NoCRDs = true }, gang: "train"},
		"not the pods": {
			edit: func(b *clusterBuilder) { b.denied("list pods") }, gang: "train", wantCode: finding.Forbidden,
			wantErr: `list pods in namespace "ml": not permitted for user "eve"`,
		},
		"a misspelt name":              {edit: func(*clusterBuilder) {}, gang: "trai", wantCode: finding.NotFound, wantErr: `podgroup "trai" not found in namespace "ml", did you mean "train"?`},
		"one of another namespace":     {edit: func(*clusterBuilder) {}, gang: "secret", wantCode: finding.NotFound, wantErr: `podgroup "secret" not found in namespace "ml"`},
		"a misspelt name among hidden": {edit: func(b *clusterBuilder) { b.denied("list podgroups") }, gang: "trai", wantCode: finding.NotFound, wantErr: `podgroup "trai" not found in namespace "ml"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := shared()
			tc.edit(cluster)
			answer, err := cluster.source(t).ExplainGang(t.Context(), "ml", tc.gang)
			if tc.wantErr != "" {
				if !hasCode(err, tc.wantCode) || err.Error() != tc.wantErr || answer != nil {
					t.Errorf("error %v, want %s %q", err, tc.wantCode, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if answer.Kind != "GangExplanation" || answer.Name != "train" || len(answer.Incomplete) != len(tc.wantIncomplete) {
				t.Errorf("unexpected answer %+v", answer)
			}
			// What comes next depends on rules that may exist and were not seen.
			if (answer.Next == "") != (len(tc.wantIncomplete) > 0) {
				t.Errorf("next %q, incomplete %q", answer.Next, answer.Incomplete)
			}
			checkIncomplete(t, answer.Incomplete, tc.wantIncomplete)
		})
	}
}

func TestAQuotaIsExplainedFromWhatMayBeRead(t *testing.T) {
	tests := map[string]struct {
		edit           func(*clusterBuilder)
		quota          string
		wantPods       int
		wantIncomplete []string
		wantCode       finding.Code
		wantErr        string
	}{
		"everything": {edit: func(*clusterBuilder) {}, quota: "team", wantPods: 1},
		"not the pods": {
			edit: func(b *clusterBuilder) { b.denied("list pods") }, quota: "team",
			wantIncomplete: []string{"list pods*how the runtime is computed is unknown, and so is who uses the quota (KOORD0002)"},
		},
		"not the nodes": {edit: func(b *clusterBuilder) { b.denied("list nodes") }, quota: "team", wantIncomplete: []string{"list nodes*how the runtime is computed is unknown (KOORD0002)"}},
		"not the configuration": {
			edit: func(b *clusterBuilder) { b.denied("get configmaps") }, quota: "team", wantPods: 1,
			wantIncomplete: []string{"get configmaps*the default arguments of plugin ElasticQuota are assumed (KOORD0002)"},
		},
		"a configuration that is none": {
			edit: func(b *clusterBuilder) { b.configMap(schedulerConfig, "config.yaml", "kind: [") }, quota: "team", wantPods: 1,
			wantIncomplete: []string{"read configmap koordinator-system/koord-scheduler-config: *; the default arguments of plugin ElasticQuota are assumed"},
		},
		"quotas of the namespace alone": {
			edit: func(b *clusterBuilder) { b.denied("list elasticquotas -A") }, quota: "team",
			wantIncomplete: []string{"list elasticquotas*how the runtime is computed is unknown (KOORD0002)"},
		},
		"no quotas at all": {
			edit: func(b *clusterBuilder) { b.denied("list elasticquotas") }, quota: "team", wantCode: finding.Forbidden,
			wantErr: `list elasticquotas.scheduling.sigs.k8s.io in namespace "ml": not permitted for user "eve"`,
		},
		"not installed": {
			edit: func(b *clusterBuilder) { b.server.NoCRDs = true }, quota: "team", wantCode: finding.NotInstalled,
			wantErr: "list elasticquotas.scheduling.sigs.k8s.io: the server doesn't have this resource type",
		},
		"a misspelt name":          {edit: func(*clusterBuilder) {}, quota: "tem", wantCode: finding.NotFound, wantErr: `elasticquota "tem" not found in namespace "ml", did you mean "team"?`},
		"one of another namespace": {edit: func(*clusterBuilder) {}, quota: "vault", wantCode: finding.NotFound, wantErr: `elasticquota "vault" not found in namespace "ml"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := shared()
			tc.edit(cluster)
			answer, err := cluster.source(t).ExplainQuota(t.Context(), "ml", tc.quota, 10)
			if tc.wantErr != "" {
				if !hasCode(err, tc.wantCode) || err.Error() != tc.wantErr || answer != nil {
					t.Errorf("error %v, want %s %q", err, tc.wantCode, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.wantPods, len(answer.Pods)); diff != "" || answer.Kind != "QuotaExplanation" || len(answer.Incomplete) != len(tc.wantIncomplete) {
				t.Errorf("pods (-want +got):\n%s%+v", diff, answer)
			}
			checkIncomplete(t, answer.Incomplete, tc.wantIncomplete)
		})
	}
}
