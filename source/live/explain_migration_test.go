package live

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestAMigrationIsExplainedFromWhatMayBeRead(t *testing.T) {
	const (
		waits    = `at gate ReservationScheduled until 2026-03-04T05:10:07Z: waiting for the scheduler to find a node for reservation "uid-b-running"`
		unknown  = "the gates are unknown: not every object of the job could be read"
		defaults = "*the default arguments of the MigrationController are assumed (KOORD0003)"
	)
	placed := func(b *clusterBuilder) {
		b.server.Reservations[0].Status.NodeName, b.server.Reservations[0].Status.Phase = "worker-2", schedulingv1alpha1.ReservationAvailable
	}
	tests := map[string]struct {
		edit           func(*clusterBuilder)
		want           string
		wantIncomplete []string
		wantOthers     *diagnosticsv1alpha1.MigrationCount
	}{
		"everything": {func(b *clusterBuilder) {
			b.configMap("koord-descheduler-config", "koord-descheduler-config", "profiles: []")
		}, waits, nil, &diagnosticsv1alpha1.MigrationCount{Pending: 1}},
		"the arguments of the descheduler": {
			func(b *clusterBuilder) {
				b.descheduler("- pluginConfig: [{name: MigrationController, args: {defaultJobTTL: 9m}}]\n")
			}, strings.Replace(waits, "05:10:07", "05:14:07", 1), nil, &diagnosticsv1alpha1.MigrationCount{Pending: 1},
		},
		"no configuration of the descheduler": {func(*clusterBuilder) {}, waits, []string{defaults}, &diagnosticsv1alpha1.MigrationCount{Pending: 1}},
		"one that is none": {
			func(b *clusterBuilder) { b.descheduler("[") }, waits,
			[]string{"configmap koordinator-system/koord-descheduler-config: read the DeschedulerConfiguration: *; the default arguments of the MigrationController are assumed"},
			&diagnosticsv1alpha1.MigrationCount{Pending: 1},
		},
		"not the other jobs": {func(b *clusterBuilder) { b.denied("list podmigrationjobs") }, waits, []string{defaults, "list podmigrationjobs*the other jobs are unknown (KOORD0002)"}, nil},
		"not the pod": {
			func(b *clusterBuilder) { b.denied("get pods") }, unknown, []string{defaults, `get pods "web-0"*what the job waits for is unknown (KOORD0002)`}, &diagnosticsv1alpha1.MigrationCount{Pending: 1},
		},
		"not the reservation": {
			func(b *clusterBuilder) { b.denied("get reservations") }, unknown, []string{defaults, "get reservations.scheduling.koordinator.sh*what the job waits for is unknown (KOORD0002)"},
			&diagnosticsv1alpha1.MigrationCount{Pending: 1},
		},
		"not the node of the reservation": {
			func(b *clusterBuilder) { placed(b); b.denied("get nodes") }, unknown, []string{defaults, `get nodes "worker-2"*what the job waits for is unknown (KOORD0002)`}, &diagnosticsv1alpha1.MigrationCount{Pending: 1},
		},
		"the node is gone": {
			func(b *clusterBuilder) { placed(b); b.server.Nodes = nil }, `Aborted, reason ReservationNodeLost: node "worker-2" of reservation "uid-b-running" does not exist any more`, []string{defaults},
			&diagnosticsv1alpha1.MigrationCount{Pending: 1},
		},
		"the pod is gone": {
			func(b *clusterBuilder) { b.server.Pods = nil }, `Failed, reason MissingPod: pod "shop/web-0" does not exist`, []string{defaults},
			&diagnosticsv1alpha1.MigrationCount{Pending: 1},
		},
		"a job that names no pod": {func(b *clusterBuilder) {
			b.server.Lists["podmigrationjobs"].(*schedulingv1alpha1.PodMigrationJobList).Items[1].Spec.PodRef = nil
		}, "Failed, reason InvalidPodRef: podRef must have a namespace and a name", []string{defaults}, &diagnosticsv1alpha1.MigrationCount{Pending: 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := migrating()
			tc.edit(cluster)
			answer, err := cluster.source(t).ExplainMigration(t.Context(), "b-running")
			if err != nil {
				t.Fatal(err)
			}
			if answer.Summary != tc.want || answer.Kind != "MigrationExplanation" {
				t.Errorf("%s: %q, want %q", answer.Kind, answer.Summary, tc.want)
			}
			if diff := cmp.Diff(tc.wantOthers, answer.OtherJobs); diff != "" {
				t.Errorf("other jobs (-want +got):\n%s", diff)
			}
			checkIncomplete(t, answer.Incomplete, tc.wantIncomplete)
		})
	}
}

// surging has a job whose pod, web-0, has a node to move to and is to be replaced by its Deployment first, which allows one pod more than
// its replicas. Another job replaces web-1 already.
func surging() *clusterBuilder {
	b := migrating()
	b.server.Reservations[0].Status.NodeName, b.server.Reservations[0].Status.Phase = "worker-2", schedulingv1alpha1.ReservationAvailable
	for i := range b.server.Pods {
		p := &b.server.Pods[i]
		p.UID, p.Labels = types.UID("uid-"+p.Name), map[string]string{extension.LabelPodEvictPolicy: "Surge", appsv1.DefaultDeploymentUniqueLabelKey: "5f"}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5f", UID: "uid-web-5f", Controller: new(true)}}
	}
	jobs := b.server.Lists["podmigrationjobs"].(*schedulingv1alpha1.PodMigrationJobList).Items
	for i := range jobs {
		jobs[i].Spec.PodRef.UID = types.UID("uid-" + jobs[i].Spec.PodRef.Name)
	}
	jobs[0].Status.Conditions = []schedulingv1alpha1.PodMigrationJobCondition{{Type: schedulingv1alpha1.PodMigrationJobConditionSurge}}
	set := appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-5f", UID: "uid-web-5f"}}
	set.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "uid-web", Controller: new(true)}}
	deployment := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-web"}}
	deployment.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(1))}
	return b.list("replicasets", &appsv1.ReplicaSetList{Items: []appsv1.ReplicaSet{set}}).list("deployments", &appsv1.DeploymentList{Items: []appsv1.Deployment{deployment}}).
		configMap("koord-descheduler-config", "koord-descheduler-config", "profiles: []")
}

