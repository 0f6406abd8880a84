package migration

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

const (
	requestName = "koord-job"
	// actionRetryBound is above the time after which an action is tried again.
	actionRetryBound = 4 * time.Second
)

// requester is a reconciler with one job, of a pod that is to be evicted by an EvictionRequest.
type requester struct {
	*reconciler
	api   *lifecycleAPI
	clock *testclock.FakePassiveClock
}

func newRequester(t *testing.T) *requester {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(schedulingv1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "web", UID: "0b1f5a0e-5c1d-4a7e-9f0b-2f3c4d5e6f70", Labels: map[string]string{extension.LabelPodEvictPolicy: "EvictionRequest"},
	}, Spec: corev1.PodSpec{NodeName: "n"}}
	job := &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "job", CreationTimestamp: metav1.NewTime(start), Annotations: map[string]string{extension.AnnotationPassedArbitration: "true"}},
		Spec: schedulingv1alpha1.PodMigrationJobSpec{
			Mode: schedulingv1alpha1.PodMigrationJobModeEvictionDirectly, PodRef: &corev1.ObjectReference{Namespace: "default", Name: "web"},
		},
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(pod, job).WithStatusSubresource(job).
		WithIndex(job, byPod, func(client.Object) []string { return []string{"default/web"} }).Build()
	api, config := startLifecycleAPI(t)
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	args, clock := migration.DefaultArgs(), testclock.NewFakePassiveClock(start)
	args.EvictBurst = 100
	requests := newRequests(objects, kube.Discovery())
	requests.clock = clock
	return &requester{api: api, clock: clock, reconciler: &reconciler{
		client: c, cached: liveObjects(c), live: liveObjects(c), inForce: func() *migration.Args { return args }, evictor: evictor{client: kube},
		requests: requests, rate: &evictionRate{}, recorder: events.NewFakeRecorder(100), clocks: newClocks(clock), surges: &sync.Mutex{},
	}}
}

// work takes the job further until it waits for more than a moment.
func (r *requester) work(t *testing.T) *schedulingv1alpha1.PodMigrationJob {
	t.Helper()
	for range 20 {
		result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "web"}})
		if err != nil {
			t.Logf("step: %v", err)
			continue
		}
		if result.RequeueAfter > actionRetryBound || result.RequeueAfter == 0 {
			break
		}
		r.clock.SetTime(r.clock.Now().Add(result.RequeueAfter))
	}
	job, err := r.live.job(t.Context(), "web")
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// pass lets time pass, and takes the job further.
func (r *requester) pass(t *testing.T, d time.Duration) *schedulingv1alpha1.PodMigrationJob {
	t.Helper()
	r.clock.SetTime(r.clock.Now().Add(d))
	return r.work(t)
}

// deletePod has a responder evict the pod.
func (r *requester) deletePod(t *testing.T) {
	t.Helper()
	if err := r.client.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}); err != nil {
		t.Fatal(err)
	}
}

// respond writes the status of the request as a controller does.
func (r *requester) respond(status map[string]any) {
	r.api.change(func() { r.api.requests[requestName].Object["status"] = status })
}

