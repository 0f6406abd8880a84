package elasticworkers

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/workers"
)

func TestOneWorkerFirstThenAsManyAsFit(t *testing.T) {
	r := newRig(t, nil)
	r.pass()
	if got := r.object().Status; r.size() != 1 || got.LimitedBy != workers.FirstWorker {
		t.Errorf("%d workers by %s, want 1 by %s", r.size(), got.LimitedBy, workers.FirstWorker)
	}
	r.pass()
	status := r.object().Status
	if r.size() != 4 || status.LimitedBy != workers.FitsNow || status.CurrentReplicas != 1 || status.DesiredReplicas != 4 {
		t.Errorf("%d workers, status %+v", r.size(), status)
	}
	if len(status.WorkerRequests) != 1 || len(status.Terms) == 0 || len(status.Nodes) != 1 || !meta.IsStatusConditionTrue(status.Conditions, schedulingv1alpha1.ElasticWorkersActive) {
		t.Errorf("the status lacks something: %+v", status)
	}
}

// TestWorkersAreDrainedBeforeTheyGo: asked once, kept while they are busy, and taken away when they say that they have finished; with a
// manager that is killed after each pass.
func TestWorkersAreDrainedBeforeTheyGo(t *testing.T) {
	// Workers are asked side by side.
	var finished atomic.Bool
	var mutex sync.Mutex
	r, bodies := newRig(t, nil).grown(), []string{}
	r.engine = func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/done" {
			if finished.Load() {
				_, _ = io.WriteString(w, "yes\n")
			}
			return
		}
		body, _ := io.ReadAll(q.Body)
		mutex.Lock()
		defer mutex.Unlock()
		bodies = append(bodies, q.Method+" "+q.URL.Path+" "+string(body)+" as "+q.Header.Get("X-Trino-User"))
	}
	r.offer("2000")
	for range 6 {
		r.restart()
		r.pass()
	}
	if want := `PUT /v1/info/state "SHUTTING_DOWN" as koordinator`; r.size() != 4 || !slices.Equal(bodies, []string{want, want}) {
		t.Fatalf("%d workers, asked %q, want 4 and %q twice", r.size(), bodies, want)
	}
	status := r.object().Status
	if len(status.Draining) != 2 || status.Draining[0].Message != `answers ""` || status.DesiredReplicas != 2 {
		t.Errorf("status %+v", status)
	}
	drained := status.Draining
	finished.Store(true)
	for range 3 {
		r.restart()
		r.pass()
	}
	if pods := r.pods(); r.size() != 2 || len(pods) != 2 || slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Name == drained[0].Name || p.Name == drained[1].Name }) {
		t.Errorf("%d workers, %d pods; want those that drained to be gone", r.size(), len(pods))
	}
}

