package evacuation

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// answering is a handler over a cluster with a pod that asks for its migration, and other objects.
func answering(t *testing.T, policy string, objects ...client.Object) *Handler {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), schedulingv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", UID: "web-uid", Annotations: map[string]string{extension.AnnotationMigrateOnEviction: policy},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "set", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: "a"},
	}
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(objects, pod)...).
		WithIndex(&schedulingv1alpha1.PodMigrationJob{}, byPod, podsOf).
		WithInterceptorFuncs(interceptor.Funcs{Create: func(ctx context.Context, to client.WithWatch, object client.Object, options ...client.CreateOption) error {
			object.SetCreationTimestamp(metav1.NewTime(now)) // as the API server does
			return to.Create(ctx, object, options...)
		}}).Build()
	return &Handler{
		Decoder: admission.NewDecoder(scheme), Movers: Movers(configuration.DefaultNamespace), Client: cluster, Live: cluster, Clock: clocktesting.NewFakePassiveClock(now),
	}
}

// evict asks for the eviction of a pod as a user.
func evict(t *testing.T, h *Handler, user, pod string, options *metav1.DeleteOptions) admission.Response {
	t.Helper()
	raw, err := json.Marshal(&policyv1.Eviction{
		TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: pod}, DeleteOptions: options,
	})
	if err != nil {
		t.Fatal(err)
	}
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, SubResource: "eviction", Namespace: "shop", Name: pod, UserInfo: authenticationv1.UserInfo{Username: user},
	}}
	request.Object.Raw = raw
	return h.Handle(t.Context(), request)
}

func jobsOf(t *testing.T, h *Handler) []schedulingv1alpha1.PodMigrationJob {
	t.Helper()
	var list schedulingv1alpha1.PodMigrationJobList
	if err := h.Client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestAnEvictionStartsAMigration(t *testing.T) {
	h := answering(t, "Required")
	response := evict(t, h, "alice", "web", nil)
	if response.Allowed || response.Result.Code != http.StatusTooManyRequests || !strings.Contains(response.Result.Message, extension.EvictionInBackgroundText) {
		t.Fatalf("allowed %t, status %d: %q; want 429 and the text of evictions in the background", response.Allowed, response.Result.Code, response.Result.Message)
	}
	jobs := jobsOf(t, h)
	if len(jobs) != 1 {
		t.Fatalf("%d jobs, want 1", len(jobs))
	}
	want := schedulingv1alpha1.PodMigrationJobSpec{
		Mode: schedulingv1alpha1.PodMigrationJobModeReservationFirst, TTL: &metav1.Duration{Duration: jobTTL},
		PodRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "web-uid"},
	}
	if diff := cmp.Diff(want, jobs[0].Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	wantAnnotations := map[string]string{
		extension.AnnotationEvictReason: "eviction requested by alice", extension.AnnotationEvictTrigger: "Eviction", extension.AnnotationSourceNode: "a",
	}
	if diff := cmp.Diff(wantAnnotations, jobs[0].Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestEvictionsAtTheSameTimeCreateOneJob(t *testing.T) {
	h := answering(t, "Preferred")
	var evictions sync.WaitGroup
	for range 20 {
		evictions.Go(func() {
			if response := evict(t, h, "alice", "web", nil); response.Allowed || response.Result.Code != http.StatusTooManyRequests {
				t.Errorf("allowed %t, %+v; want 429", response.Allowed, response.Result)
			}
		})
	}
	evictions.Wait()
	if jobs := jobsOf(t, h); len(jobs) != 1 {
		t.Errorf("%d jobs, want 1", len(jobs))
	}
}

func TestEvictionsThatAreLetThrough(t *testing.T) {
	failed := &schedulingv1alpha1.PodMigrationJob{
		ObjectMeta: metav1.ObjectMeta{Name: "before", UID: "before", CreationTimestamp: metav1.NewTime(now.Add(-time.Minute))},
		Spec:       schedulingv1alpha1.PodMigrationJobSpec{PodRef: &corev1.ObjectReference{Namespace: "shop", Name: "web", UID: "web-uid"}},
		Status:     schedulingv1alpha1.PodMigrationJobStatus{Phase: "Failed", Message: "no node"},
	}
	ofAnother := failed.DeepCopy()
	ofAnother.Spec.PodRef.UID = "another"
	for name, test := range map[string]struct {
		policy, user, pod string
		jobs              []client.Object
		wantWarning       string
		wantDenied        bool
	}{
		"of a pod without the annotation":   {user: "alice", pod: "web"},
		"by koord-descheduler":              {policy: "Required", user: "system:serviceaccount:koordinator-system:koord-descheduler", pod: "web"},
		"by a node agent":                   {policy: "Required", user: "system:serviceaccount:koordinator-system:koordlet", pod: "web"},
		"of a pod that is gone":             {policy: "Required", user: "alice", pod: "gone"},
		"after a migration failed":          {policy: "Preferred", user: "alice", pod: "web", jobs: []client.Object{failed}, wantWarning: "KOORD1317"},
		"after that of another pod failed":  {policy: "Preferred", user: "alice", pod: "web", jobs: []client.Object{ofAnother}, wantDenied: true},
		"not by another koord-descheduler":  {policy: "Required", user: "system:serviceaccount:shop:koord-descheduler", pod: "web", wantDenied: true},
		"not after a failure with Required": {policy: "Required", user: "alice", pod: "web", jobs: []client.Object{failed}, wantDenied: true},
	} {
		t.Run(name, func(t *testing.T) {
			response := evict(t, answering(t, test.policy, test.jobs...), test.user, test.pod, nil)
			if response.Allowed == test.wantDenied || !strings.Contains(strings.Join(response.Warnings, "\n"), test.wantWarning) || (test.wantWarning == "") != (len(response.Warnings) == 0) {
				t.Errorf("allowed %t, warnings %q, %+v", response.Allowed, response.Warnings, response.Result)
			}
		})
	}
}

func TestAnEvictionThatIsOnlyTriedCreatesNothing(t *testing.T) {
	h := answering(t, "Required")
	response := evict(t, h, "alice", "web", &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	if response.Allowed || len(jobsOf(t, h)) != 0 {
		t.Errorf("allowed %t, %d jobs; want that it is answered as if, and no job", response.Allowed, len(jobsOf(t, h)))
	}
}
