package migration

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

func TestTheScavengerDeletesOldJobsAndReservationsWithoutJobs(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	job := func(name string, age time.Duration, phase schedulingv1alpha1.PodMigrationJobPhase) *schedulingv1alpha1.PodMigrationJob {
		return &schedulingv1alpha1.PodMigrationJob{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(now.Add(-age))},
			Spec:       schedulingv1alpha1.PodMigrationJobSpec{TTL: &metav1.Duration{Duration: 5 * time.Minute}},
			Status:     schedulingv1alpha1.PodMigrationJobStatus{Phase: phase},
		}
	}
	reservation := func(name, owner string, uid types.UID, labels map[string]string) *schedulingv1alpha1.Reservation {
		return &schedulingv1alpha1.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: labels, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: schedulingv1alpha1.GroupVersion.String(), Kind: "PodMigrationJob", Name: owner, UID: uid, Controller: new(true)},
		}}}
	}
	ours := map[string]string{migration.LabelCreatedBy: migration.CreatedBy}
	scheme := runtime.NewScheme()
	if err := errors.Join(schedulingv1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		job("old", 25*time.Hour, "Failed"), job("young", 23*time.Hour, "Failed"), job("running", 48*time.Hour, "Running"),
		reservation("of-running", "running", "running", ours), reservation("of-nobody", "gone", "gone", ours),
		reservation("of-a-namesake", "young", "another", ours), reservation("of-somebody-else", "gone", "gone", nil),
	).Build()
	s := &scavenger{client: c, live: c, clock: testingclock.NewFakeClock(now), pods: podList(c, nil), retention: func() migration.Retention { return migration.RetentionOf() }}
	if err := s.scavenge(t.Context()); err != nil {
		t.Fatal(err)
	}
	var jobs schedulingv1alpha1.PodMigrationJobList
	var reservations schedulingv1alpha1.ReservationList
	for _, list := range []client.ObjectList{&jobs, &reservations} {
		if err := c.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for i := range jobs.Items {
		got = append(got, "job "+jobs.Items[i].Name)
	}
	for i := range reservations.Items {
		got = append(got, "reservation "+reservations.Items[i].Name)
	}
	slices.Sort(got)
	want := []string{"job running", "job young", "reservation of-running", "reservation of-somebody-else"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}