// TestDrainsThatGoWrongEndAtTheDeadline: an engine that refuses, hangs, redirects, answers without end, or never finishes.
func TestDrainsThatGoWrongEndAtTheDeadline(t *testing.T) {
	tests := map[string]struct {
		engine      http.HandlerFunc
		wantMessage string
	}{
		"it refuses":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, `answers "403 Forbidden"`},
		"it redirects": {func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "/done", http.StatusFound) }, `answers "302 Found"`},
		"it hangs": {func(_ http.ResponseWriter, q *http.Request) {
			_, _ = io.Copy(io.Discard, q.Body) // so that the end of the connection is seen
			<-q.Context().Done()
		}, "Client.Timeout exceeded"},
		"it answers without end": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, mostAnswer+1)) }, "is longer than 65536 bytes"},
		"it never finishes":      {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "no") }, `answers "no"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil).grown()
			r.engine = tc.engine
			r.offer("3000")
			for range 4 {
				r.pass()
			}
			status := r.object().Status
			if len(status.Draining) != 1 || !strings.Contains(status.Draining[0].Message, tc.wantMessage) || r.size() != 4 {
				t.Fatalf("before the deadline: %d workers, %+v, want 4 and a message with %q", r.size(), status.Draining, tc.wantMessage)
			}
			r.clock.SetTime(r.clock.Now().Add(time.Minute))
			r.pass()
			if r.size() != 3 {
				t.Errorf("after the deadline: %d workers, want 3", r.size())
			}
			if !eventWith(r, "KOORD1704") {
				t.Error("no event tells of the deadline")
			}
		})
	}
}

// TestADrainDoesNotWaitForAClockThatWasAhead: the manager that chose the worker had a clock an hour ahead of that of the next one.
func TestADrainDoesNotWaitForAClockThatWasAhead(t *testing.T) {
	r := newRig(t, nil).grown()
	r.engine = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "no") }
	r.clock.SetTime(r.clock.Now().Add(time.Hour))
	r.offer("3000")
	r.pass()
	r.clock.SetTime(r.clock.Now().Add(-time.Hour))
	r.restart()
	r.pass()
	if draining := r.object().Status.Draining; len(draining) != 1 || r.size() != 4 {
		t.Fatalf("after the change of managers: %d workers, %+v, want 4 and one that drains", r.size(), draining)
	}
	r.clock.SetTime(r.clock.Now().Add(time.Minute))
	r.pass()
	if r.size() != 3 {
		t.Errorf("a minute later: %d workers, want 3", r.size())
	}
}

func eventWith(r *rig, text string) bool {
	for {
		select {
		case event := <-r.recorder.Events:
			if strings.Contains(event, text) {
				return true
			}
		default:
			return false
		}
	}
}

func TestAWorkerHasFinishedWhenAContainerEnds(t *testing.T) {
	r := newRig(t, func(w *schedulingv1alpha1.ElasticWorkers) { w.Spec.Drain.HTTP.Done = nil }).grown()
	r.offer("3000")
	r.pass()
	r.pass()
	if r.size() != 4 {
		t.Fatalf("%d workers while none has ended, want 4", r.size())
	}
	for _, pod := range r.pods() {
		if pod.Annotations[schedulingv1alpha1.AnnotationWorkerDrain] == "" {
			continue
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(r.clock.Now())}}}}
		if err := r.client.Status().Update(t.Context(), &pod); err != nil {
			t.Fatal(err)
		}
	}
	r.pass()
	if r.size() != 3 {
		t.Errorf("%d workers, want 3", r.size())
	}
}

// TestAllBatchGoesInOneStep: down to the minimum, without a drain.
func TestAllBatchGoesInOneStep(t *testing.T) {
	r := newRig(t, func(w *schedulingv1alpha1.ElasticWorkers) { w.Spec.Drain = nil }).grown()
	r.offer("0")
	r.pass()
	if r.size() != 4 {
		t.Errorf("%d workers before the ReplicaSet can know which go, want 4", r.size())
	}
	r.pass()
	if status := r.object().Status; r.size() != 1 || status.LimitedBy != workers.MinReplicas {
		t.Errorf("%d workers, limited by %s; want 1 by %s", r.size(), status.LimitedBy, workers.MinReplicas)
	}
	r.pass()
	if r.size() != 1 || len(r.pods()) != 1 {
		t.Errorf("%d workers later, want 1", r.size())
	}
}

func TestALostNodeIsNotWaitedFor(t *testing.T) {
	r := newRig(t, nil).grown()
	node := batchNode("4000")
	if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(node), node); err != nil {
		t.Fatal(err)
	}
	node.Status.Conditions[0].Status = corev1.ConditionUnknown
	if err := r.client.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	r.asked.Store(0)
	r.pass()
	r.pass()
	if r.size() != 1 || r.asked.Load() != 0 {
		t.Errorf("%d workers, %d requests to a lost node; want 1 and none", r.size(), r.asked.Load())
	}
}

// TestWorkersThatDrainedAreReplacedWhenMoreAreWanted: they work no more.
func TestWorkersThatDrainedAreReplacedWhenMoreAreWanted(t *testing.T) {
	var finished atomic.Bool
	r := newRig(t, nil).grown()
	r.engine = func(w http.ResponseWriter, _ *http.Request) {
		if finished.Load() {
			_, _ = io.WriteString(w, "yes")
		}
	}
	r.offer("3000")
	r.pass()
	r.pass()
	r.offer("4000")
	finished.Store(true)
	r.pass()
	r.pass()
	if len(r.evicted) != 1 || r.size() != 4 {
		t.Errorf("evicted %q of %d workers, want one of 4", r.evicted, r.size())
	}
	for _, pod := range r.pods() {
		if markOf(&pod, r.object()) != nil {
			t.Errorf("worker %s still drains", pod.Name)
		}
	}
}

func TestPodDisruptionBudgetsHoldForEvictions(t *testing.T) {
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: "trino"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "trino"}}}}
	r := newRig(t, func(w *schedulingv1alpha1.ElasticWorkers) {
		w.Spec.Drain = &schedulingv1alpha1.ElasticWorkersDrain{Evict: &schedulingv1alpha1.ElasticWorkersDrainEvict{}}
	}, budget).grown()
	r.offer("1000")
	r.pass()
	r.pass()
	if status := r.object().Status; r.size() != 4 || status.LimitedBy != workers.Budget || !strings.Contains(status.Next[0].Reason, "PodDisruptionBudget trino keeps it") {
		t.Fatalf("%d workers: %+v", r.size(), status)
	}
	budget.Status.DisruptionsAllowed = 1
	if err := r.client.Status().Update(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	r.pass()
	budget.Status.DisruptionsAllowed = 0
	if err := r.client.Status().Update(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	r.pass()
	if r.size() != 3 {
		t.Errorf("%d workers, want the one that the budget allows to be gone", r.size())
	}
}

// TestTargetsThatAreNotSized: each has its condition, its event and its size as it was.
func TestTargetsThatAreNotSized(t *testing.T) {
	older := func(w *schedulingv1alpha1.ElasticWorkers) {
		w.Name, w.UID, w.CreationTimestamp = "older", "older", metav1.NewTime(noon.Add(-time.Hour))
	}
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: "by-load"}}
	autoscaler.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1beta2", Kind: "Deployment", Name: "trino"}
	tests := map[string]struct {
		edit                               func(*schedulingv1alpha1.ElasticWorkers)
		objects                            func(*rig) []client.Object
		refuse                             error
		wantReason, wantMessage, wantEvent string
	}{
		"it is suspended": {
			edit: func(w *schedulingv1alpha1.ElasticWorkers) { w.Spec.Suspend = true }, wantReason: "Suspended", wantMessage: "spec.suspend is true",
		},
		"a HorizontalPodAutoscaler scales it": {
			objects:    func(*rig) []client.Object { return []client.Object{autoscaler} },
			wantReason: "TargetAutoscaled", wantMessage: `is scaled by horizontalpodautoscaler "by-load"`, wantEvent: "KOORD1702",
		},
		"older ElasticWorkers size it": {
			objects:    func(r *rig) []client.Object { return []client.Object{r.workers("older", older)} },
			wantReason: "TargetShared", wantMessage: `is sized by elasticworkers "older", which is older`, wantEvent: "KOORD1701",
		},
		"its kind is unknown": {
			edit:       func(w *schedulingv1alpha1.ElasticWorkers) { w.Spec.TargetRef.Kind = "Trino" },
			wantReason: "TargetUnusable", wantMessage: `the server doesn't have a resource type "Trino"`, wantEvent: "KOORD1703",
		},
		"it is gone": {
			edit:       func(w *schedulingv1alpha1.ElasticWorkers) { w.Spec.TargetRef.Name = "gone" },
			wantReason: "TargetUnusable", wantMessage: `Deployment "gone" not found`, wantEvent: "KOORD1703",
		},
		"it has no scale subresource": {
			refuse:     apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{}, "", "the server could not find the requested resource", 0, true),
			wantReason: "TargetUnusable", wantMessage: `Deployment "trino" has no scale subresource`, wantEvent: "KOORD1703",
		},
		"it may not be scaled": {
			refuse:     apierrors.NewForbidden(schema.GroupResource{Resource: "deployments/scale"}, "trino", errors.New("no")),
			wantReason: "TargetUnusable", wantMessage: `koord-manager may not scale Deployment "trino"`, wantEvent: "KOORD1703",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.edit)
			r.refuse = tc.refuse
			if tc.objects != nil {
				for _, object := range tc.objects(r) {
					if err := r.client.Create(t.Context(), object); err != nil {
						t.Fatal(err)
					}
				}
			}
			r.pass()
			condition := meta.FindStatusCondition(r.object().Status.Conditions, schedulingv1alpha1.ElasticWorkersActive)
			if condition == nil || condition.Reason != tc.wantReason || !strings.Contains(condition.Message, tc.wantMessage) {
				t.Errorf("condition %+v, want %s with %q", condition, tc.wantReason, tc.wantMessage)
			}
			if tc.wantEvent != "" && !eventWith(r, tc.wantEvent) {
				t.Errorf("no event with %s", tc.wantEvent)
			}
			r.pass()
			if tc.wantEvent != "" && eventWith(r, tc.wantEvent) {
				t.Error("the event is repeated though nothing changed")
			}
		})
	}
}

