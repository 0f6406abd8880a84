package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

var reservationResource = schedulingv1alpha1.GroupVersion.WithResource("reservations")

// ownerLabel says which reservations a pod may use.
const ownerLabel = "integration.koordinator.sh/owner"

// reserving is a reservation of room like that of a pod, for pods whose label has a value. It lasts two minutes.
func reserving(template *corev1.Pod, name, owner string) *schedulingv1alpha1.Reservation {
	return &schedulingv1alpha1.Reservation{
		TypeMeta:   metav1.TypeMeta{APIVersion: schedulingv1alpha1.GroupVersion.String(), Kind: "Reservation"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: schedulingv1alpha1.ReservationSpec{
			Template:     &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: template.Labels, Annotations: template.Annotations}, Spec: template.Spec},
			Owners:       []schedulingv1alpha1.ReservationOwner{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{ownerLabel: owner}}}},
			TTL:          &metav1.Duration{Duration: 2 * time.Minute},
			AllocateOnce: new(false),
		},
	}
}

// reserve creates a reservation for the time of the test.
func reserve(t *testing.T, reservation *schedulingv1alpha1.Reservation) {
	t.Helper()
	create(t, reservationResource, reservation)
	t.Cleanup(func() {
		if err := withdraw(context.Background(), reservationResource, "", reservation.Name); err != nil {
			t.Error(err)
		}
	})
}

// reservationNamed reads a reservation; nil when there is none.
func reservationNamed(ctx context.Context, name string) (*schedulingv1alpha1.Reservation, error) {
	object, err := dynamicClient.Resource(reservationResource).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	reservation := &schedulingv1alpha1.Reservation{}
	return reservation, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, reservation)
}

// awaitPhase waits until a reservation is in a phase, with a number of owners.
func awaitPhase(t *testing.T, within time.Duration, name string, want schedulingv1alpha1.ReservationPhase, wantOwners int) *schedulingv1alpha1.Reservation {
	t.Helper()
	var reservation *schedulingv1alpha1.Reservation
	sandboxtest.Eventually(t, within, func() (err error) {
		reservation, err = reservationNamed(t.Context(), name)
		if err != nil {
			return err
		}
		if reservation == nil {
			return fmt.Errorf("reservation %s does not exist", name)
		}
		if status := reservation.Status; status.Phase != want || len(status.CurrentOwners) != wantOwners {
			return fmt.Errorf("reservation %s is %s with %d owners, want %s with %d: %+v", name, status.Phase, len(status.CurrentOwners), want, wantOwners, status.Conditions)
		}
		return nil
	})
	return reservation
}

// owning makes a pod an owner of the reservations for a value.
func owning(pod *corev1.Pod, owner string) *corev1.Pod {
	pod.Labels[ownerLabel] = owner
	return pod
}

func TestReservedRoomIsForItsOwners(t *testing.T) {
	const pool = "reserved"
	watcher := observe(t)
	names := machines(t, pool, 1)
	namespace := space(t, "inv-reserved")
	own := startScheduler(t, "it-reserved")
	pod := func(name, cpu string) *corev1.Pod {
		return own.places(demand(namespace, name, pool, "cpu", cpu))
	}
	restricted, aligned, once := reserving(pod("r", "4"), "it-restricted", "restricted"), reserving(pod("r", "4"), "it-aligned", "aligned"), reserving(pod("r", "4"), "it-once", "once")
	restricted.Spec.AllocatePolicy = schedulingv1alpha1.ReservationAllocatePolicyRestricted
	aligned.Spec.AllocatePolicy = schedulingv1alpha1.ReservationAllocatePolicyAligned
	once.Spec.AllocatePolicy, once.Spec.AllocateOnce = schedulingv1alpha1.ReservationAllocatePolicyAligned, new(true)
	for _, r := range []*schedulingv1alpha1.Reservation{restricted, aligned, once} {
		reserve(t, r)
		awaitPhase(t, patience, r.Name, schedulingv1alpha1.ReservationAvailable, 0)
	}

	// Two CPUs of the machine's fourteen are free: a stranger gets no more.
	mustSubmit(t, pod("stranger", "3"))
	decided(t, namespace, "stranger")
	mustSubmit(t, owning(pod("restricted-a", "3"), "restricted"), owning(pod("aligned-a", "5"), "aligned"), owning(pod("once-a", "4"), "once"))
	awaitBound(t, patience, namespace, 3, 1)
	// A second owner fits what is left of the Restricted one.
	mustSubmit(t, owning(pod("restricted-b", "1"), "restricted"))
	awaitBound(t, patience, namespace, 4, 1)
	awaitPhase(t, patience, restricted.Name, schedulingv1alpha1.ReservationAvailable, 2)
	awaitPhase(t, patience, aligned.Name, schedulingv1alpha1.ReservationAvailable, 1)
	awaitPhase(t, patience, once.Name, schedulingv1alpha1.ReservationSucceeded, 1)
	agrees(t, watcher, own, namespace, names)
	if got := watcher.Seen().Reserved; got != 4 {
		t.Errorf("%d pods were seen to use reservations, want 4", got)
	}
	// An owner that ends gives its part back to the reservation, not to strangers.
	if err := remove(t.Context(), namespace, "restricted-a"); err != nil {
		t.Fatal(err)
	}
	awaitPhase(t, patience, restricted.Name, schedulingv1alpha1.ReservationAvailable, 1)
	awaitBound(t, time.Second, namespace, 3, 1)
	agrees(t, watcher, own, namespace, names)
}

