package softeviction

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

var now = time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)

// requested is a running pod of an hour ago with a request of a minute ago, changed as the options say.
func requested(name string, options ...func(pod *corev1.Pod, request *extension.SoftEvictionSpec)) Pod {
	object := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: types.UID("uid-" + name), ResourceVersion: "7", CreationTimestamp: metav1.NewTime(now.Add(-3 * time.Hour)),
			Annotations: map[string]string{},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	request := &extension.SoftEvictionSpec{Timestamp: new(metav1.NewTime(now.Add(-time.Minute))), Initiator: "koord-descheduler", Reason: "node is overutilized"}
	for _, option := range options {
		option(object, request)
	}
	if object.Annotations[extension.AnnotationSoftEviction] == "" {
		if err := extension.SetSoftEvictionSpec(object, request); err != nil {
			panic(err)
		}
	}
	state := eviction.PodOf(object, nil)
	pod, found := PodOf(object, &state)
	if !found {
		panic("the pod has no request")
	}
	return pod
}

type change = func(pod *corev1.Pod, request *extension.SoftEvictionSpec)

func annotated(key, value string) change {
	return func(pod *corev1.Pod, _ *extension.SoftEvictionSpec) { pod.Annotations[key] = value }
}

func with(options metav1.DeleteOptions) change {
	return func(_ *corev1.Pod, request *extension.SoftEvictionSpec) { request.DeleteOptions = &options }
}

func at(offset time.Duration) change {
	return func(_ *corev1.Pod, request *extension.SoftEvictionSpec) {
		request.Timestamp = new(metav1.NewTime(now.Add(offset)))
	}
}

