package arbitrator

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// planned is a job of a pass that moves a pod between nodes.
func planned(name, pass, from, to string, phase schedulingv1alpha1.PodMigrationJobPhase) schedulingv1alpha1.PodMigrationJob {
	return schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Annotations: map[string]string{
			extension.AnnotationMigrationPass: pass, extension.AnnotationSourceNode: from, extension.AnnotationTargetNode: to,
		}},
		Status: schedulingv1alpha1.PodMigrationJobStatus{Phase: phase},
	}
}

func TestHeldByPasses(t *testing.T) {
	const (
		pending, running  = schedulingv1alpha1.PodMigrationJobPending, schedulingv1alpha1.PodMigrationJobRunning
		succeeded, failed = schedulingv1alpha1.PodMigrationJobSucceeded, schedulingv1alpha1.PodMigrationJobFailed
	)
	for name, test := range map[string]struct {
		jobs []schedulingv1alpha1.PodMigrationJob
		want map[types.UID]string
	}{
		"a job of no pass":   {[]schedulingv1alpha1.PodMigrationJob{planned("a", "", "1", "2", pending)}, map[types.UID]string{}},
		"a job of no target": {[]schedulingv1alpha1.PodMigrationJob{planned("a", "p", "1", "", pending)}, map[types.UID]string{}},
		"room is made first": {
			[]schedulingv1alpha1.PodMigrationJob{planned("a", "p", "1", "2", pending), planned("b", "p", "2", "3", running)},
			map[types.UID]string{"a": "batch 2 of 2 of the pass waits for batch 1"},
		},
		"and then the next batch starts": {
			[]schedulingv1alpha1.PodMigrationJob{planned("a", "p", "1", "2", pending), planned("b", "p", "2", "3", succeeded)}, map[types.UID]string{},
		},
		"jobs of another pass do not matter": {
			[]schedulingv1alpha1.PodMigrationJob{planned("a", "p", "1", "2", pending), planned("b", "q", "2", "3", running)}, map[types.UID]string{},
		},
		"a pass that stopped": {
			[]schedulingv1alpha1.PodMigrationJob{planned("a", "p", "1", "2", pending), planned("b", "p", "5", "3", failed)},
			map[types.UID]string{"a": "the pass stopped: 1 of 1 moves failed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, HeldByPasses(0)(test.jobs)); diff != "" {
				t.Errorf("held (-want +got):\n%s", diff)
			}
		})
	}
}
