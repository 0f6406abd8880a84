package integration

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/sandbox/component"
)

// fourReplicas is the smallest Deployment of which two pods may migrate at a time.
func fourReplicas(spec *appsv1.DeploymentSpec) { spec.Replicas = new(int32(4)) }

// TestTwoJobsOfOneDeployment moves two pods of a Deployment whose jobs are created together. Pods of the Deployment may use the Reservations
// of both, so that the second starts once that of the first is used.
func TestTwoJobsOfOneDeployment(t *testing.T) {
	pause(t, component.Descheduler) // the jobs are those of the controller of the test
	args := decision.DefaultArgs()
	limiter := args.ObjectLimiters[decision.LimitedWorkload]
	limiter.Burst = 2 // else the second waits for minutes after the eviction of the first
	args.ObjectLimiters[decision.LimitedWorkload] = limiter
	controller := startArbitrated(t, args)
	for _, test := range []struct {
		name, namespace string
		minAvailable    int
		edit            func(*appsv1.DeploymentSpec)
	}{
		{"a budget for two", "two-migrated", 2, fourReplicas},
		{"a budget for one", "two-migrated-tight", 3, fourReplicas},
		{"none without its replacement", "two-surged", 4, surging(4)},
	} {
		t.Run(test.name, func(t *testing.T) {
			pods := webDeployment(t, test.namespace, test.minAvailable, test.edit)
			least, homes := leastReady(t, test.namespace, pods), watchHomes(t, test.namespace)
			jobs := []*schedulingv1alpha1.PodMigrationJob{newJob(&pods[0], 3*time.Minute), newJob(&pods[1], 3*time.Minute)}
			for _, job := range jobs {
				controller.startJob(t, job)
			}
			for i, job := range jobs {
				controller.awaitEnd(t, job, schedulingv1alpha1.PodMigrationJobSucceeded, "Complete")
				moved(t, job, &pods[i])
			}
			if got := least(); got < test.minAvailable {
				t.Errorf("at least %d pods were ready at any time, want %d", got, test.minAvailable)
			}
			untouched(t, test.namespace, pods[2:])
			owned(t, test.namespace, 4)
			for _, problem := range homes() {
				t.Error(problem)
			}
			for _, job := range jobs {
				used(t, job)
			}
		})
	}
}

// used checks that the reservation of a job that succeeded reserves nothing any more: its pod has it, and it is used once.
func used(t *testing.T, job *schedulingv1alpha1.PodMigrationJob) {
	t.Helper()
	reservation, err := reservationNamed(t.Context(), string(job.UID))
	if err != nil {
		t.Fatal(err)
	}
	if reservation == nil {
		return
	}
	if reservation.Status.Phase != schedulingv1alpha1.ReservationSucceeded || len(reservation.Status.CurrentOwners) != 1 ||
		reservation.Status.CurrentOwners[0].UID != job.Status.PodRef.UID {
		t.Errorf("reservation %s: %+v, want that pod %s uses it and nothing is reserved", reservation.Name, reservation.Status, job.Status.PodRef.Name)
	}
}

// watchHomes watches the Reservations of the jobs of a namespace, and returns what says what was wrong so far: two of them waited for a pod
// at a time, or one does still.
func watchHomes(t *testing.T, namespace string) func() []string {
	t.Helper()
	watching, err := ctrlclient.NewWithWatch(administrator(t), ctrlclient.Options{Scheme: migrationScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	watcher, err := watching.Watch(t.Context(), &schedulingv1alpha1.ReservationList{})
	if err != nil {
		t.Fatal(err)
	}
	var mutex sync.Mutex
	var ended sync.WaitGroup
	open, problems := map[types.UID]string{}, map[string]bool{}
	ended.Go(func() {
		for event := range watcher.ResultChan() {
			reservation, ok := event.Object.(*schedulingv1alpha1.Reservation)
			if !ok || reservation.Spec.Template == nil || reservation.Spec.Template.Namespace != namespace {
				continue
			}
			mutex.Lock()
			waits := reservation.Status.Phase == "" || reservation.Status.Phase == schedulingv1alpha1.ReservationPending || reservation.Status.Phase == schedulingv1alpha1.ReservationAvailable
			if delete(open, reservation.UID); waits && event.Type != "DELETED" {
				open[reservation.UID] = reservation.Name
			}
			if len(open) > 1 {
				problems[fmt.Sprintf("reservations %v waited for pods at a time", slices.Sorted(maps.Values(open)))] = true
			}
			mutex.Unlock()
		}
	})
	t.Cleanup(func() {
		watcher.Stop()
		ended.Wait()
	})
	return func() []string {
		mutex.Lock()
		defer mutex.Unlock()
		for _, name := range open {
			problems[fmt.Sprintf("reservation %s is left", name)] = true
		}
		return slices.Sorted(maps.Keys(problems))
	}
}
