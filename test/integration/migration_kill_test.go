package integration

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/transport"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/test/sandboxtest"
)

// oneWrite lets one write through, whose answer is lost, and no other: as of a process that dies with it.
type oneWrite struct {
	next http.RoundTripper
	used *atomic.Bool
	done chan struct{}
}

var errDead = errors.New("the process is dead")

// RoundTrip sends reads and events, and the first write.
func (w oneWrite) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet || strings.Contains(request.URL.Path, "/events") {
		return w.next.RoundTrip(request)
	}
	if !w.used.CompareAndSwap(false, true) {
		return nil, errDead
	}
	defer close(w.done)
	response, err := w.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	return nil, errors.Join(errDead, response.Body.Close())
}

// TestAMigrationSurvivesTheEndOfTheControllerAtEveryWrite kills the controller with each of its writes, whose answer it does not get, and
// starts another one, until the pod has moved.
func TestAMigrationSurvivesTheEndOfTheControllerAtEveryWrite(t *testing.T) {
	pause(t, component.Descheduler) // the jobs are those of the controller of the test
	const namespace = "migration-kills"
	pods := webDeployment(t, namespace, 2)
	least := sandboxtest.LeastReady(t, client, namespace, metav1.ListOptions{})
	user, err := ctrlclient.New(administrator(t), ctrlclient.Options{Scheme: migrationScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	job := migrationJob(&pods[0], 3*time.Minute)
	(&migrator{Client: user}).startJob(t, job)
	states := killAtEveryWrite(t, user, func(wrap transport.WrapperFunc) *migrator { return startMigrator(t, wrap) }, 30, job)
	t.Logf("killed at: %s", strings.Join(states, ", "))
	if job.Status.Phase != schedulingv1alpha1.PodMigrationJobSucceeded {
		t.Fatalf("status %+v, want success", job.Status)
	}
	if len(states) < 6 {
		t.Errorf("%d kills, want one for the creation of the reservation, the eviction, and each status", len(states))
	}
	moved(t, job, &pods[0])
	untouched(t, namespace, pods[1:])
	if got := least(); got != 2 {
		t.Errorf("at least %d pods were ready at any time, want 2", got)
	}
}

// killAtEveryWrite starts controllers one after the other, each of which is killed with its first write, until jobs have ended or so many were
// killed. It returns at which states of the jobs.
func killAtEveryWrite(
	t *testing.T, user ctrlclient.Client, start func(transport.WrapperFunc) *migrator, kills int, jobs ...*schedulingv1alpha1.PodMigrationJob,
) (states []string) {
	t.Helper()
	unfinished := func(job *schedulingv1alpha1.PodMigrationJob) bool { return !decision.Finished(job) }
	for ; kills > 0 && slices.ContainsFunc(jobs, unfinished); kills-- {
		done, used := make(chan struct{}), &atomic.Bool{}
		controller := start(func(next http.RoundTripper) http.RoundTripper { return oneWrite{next: next, used: used, done: done} })
		select {
		case <-done:
		case <-time.After(patience):
			t.Fatalf("the controller writes nothing after %v", states)
		}
		controller.kill(t)
		var at []string
		for _, job := range jobs {
			if err := user.Get(t.Context(), ctrlclient.ObjectKeyFromObject(job), job); err != nil {
				t.Fatal(err)
			}
			at = append(at, fmt.Sprintf("%s %s %s", job.Status.Phase, job.Status.Status, job.Status.Reason))
		}
		states = append(states, strings.Join(at, " and "))
	}
	return states
}