func TestWhatBecomesOfARequest(t *testing.T) {
	other := types.UID("other")
	tests := map[string]struct {
		pod       Pod
		wantState State
		// wantReason is in the reason.
		wantReason  string
		wantOptions *metav1.DeleteOptions
	}{
		"a request of a minute ago": {requested("a"), Due, "requested by koord-descheduler: node is overutilized", &metav1.DeleteOptions{}},
		"without a timestamp, by nobody": {
			requested("a", func(_ *corev1.Pod, r *extension.SoftEvictionSpec) { *r = extension.SoftEvictionSpec{Reason: "rollout"} }),
			Due, "requested by an unnamed component: rollout", &metav1.DeleteOptions{},
		},
		"with a grace period": {
			requested("a", with(metav1.DeleteOptions{GracePeriodSeconds: new(int64(60)), PropagationPolicy: new(metav1.DeletePropagationForeground)})),
			Due, "requested by", &metav1.DeleteOptions{GracePeriodSeconds: new(int64(60)), PropagationPolicy: new(metav1.DeletePropagationForeground)},
		},
		"at its time, to the second":       {requested("a", at(0)), Due, "requested by", &metav1.DeleteOptions{}},
		"a second before its time":         {requested("a", at(time.Second)), Waiting, "it is to be evicted at 2024-05-01T10:00:01Z", nil},
		"an hour after its time":           {requested("a", at(-time.Hour)), Due, "requested by", &metav1.DeleteOptions{}},
		"more than an hour after its time": {requested("a", at(-time.Hour-time.Second)), Expired, "is more than 1h0m0s old", nil},
		"copied from a pod before": {
			requested("a", at(-2*time.Minute), func(pod *corev1.Pod, _ *extension.SoftEvictionSpec) {
				pod.CreationTimestamp = metav1.NewTime(now.Add(-30 * time.Second))
			}), Ignored, "is older than the pod", nil,
		},
		"by a clock that is behind": {
			requested("a", at(-time.Minute), func(pod *corev1.Pod, _ *extension.SoftEvictionSpec) {
				pod.CreationTimestamp = metav1.NewTime(now.Add(-30 * time.Second))
			}), Due, "requested by", &metav1.DeleteOptions{},
		},
		"for its UID":                      {requested("a", with(metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: new(types.UID("uid-a"))}})), Due, "", &metav1.DeleteOptions{}},
		"for another UID":                  {requested("a", with(metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})), Ignored, `UID "other"`, nil},
		"for an earlier version":           {requested("a", with(metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: new("6")}})), Ignored, `resourceVersion "6"`, nil},
		"as a dry run":                     {requested("a", with(metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})), Ignored, "dry run", nil},
		"with a negative grace period":     {requested("a", with(metav1.DeleteOptions{GracePeriodSeconds: new(int64(-1))})), Ignored, "gracePeriodSeconds -1", nil},
		"that cannot be read":              {requested("a", annotated(extension.AnnotationSoftEviction, "soon")), Ignored, extension.AnnotationSoftEviction, nil},
		"of a pod that is never migrated":  {requested("a", annotated(extension.AnnotationEvictionCost, "2147483647")), Ignored, "eviction-cost is 2147483647", nil},
		"of a pod with another high cost":  {requested("a", annotated(extension.AnnotationEvictionCost, "2147483646")), Due, "", &metav1.DeleteOptions{}},
		"of a pod that names the feature":  {requested("a", annotated(extension.AnnotationPodEvictPolicy, `["SoftEvict"]`)), Due, "", &metav1.DeleteOptions{}},
		"of a pod that names others":       {requested("a", annotated(extension.AnnotationPodEvictPolicy, `["MemoryEvict"]`)), Ignored, "does not name SoftEvict", nil},
		"of a pod whose policy is invalid": {requested("a", annotated(extension.AnnotationPodEvictPolicy, `MemoryEvict`)), Ignored, "does not name SoftEvict", nil},
		"of a static pod":                  {requested("a", annotated("kubernetes.io/config.mirror", "x")), Ignored, "static pod", nil},
		"of a critical pod": {
			requested("a", func(pod *corev1.Pod, _ *extension.SoftEvictionSpec) { pod.Spec.Priority = new(int32(2_000_000_000)) }), Ignored, "critical pod", nil,
		},
		"of a pod that is being deleted": {
			requested("a", func(pod *corev1.Pod, _ *extension.SoftEvictionSpec) {
				pod.DeletionTimestamp = new(metav1.NewTime(now))
			}), Leaving, "being deleted", nil,
		},
		"of a pod that failed": {
			requested("a", func(pod *corev1.Pod, _ *extension.SoftEvictionSpec) { pod.Status.Phase = corev1.PodFailed }), Ignored, "succeeded or failed", nil,
		},
		"of a pod that a budget protects": {func() Pod {
			pod := requested("a")
			pod.Refused = eviction.RefusedBudget
			return pod
		}(), Waiting, "PodDisruptionBudget", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := Decide(Input{Now: now, Pods: []Pod{test.pod}, Budget: eviction.DefaultBudget()}).Requests[0]
			if got.State != test.wantState || !strings.Contains(got.Reason, test.wantReason) {
				t.Errorf("state %q because %q, want %q because %q", got.State, got.Reason, test.wantState, test.wantReason)
			}
			if diff := cmp.Diff(test.wantOptions, got.Options); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHalfOfTheBudgetStaysForANodeThatIsShort(t *testing.T) {
	var pods []Pod
	for i := range 30 {
		pods = append(pods, requested(fmt.Sprintf("pod-%02d", i), at(-time.Duration(i)*time.Minute)))
	}
	evicted := func(count int) []time.Time {
		var out []time.Time
		for range count {
			out = append(out, now.Add(-time.Minute))
		}
		return out
	}
	tests := map[string]struct {
		evicted []time.Time
		taken   int
		budget  *eviction.Budget
		want    int
	}{
		"of one round":                    {want: 5},
		"less what is evicted first":      {taken: 3, want: 2},
		"all of which is evicted first":   {taken: 6, want: 0},
		"of the window":                   {evicted: evicted(8), want: 2},
		"which earlier evictions took":    {evicted: evicted(10), want: 0},
		"and none after many evictions":   {evicted: evicted(60), want: 0},
		"and none without a budget":       {budget: nil, want: 0, evicted: nil, taken: -1},
		"and all when nothing is bounded": {budget: eviction.Unlimited(), want: 30},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			budget := test.budget
			if budget == nil && test.taken >= 0 {
				budget = eviction.DefaultBudget()
				budget.Evicted = test.evicted
			}
			verdict := Decide(Input{Now: now, Pods: pods, Budget: budget, Taken: max(test.taken, 0)})
			victims := verdict.Victims()
			if len(victims) != test.want || len(verdict.Requests) != len(pods) {
				t.Fatalf("%d of %d pods are evicted, want %d of %d", len(victims), len(verdict.Requests), test.want, len(pods))
			}
			if test.want > 0 && victims[0].Pod.Name != "pod-29" {
				t.Errorf("pod %s is evicted first, want the one with the earliest request", victims[0].Pod.Name)
			}
			if last := verdict.Requests[0]; test.want == 0 && (last.State != Waiting || last.Options != nil || !strings.Contains(last.Reason, "budget")) {
				t.Errorf("request %+v, want it to wait for the budget", last)
			}
		})
	}
}

func TestAPodWithoutARequestIsNone(t *testing.T) {
	object := &corev1.Pod{}
	if _, found := PodOf(object, &eviction.Pod{}); found {
		t.Error("a pod without the annotation has a request")
	}
}