func TestReservationsEndAndGiveTheirRoomBack(t *testing.T) {
	const pool = "expiring"
	watcher := observe(t)
	names := machines(t, pool, 2)
	namespace := space(t, "inv-expiring")
	own := startScheduler(t, "it-expiring")
	leads(t, own)
	template := own.places(binding(demand(namespace, "r", pool, "cpu", "14"), ""))
	short, deleted := reserving(template, "it-short", "nobody"), reserving(template, "it-deleted", "nobody")
	reserve(t, short)
	reserve(t, deleted)
	awaitPhase(t, patience, short.Name, schedulingv1alpha1.ReservationAvailable, 0)
	awaitPhase(t, patience, deleted.Name, schedulingv1alpha1.ReservationAvailable, 0)
	mustSubmit(t, own.places(binding(demand(namespace, "first", pool, "cpu", "14"), "")), own.places(binding(demand(namespace, "second", pool, "cpu", "14"), "")))
	decided(t, namespace, "first")
	decided(t, namespace, "second")
	if err := edited(t.Context(), reservationResource, "", short.Name, `{"spec":{"ttl":"1s"}}`); err != nil {
		t.Fatal(err)
	}
	awaitPhase(t, patience, short.Name, schedulingv1alpha1.ReservationFailed, 0)
	awaitBound(t, patience, namespace, 1, 1)
	if err := withdraw(t.Context(), reservationResource, "", deleted.Name); err != nil {
		t.Fatal(err)
	}
	awaitBound(t, patience, namespace, 2, 0)
	agrees(t, watcher, own, namespace, names)
}

// reservationStorm makes reservations of all kinds and owners for them, and deletes old ones of either.
type reservationStorm struct {
	namespace, pool, scheduler string
	alive                      int
}

func (s *reservationStorm) name(i int) string { return fmt.Sprintf("it-storm-%03d", i) }

func (s *reservationStorm) pod(name string, i int) *corev1.Pod {
	pod := demand(s.namespace, name, s.pool, "cpu", "2", "memory", "1Gi")
	if i%2 == 0 {
		pod = binding(pod, "")
	}
	pod.Spec.SchedulerName = s.scheduler
	return pod
}

func (s *reservationStorm) reservation(random *rand.Rand, i int) *schedulingv1alpha1.Reservation {
	reservation := reserving(s.pod("template", i), s.name(i), s.name(i))
	reservation.Spec.AllocateOnce = new(i%3 == 0)
	reservation.Spec.AllocatePolicy = []schedulingv1alpha1.ReservationAllocatePolicy{
		schedulingv1alpha1.ReservationAllocatePolicyDefault, schedulingv1alpha1.ReservationAllocatePolicyAligned, schedulingv1alpha1.ReservationAllocatePolicyRestricted,
	}[random.IntN(3)]
	if i%7 == 6 {
		reservation.Spec.TTL = &metav1.Duration{Duration: 2 * time.Second}
	}
	return reservation
}

// run creates a reservation at each step, and two owners for the one of four steps ago. What is old is deleted, the
// reservation first or its owners first.
func (s *reservationStorm) run(ctx context.Context, stop <-chan struct{}) error {
	random := rand.New(rand.NewPCG(13, 14))
	return storm(ctx, stop, 150*time.Millisecond, func(i int) error {
		if err := insist(ctx, reservationResource, s.reservation(random, i)); err != nil {
			return fmt.Errorf("create reservation %s: %w", s.name(i), err)
		}
		if j := i - 4; j >= 0 {
			for k := range 2 {
				if err := submit(ctx, owning(s.pod(fmt.Sprintf("owner-%03d-%d", j, k), j), s.name(j))); err != nil {
					return err
				}
			}
		}
		if i >= s.alive {
			return s.remove(ctx, i-s.alive)
		}
		return nil
	})
}

func (s *reservationStorm) remove(ctx context.Context, i int) error {
	reservation := func() error { return withdraw(ctx, reservationResource, "", s.name(i)) }
	owners := func() error {
		for k := range 2 {
			if err := remove(ctx, s.namespace, fmt.Sprintf("owner-%03d-%d", i, k)); err != nil {
				return err
			}
		}
		return nil
	}
	steps := []func() error{reservation, owners}
	if i%2 == 0 {
		steps = []func() error{owners, reservation}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("delete reservation %s and its owners: %w", s.name(i), err)
		}
	}
	return nil
}

// clean deletes the reservations of a storm when the test is over.
func (s *reservationStorm) clean(t *testing.T) {
	t.Cleanup(func() {
		list, err := dynamicClient.Resource(reservationResource).List(context.Background(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			if strings.HasPrefix(item.GetName(), "it-storm-") {
				if err := withdraw(context.Background(), reservationResource, "", item.GetName()); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// awaitReserved waits until so many more pods were bound with room of a reservation.
func awaitReserved(t *testing.T, seen func() int, more int) {
	t.Helper()
	before := seen()
	sandboxtest.Eventually(t, patience, func() error {
		if got := seen() - before; got < more {
			return fmt.Errorf("%d pods were bound with reserved room, want %d", got, more)
		}
		return nil
	})
}