func TestOnlyPodsAreAsked(t *testing.T) {
	tests := map[string]struct {
		pod  corev1.Pod
		want string
	}{
		"this machine":                    {corev1.Pod{Status: corev1.PodStatus{PodIP: "127.0.0.1"}}, "127.0.0.1 cannot be the address of a pod"},
		"this machine, as IPv6":           {corev1.Pod{Status: corev1.PodStatus{PodIP: "::ffff:127.0.0.1"}}, "cannot be the address of a pod"},
		"the metadata service of a cloud": {corev1.Pod{Status: corev1.PodStatus{PodIP: "169.254.169.254"}}, "cannot be the address of a pod"},
		"a pod on the host network":       {corev1.Pod{Spec: corev1.PodSpec{HostNetwork: true}, Status: corev1.PodStatus{PodIP: "10.0.0.1"}}, "the pod is on the host network"},
		"no address":                      {corev1.Pod{}, "read the address of the pod"},
		"a pod":                           {corev1.Pod{Status: corev1.PodStatus{PodIP: "10.0.0.1"}}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := newAsker(nil, nil).addressOf(&tc.pod)
			if got := errorText(err); !strings.Contains(got, tc.want) || (tc.want == "") != (err == nil) {
				t.Errorf("error %q, want %q", got, tc.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// FuzzMarks: whatever is in the annotation, a mark is whole or none.
func FuzzMarks(f *testing.F) {
	f.Add(`{"workers":"trino","since":"2026-07-24T12:00:00Z","deadline":"2026-07-24T12:10:00Z"}`)
	f.Add(`{"workers":"other"}`)
	f.Add(`[]`)
	object := &schedulingv1alpha1.ElasticWorkers{ObjectMeta: metav1.ObjectMeta{Name: "trino"}}
	f.Fuzz(func(t *testing.T, text string) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{schedulingv1alpha1.AnnotationWorkerDrain: text}}}
		if got := markOf(pod, object); got != nil && (got.Workers != "trino" || got.Since.IsZero() || got.Deadline.IsZero()) {
			t.Errorf("%q is taken as %s", text, cmp.Diff(mark{}, *got))
		}
	})
}
