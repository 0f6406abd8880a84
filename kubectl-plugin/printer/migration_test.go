package printer

import (
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func after(d time.Duration) *metav1.Time { return &metav1.Time{Time: fixtureNow.Add(d)} }

// migrationExplanation is a job whose pod a PodDisruptionBudget keeps.
func migrationExplanation() *diagnosticsv1alpha1.MigrationExplanation {
	refusal := "the eviction was refused, attempt 3: Cannot evict pod as it would violate the pod's disruption budget."
	m := &diagnosticsv1alpha1.MigrationExplanation{
		ObjectMeta: metav1.ObjectMeta{Name: "rebalance-x7k2p"},
		Pod:        diagnosticsv1alpha1.MigratedPod{Namespace: "shop", Name: "web-0", NodeName: "worker-1"},
		Mode:       "ReservationFirst", Phase: "Running", Reason: "Evicting", Message: refusal,
		Arbitration: diagnosticsv1alpha1.MigrationArbitration{Passed: true, Annotation: "descheduler.koordinator.sh/passed-arbitration"},
		CreatedAt:   *before(2 * time.Minute), Deadline: *after(3 * time.Minute),
		Reservation: "5d0b6c9e-1f0a-4a4e-9a51-0d1f2c3b4a59", TargetNode: "worker-2",
		Summary: "at gate Eviction until 2026-03-04T05:09:07Z: " + refusal,
		Next:    &diagnosticsv1alpha1.MigrationStep{Message: "look at the job again when one of its objects changes", At: after(5 * time.Second)},
		Conditions: []diagnosticsv1alpha1.MigrationCondition{
			{Type: "ReservationCreated", Status: "True", Message: "reservation is created", LastTransitionTime: before(110 * time.Second)},
			{Type: "Eviction", Status: "False", Reason: "Evicting", Message: refusal, LastTransitionTime: before(80 * time.Second), Attempts: 3},
		},
		OtherJobs: &diagnosticsv1alpha1.MigrationCount{Pending: 4, Running: 1},
	}
	for _, name := range []string{"Abort", "Arbitration", "Pod", "ReservationCreated", "ReservationScheduled", "TargetNode"} {
		m.Gates = append(m.Gates, diagnosticsv1alpha1.MigrationGate{Name: name, State: diagnosticsv1alpha1.MigrationGatePassed})
	}
	m.Gates[3].Since, m.Gates[3].Message = before(110*time.Second), "reservation is created"
	m.Gates = append(m.Gates,
		diagnosticsv1alpha1.MigrationGate{
			Name: "Eviction", State: diagnosticsv1alpha1.MigrationGateWaiting, Since: before(80 * time.Second), Deadline: after(3 * time.Minute),
			RetryAt: after(5 * time.Second), Reason: "Evicting", Message: refusal, Attempts: 3,
		},
		diagnosticsv1alpha1.MigrationGate{Name: "ReservationBound", State: diagnosticsv1alpha1.MigrationGateNotReached},
		diagnosticsv1alpha1.MigrationGate{Name: "BoundPodReady", State: diagnosticsv1alpha1.MigrationGateNotReached},
	)
	return m
}

// waitingMigrationFixture is a job that the arbitrator holds back.
func waitingMigrationFixture() *diagnosticsv1alpha1.MigrationExplanation {
	m := migrationExplanation()
	m.Phase, m.Reason, m.Message = "Pending", "MaxMigratingPerNode", "2 jobs of node \"worker-1\" are running, the limit is 2"
	m.Arbitration.Passed, m.Reservation, m.TargetNode, m.Conditions, m.Paused = false, "", "", nil, true
	m.Summary = "at gate Arbitration until 2026-03-04T05:09:07Z: waiting for the arbitrator to let the job start"
	m.Gates = []diagnosticsv1alpha1.MigrationGate{
		{Name: "Abort", State: diagnosticsv1alpha1.MigrationGatePassed},
		{Name: "Arbitration", State: diagnosticsv1alpha1.MigrationGateWaiting, Since: before(2 * time.Minute), Deadline: after(3 * time.Minute), Reason: "WaitForArbitration"},
		{Name: "Pod", State: diagnosticsv1alpha1.MigrationGateNotReached},
	}
	return m
}

// endedMigrationFixture is a job that failed.
func endedMigrationFixture() *diagnosticsv1alpha1.MigrationExplanation {
	m := migrationExplanation()
	m.Phase, m.Reason, m.Message = "Failed", "Timeout", "timed out after 5m0s: \x1b[31mwaiting"
	m.Summary, m.Gates, m.Replacement = "Failed, reason Timeout: timed out after 5m0s", nil, "shop/web-5"
	m.Next = &diagnosticsv1alpha1.MigrationStep{Message: "nothing: the job has ended"}
	return m
}

func migrationViews() map[string]view {
	show := func(m *diagnosticsv1alpha1.MigrationExplanation, wide bool) view {
		return func(w io.Writer, o Options) error {
			o.Wide = wide
			return Migration(w, m, o)
		}
	}
	return map[string]view{
		"explain-migration":         show(migrationExplanation(), false),
		"explain-migration-wide":    show(migrationExplanation(), true),
		"explain-migration-waiting": show(waitingMigrationFixture(), false),
		"explain-migration-ended":   show(endedMigrationFixture(), false),
	}
}