func TestASurgeIsExplainedFromWhatMayBeRead(t *testing.T) {
	const (
		full     = `at gate Surge until 2026-03-04T05:10:07Z: 1 pods of Deployment "web" are being replaced, its maxSurge allows 1`
		detaches = "at gate Surge until 2026-03-04T05:10:07Z: detaching the pod from its ReplicaSet, so that it is replaced before it is evicted"
		evicts   = "at gate Eviction until 2026-03-04T05:10:07Z: evicting the pod"
		unknown  = "the gates are unknown: not every object of the job could be read"
		surge    = "*whether the pod can be replaced before it is evicted is unknown (KOORD0002)"
	)
	tests := map[string]struct {
		edit           func(*clusterBuilder)
		want           string
		wantIncomplete []string
	}{
		"another pod is being replaced": {func(*clusterBuilder) {}, full, nil},
		"a pod of another ReplicaSet is": {
			func(b *clusterBuilder) { b.server.Pods[1].OwnerReferences[0].UID = "uid-db-77" }, detaches, nil,
		},
		"the other pod is gone":        {func(b *clusterBuilder) { b.server.Pods = b.server.Pods[:1] }, detaches, nil},
		"there is no such ReplicaSet":  {func(b *clusterBuilder) { delete(b.server.Lists, "replicasets") }, evicts, nil},
		"not the ReplicaSet":           {func(b *clusterBuilder) { b.denied("get replicasets") }, unknown, []string{"get replicasets.apps" + surge}},
		"not the Deployment":           {func(b *clusterBuilder) { b.denied("get deployments") }, unknown, []string{"get deployments.apps" + surge}},
		"not the other jobs":           {func(b *clusterBuilder) { b.denied("list podmigrationjobs") }, unknown, []string{"list podmigrationjobs*the other jobs are unknown (KOORD0002)"}},
		"not the pod of the other job": {func(b *clusterBuilder) { b.denied("get pods web-1") }, unknown, []string{`get pods "web-1"*what the job waits for is unknown (KOORD0002)`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := surging()
			tc.edit(cluster)
			answer, err := cluster.source(t).ExplainMigration(t.Context(), "b-running")
			if err != nil {
				t.Fatal(err)
			}
			if answer.Summary != tc.want {
				t.Errorf("%q, want %q", answer.Summary, tc.want)
			}
			checkIncomplete(t, answer.Incomplete, tc.wantIncomplete)
		})
	}
}

func TestAJobThatCannotBeReadIsAnError(t *testing.T) {
	tests := map[string]struct {
		edit     func(*clusterBuilder)
		wantCode finding.Code
		want     string
	}{
		"a misspelt name":  {func(*clusterBuilder) {}, finding.NotFound, `podmigrationjob "b-runnin" not found, did you mean "b-running"?`},
		"names are hidden": {func(b *clusterBuilder) { b.denied("list podmigrationjobs") }, finding.NotFound, `podmigrationjob "b-runnin" not found`},
		"no permission":    {func(b *clusterBuilder) { b.denied("get podmigrationjobs") }, finding.Forbidden, `get podmigrationjobs.scheduling.koordinator.sh "b-runnin": not permitted for user "eve"`},
		"not installed":    {func(b *clusterBuilder) { b.server.NoCRDs = true }, finding.NotInstalled, "list podmigrationjobs.scheduling.koordinator.sh: the server doesn't have this resource type"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := migrating()
			tc.edit(cluster)
			answer, err := cluster.source(t).ExplainMigration(t.Context(), "b-runnin")
			if !hasCode(err, tc.wantCode) || err.Error() != tc.want || answer != nil {
				t.Errorf("error %v, want %s %q", err, tc.wantCode, tc.want)
			}
		})
	}
}

func TestJobsAreNoneWhereTheyAreNotInstalled(t *testing.T) {
	job := schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Name: "move-web"}}
	job.Spec.PodRef = &corev1.ObjectReference{Namespace: "shop", Name: "web-0"}
	for name, tc := range map[string]struct {
		edit     func(*clusterBuilder)
		want     int
		wantCode finding.Code
	}{
		"one":           {func(*clusterBuilder) {}, 1, ""},
		"not installed": {func(b *clusterBuilder) { b.server.NoCRDs = true }, 0, ""},
		"no permission": {func(b *clusterBuilder) { b.denied("list podmigrationjobs") }, 0, finding.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := makeCluster().list("podmigrationjobs", &schedulingv1alpha1.PodMigrationJobList{Items: []schedulingv1alpha1.PodMigrationJob{job}})
			tc.edit(cluster)
			jobs, err := cluster.source(t).MigrationJobs(t.Context())
			if len(jobs) != tc.want || (err != nil) != (tc.wantCode != "") || err != nil && !hasCode(err, tc.wantCode) {
				t.Errorf("%d jobs, error %v; want %d, %q", len(jobs), err, tc.want, tc.wantCode)
			}
		})
	}
}
