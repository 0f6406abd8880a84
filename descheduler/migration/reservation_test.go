package migration

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// TestAReservationIsMadeFromTheWholePod: caches have pods without what the descheduler does not need.
func TestAReservationIsMadeFromTheWholePod(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(schedulingv1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	whole := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "web"},
		Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "main", Image: "web:1", Env: []corev1.EnvVar{{Name: "KEY", Value: "value"}}}}},
	}
	cached := whole.DeepCopy()
	cached.Spec.Containers[0].Env = nil
	tests := map[string]struct {
		uid      types.UID
		wantEnvs int
		wantNone bool
	}{
		"the pod as it is":                  {uid: "web", wantEnvs: 1},
		"a pod that was replaced meanwhile": {uid: "the one before", wantNone: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(whole.DeepCopy()).Build()
			job := &schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{Name: "job", UID: "job"}}
			r := &reconciler{client: c, live: liveObjects(c), args: &migration.Args{}, clocks: newClocks(clock.RealClock{})}
			pod := cached.DeepCopy()
			pod.UID = test.uid
			if err := r.createReservation(t.Context(), situation{job: job, pod: pod}); err != nil {
				t.Fatal(err)
			}
			var list schedulingv1alpha1.ReservationList
			if err := c.List(t.Context(), &list); err != nil {
				t.Fatal(err)
			}
			if none := len(list.Items) == 0; none != test.wantNone {
				t.Fatalf("%d Reservations", len(list.Items))
			}
			if !test.wantNone {
				if got := len(list.Items[0].Spec.Template.Spec.Containers[0].Env); got != test.wantEnvs {
					t.Errorf("%d variables in the template, want %d", got, test.wantEnvs)
				}
			}
		})
	}
}
