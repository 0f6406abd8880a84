package live

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// migrating has a job that waits for a node, one that waits for the arbitrator, and one that has ended.
func migrating() *clusterBuilder {
	job := func(name, pod string, edit func(*schedulingv1alpha1.PodMigrationJob)) schedulingv1alpha1.PodMigrationJob {
		j := schedulingv1alpha1.PodMigrationJob{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(builtAt.Add(-time.Minute)), ManagedFields: managed(10)},
			Spec:       schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "shop", Name: pod}},
		}
		edit(&j)
		return j
	}
	b := makeCluster().node("worker-1").node("worker-2").reservation("uid-b-running")
	for _, name := range []string{"web-0", "web-1"} {
		b.pod("shop", name, "worker-1", "1", owned("web"), func(p *corev1.Pod) { p.Spec.SchedulerName = "koord-scheduler" })
	}
	b.server.Reservations[0].OwnerReferences = []metav1.OwnerReference{{UID: "uid-b-running"}}
	b.server.Lists = map[string]runtime.Object{"podmigrationjobs": &schedulingv1alpha1.PodMigrationJobList{Items: []schedulingv1alpha1.PodMigrationJob{
		job("c-queued", "web-1", func(*schedulingv1alpha1.PodMigrationJob) {}),
		job("b-running", "web-0", func(j *schedulingv1alpha1.PodMigrationJob) {
			j.Annotations = map[string]string{extension.AnnotationPassedArbitration: "true"}
		}),
		job("a-ended", "web-9", func(j *schedulingv1alpha1.PodMigrationJob) {
			j.Status = schedulingv1alpha1.PodMigrationJobStatus{Phase: schedulingv1alpha1.PodMigrationJobFailed, Reason: "Timeout", Message: "timed out after 5m0s"}
		}),
	}}}
	return b
}

func TestMigrationsAreListed(t *testing.T) {
	tests := map[string]struct {
		edit           func(*clusterBuilder)
		want           []string
		wantIncomplete int
	}{
		"each at its gate, by name": {
			func(*clusterBuilder) {}, []string{"a-ended Failed", "b-running on worker-1 at ReservationScheduled", "c-queued on worker-1 at Arbitration"}, 1,
		},
		"gates are unknown without pods": {
			func(b *clusterBuilder) { b.denied("list pods") }, []string{"a-ended Failed", "b-running Pending", "c-queued Pending"}, 2,
		},
		"and without reservations and nodes": {
			func(b *clusterBuilder) { b.denied("list reservations", "list nodes") }, []string{"a-ended Failed", "b-running on worker-1 Pending", "c-queued on worker-1 Pending"}, 3,
		},
		"of jobs that have ended nothing else is read": {func(b *clusterBuilder) {
			list := b.server.Lists["podmigrationjobs"].(*schedulingv1alpha1.PodMigrationJobList)
			list.Items = list.Items[2:]
			b.denied("list pods", "list reservations", "list nodes", "get configmaps")
		}, []string{"a-ended Failed"}, 0},
		"none": {func(b *clusterBuilder) {
			b.server.Lists["podmigrationjobs"] = &schedulingv1alpha1.PodMigrationJobList{}
		}, nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := migrating()
			tc.edit(cluster)
			answer, err := cluster.source(t).Migrations(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range answer.Items {
				item := &answer.Items[i]
				line := item.Name
				if item.Pod.NodeName != "" {
					line += " on " + item.Pod.NodeName
				}
				state := " " + item.Phase
				for _, gate := range item.Gates {
					if gate.State == "Waiting" {
						state = " at " + gate.Name
					}
				}
				got = append(got, line+state)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("jobs (-want +got):\n%s", diff)
			}
			if len(answer.Incomplete) != tc.wantIncomplete {
				t.Errorf("incomplete %q, want %d lines", answer.Incomplete, tc.wantIncomplete)
			}
		})
	}
}

func TestMigrationsThatCannotBeListed(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*clusterBuilder)
		want finding.Code
	}{
		"no permission": {func(b *clusterBuilder) { b.denied("list podmigrationjobs") }, finding.Forbidden},
		"not installed": {func(b *clusterBuilder) { b.server.NoCRDs = true }, finding.NotInstalled},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := migrating()
			tc.edit(cluster)
			_, err := cluster.source(t).Migrations(t.Context())
			if found, coded := finding.From(err); !coded || found.Code != tc.want {
				t.Errorf("error %v, want code %s", err, tc.want)
			}
		})
	}
}
