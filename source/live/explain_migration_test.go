package live

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
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
