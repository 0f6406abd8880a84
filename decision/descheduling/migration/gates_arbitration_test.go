package migration

import (
	"testing"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestAJobSaysWhatTheArbitratorWaitsFor(t *testing.T) {
	const text = "waiting for the arbitrator to let the job start"
	for name, tc := range map[string]struct{ recorded, want string }{
		"nothing is recorded yet": {"", text},
		"a limit":                 {`{"gate":"MaxMigratingPerNode","message":"2 pods are moving"}`, text + ": MaxMigratingPerNode, 2 pods are moving"},
		"a limit of time": {
			`{"gate":"ObjectLimiterWorkload","message":"1 pods were evicted","until":"2026-05-01T12:05:00Z"}`,
			text + ": ObjectLimiterWorkload, 1 pods were evicted, until 2026-05-01T12:05:00Z",
		},
		"what cannot be read":      {`{`, text},
		"what is not about a gate": {`{"message":"x"}`, text},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(schedulingv1alpha1.PodMigrationJobModeReservationFirst)
			c.Job.Annotations = map[string]string{}
			if tc.recorded != "" {
				c.Job.Annotations[extension.AnnotationArbitrationWait] = tc.recorded
			}
			if got := Decide(c.input(DefaultArgs()), nil).Status; got.Message != tc.want || got.Reason != schedulingv1alpha1.PodMigrationJobReasonWaitForArbitration {
				t.Errorf("%s: %q, want %q", got.Reason, got.Message, tc.want)
			}
		})
	}
}