// want checks how the job and its requests are.
func (r *requester) want(t *testing.T, job *schedulingv1alpha1.PodMigrationJob, phase schedulingv1alpha1.PodMigrationJobPhase, reason, message string, intents map[string]string, evicted bool) {
	t.Helper()
	if job.Status.Phase != phase || job.Status.Reason != reason || !strings.Contains(job.Status.Message, message) {
		t.Errorf("the job is %s, %s: %q; want %s, %s: %q", job.Status.Phase, job.Status.Reason, job.Status.Message, phase, reason, message)
	}
	if diff := cmp.Diff(intents, r.api.intents()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	r.api.change(func() {
		if len(r.api.evicted) > 0 != evicted {
			t.Errorf("evicted by the eviction API: %v, want %t", r.api.evicted, evicted)
		}
	})
}

func TestAPodIsEvictedByAnEvictionRequest(t *testing.T) {
	r := newRequester(t)
	open := map[string]string{requestName: "Eviction"}
	r.want(t, r.work(t), "Running", "Evicting", "waiting for a controller to observe", open, false)
	want := map[string]any{
		"requester": "koordinator.sh/koord-descheduler", "intent": "Eviction",
		"target": map[string]any{"pod": map[string]any{"name": "web", "uid": "0b1f5a0e-5c1d-4a7e-9f0b-2f3c4d5e6f70"}},
	}
	r.api.change(func() {
		request := r.api.requests[requestName]
		if diff := cmp.Diff(want, request.Object["spec"]); diff != "" {
			t.Errorf("spec (-want +got):\n%s", diff)
		}
		if owners := request.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != "job" || owners[0].Kind != "PodMigrationJob" {
			t.Errorf("owners %+v, want the job", owners)
		}
	})
	r.respond(map[string]any{"observedGeneration": int64(1)})
	r.want(t, r.pass(t, 2*time.Minute), "Running", "Evicting", "waiting for a responder", open, false)
	r.deletePod(t)
	r.want(t, r.work(t), "Succeeded", "Complete", "the pod is evicted", open, false)
}

func TestAnEvictionRequestThatIsNotToBeIsWithdrawn(t *testing.T) {
	withdrawn := map[string]string{requestName: "Withdrawn"}
	t.Run("the job is aborted", func(t *testing.T) {
		r := newRequester(t)
		job := r.work(t)
		job.Annotations[extension.AnnotationAbortMigration] = "true"
		if err := r.client.Update(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		r.want(t, r.work(t), "Aborted", "AbortedByUser", "", withdrawn, false)
	})
	t.Run("the job is paused until its deadline", func(t *testing.T) {
		r := newRequester(t)
		job := r.work(t)
		job.Spec.Paused = true
		if err := r.client.Update(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		r.want(t, r.pass(t, time.Minute), "Running", "Paused", "", map[string]string{requestName: "Eviction"}, false)
		r.want(t, r.pass(t, time.Hour), "Failed", "Timeout", "", withdrawn, false)
	})
	t.Run("no responder is left", func(t *testing.T) {
		r := newRequester(t)
		r.work(t)
		r.respond(map[string]any{"observedGeneration": int64(1), "conditions": []any{map[string]any{"type": "Failed", "status": "True", "reason": "NoFurtherResponder"}}})
		r.want(t, r.pass(t, 5*time.Second), "Failed", "FailedEvict", "NoFurtherResponder", withdrawn, false)
	})
	t.Run("no controller observes it", func(t *testing.T) {
		r := newRequester(t)
		r.work(t)
		job := r.pass(t, time.Minute)
		r.want(t, job, "Running", "Evicting", "the eviction API is used: no controller observed EvictionRequest koord-job within 1m0s", withdrawn, true)
	})
}

func TestAnAnswerThatIsLostMakesNoSecondRequest(t *testing.T) {
	r := newRequester(t)
	r.api.change(func() { r.api.loseAnswer = true })
	r.work(t)
	job := r.pass(t, 5*time.Second)
	r.want(t, job, "Running", "Evicting", "waiting for a controller to observe", map[string]string{requestName: "Eviction"}, false)
	if got := migration.Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionEvictionRequest); got.Reason != "Requested" {
		t.Errorf("condition %+v, want Requested", got)
	}
}

func TestARequestOfAnotherRequesterIsLeftAlone(t *testing.T) {
	r := newRequester(t)
	theirs := migration.NewEvictionRequest(&schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{UID: "job"}, Spec: schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "default", Name: "web", UID: "other"}},
	})
	_ = unstructured.SetNestedField(theirs.Object, "example.com/drainer", "spec", "requester") // spec is a map
	r.api.change(func() { r.api.requests[requestName] = theirs })
	r.want(t, r.work(t), "Failed", "FailedEvict", "another requester", map[string]string{requestName: "Eviction"}, false)
}

func TestWithoutTheAPIAPodIsEvictedByTheEvictionAPI(t *testing.T) {
	tests := map[string]struct {
		change      func(*lifecycleAPI)
		wantMessage string
	}{
		"the API is not served":   {change: func(a *lifecycleAPI) { a.served = false }, wantMessage: migration.EvictionRequestsNotServed},
		"the API may not be used": {change: func(a *lifecycleAPI) { a.forbid = true }, wantMessage: "forbidden"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRequester(t)
			r.api.change(func() { test.change(r.api) })
			job := r.work(t)
			r.want(t, job, "Running", "Evicting", "the eviction API is used: ", map[string]string{}, true)
			if !strings.Contains(job.Status.Message, test.wantMessage) {
				t.Errorf("message %q, want %q in it", job.Status.Message, test.wantMessage)
			}
		})
	}
}

func TestAnUpgradeOfTheAPIServerIsNoticed(t *testing.T) {
	r := newRequester(t)
	served := func(want bool, wantDiscovered int) {
		t.Helper()
		got, err := r.requests.isServed(t.Context())
		if err != nil || got != want || r.api.discovered != wantDiscovered {
			t.Errorf("served %t after %d requests, error %v; want %t after %d", got, r.api.discovered, err, want, wantDiscovered)
		}
	}
	r.api.served = false
	served(false, 1)
	r.api.change(func() { r.api.served = true })
	served(false, 1) // within the minute
	r.clock.SetTime(r.clock.Now().Add(discoveryInterval))
	served(true, 2)
	r.api.change(func() { r.api.served = false })
	job := &schedulingv1alpha1.PodMigrationJob{ObjectMeta: metav1.ObjectMeta{UID: "job"}, Spec: schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "default"}}}
	if _, refusal, err := r.requests.read(t.Context(), job); err != nil || refusal != migration.EvictionRequestsNotServed {
		t.Errorf("refusal %q, error %v; want that it is not served", refusal, err)
	}
	served(false, 3) // what is missing is asked for at once
}
