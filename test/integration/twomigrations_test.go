package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/transport"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/test/sandboxtest"
)

// fourReplicas is the smallest Deployment of which two pods may migrate at a time.
func fourReplicas(spec *appsv1.DeploymentSpec) { spec.Replicas = new(int32(4)) }

// twoAtOnce are arguments that let two pods of a workload be evicted one right after the other; by default, minutes have to pass.
func twoAtOnce() *decision.Args {
	args := decision.DefaultArgs()
	limiter := args.ObjectLimiters[decision.LimitedWorkload]
	limiter.Burst = 2
	args.ObjectLimiters[decision.LimitedWorkload] = limiter
	return args
}

// TestTwoJobsOfOneDeployment moves two pods of a Deployment whose jobs are created together. Pods of the Deployment may use the Reservations
// of both, so that the second starts once that of the first is used.
func TestTwoJobsOfOneDeployment(t *testing.T) {
	pause(t, component.Descheduler) // the jobs are those of the controller of the test
	controller := startArbitrated(t, twoAtOnce())
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
			least, homes := sandboxtest.LeastReady(t, client, test.namespace, metav1.ListOptions{}), watchHomes(t, test.namespace)
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

// TestTwoJobsOfOneDeploymentSurviveTheEndOfTheControllerAtEveryWrite is the same with an arbitrator and a controller that are killed with
// each of their writes.
func TestTwoJobsOfOneDeploymentSurviveTheEndOfTheControllerAtEveryWrite(t *testing.T) {
	pause(t, component.Descheduler)
	const namespace = "two-kills"
	pods := webDeployment(t, namespace, 2, fourReplicas)
	least, homes := sandboxtest.LeastReady(t, client, namespace, metav1.ListOptions{}), watchHomes(t, namespace)
	user, err := ctrlclient.New(administrator(t), ctrlclient.Options{Scheme: migrationScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	jobs := []*schedulingv1alpha1.PodMigrationJob{newJob(&pods[0], 5*time.Minute), newJob(&pods[1], 5*time.Minute)}
	for _, job := range jobs {
		(&migrator{Client: user}).startJob(t, job)
	}
	args := twoAtOnce()
	states := killAtEveryWrite(t, user, func(wrap transport.WrapperFunc) *migrator { return startArbitrated(t, args, wrap) }, 80, jobs...)
	t.Logf("killed at: %s", strings.Join(states, ", "))
	for i, job := range jobs {
		if job.Status.Phase != schedulingv1alpha1.PodMigrationJobSucceeded {
			t.Fatalf("job %s: %+v, want success", job.Name, job.Status)
		}
		moved(t, job, &pods[i])
		used(t, job)
	}
	if got := least(); got < 2 {
		t.Errorf("at least %d pods were ready at any time, want 2", got)
	}
	untouched(t, namespace, pods[2:])
	owned(t, namespace, 4)
	for _, problem := range homes() {
		t.Error(problem)
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
