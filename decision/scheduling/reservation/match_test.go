package reservation

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func TestOwners(t *testing.T) {
	pod := newPod("web-1")
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "rs", Controller: new(true)}}
	type owner = schedulingv1alpha1.ReservationOwner
	controller := func(namespace string, reference metav1.OwnerReference) owner {
		return owner{Controller: &schedulingv1alpha1.ReservationControllerReference{OwnerReference: reference, Namespace: namespace}}
	}
	selector := func(labels map[string]string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: labels}
	}
	tests := map[string]struct {
		owners []owner
		want   bool
	}{
		"nobody":                               {},
		"an entry that says nothing":           {owners: []owner{{}}},
		"the pod by name":                      {owners: []owner{{Object: &corev1.ObjectReference{Namespace: "default", Name: "web-1"}}}, want: true},
		"a pod of that name elsewhere":         {owners: []owner{{Object: &corev1.ObjectReference{Namespace: "other", Name: "web-1"}}}},
		"the pod by UID":                       {owners: []owner{{Object: &corev1.ObjectReference{UID: "web-1"}}}, want: true},
		"a pod that was replaced by another":   {owners: []owner{{Object: &corev1.ObjectReference{Namespace: "default", Name: "web-1", UID: "before"}}}},
		"the controller":                       {owners: []owner{controller("default", metav1.OwnerReference{Kind: "ReplicaSet", Name: "web", Controller: new(true)})}, want: true},
		"the controller, in another namespace": {owners: []owner{controller("other", metav1.OwnerReference{Name: "web"})}},
		"an owner that does not control":       {owners: []owner{controller("", metav1.OwnerReference{Name: "web", Controller: new(false)})}},
		"a label":                              {owners: []owner{{LabelSelector: selector(map[string]string{"app": "web"})}}, want: true},
		"another label":                        {owners: []owner{{LabelSelector: selector(map[string]string{"app": "db"})}}},
		"everything":                           {owners: []owner{{LabelSelector: &metav1.LabelSelector{}}}, want: true},
		"one entry of two":                     {owners: []owner{{LabelSelector: selector(map[string]string{"app": "db"})}, {Object: &corev1.ObjectReference{Name: "web-1"}}}, want: true},
		"one entry needs all of it": {owners: []owner{{
			LabelSelector: selector(map[string]string{"app": "web"}), Object: &corev1.ObjectReference{Name: "web-2"},
		}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := newObject("r", "cpu", "1")
			object.Spec.Owners = test.owners
			compiled := compile(t, object)
			if got := compiled.MatchesOwner(pod); got != test.want {
				t.Errorf("matches %v, want %v", got, test.want)
			}
			checkFound(t, compiled, pod)
		})
	}
}

// checkFound fails when the index would miss a reservation whose owner the pod is.
func checkFound(t interface {
	Helper()
	Fatalf(string, ...any)
}, r *Reservation, pod *corev1.Pod) {
	t.Helper()
	if !r.MatchesOwner(pod) {
		return
	}
	found := false
	KeysOf(pod, func(key Key) { found = found || slices.Contains(r.Keys(), key) })
	if !found {
		t.Fatalf("keys %v do not lead to pod %s", r.Keys(), pod.Name)
	}
}

// TestIndexMissesNobody holds the index against the owners for random selectors.
func TestIndexMissesNobody(t *testing.T) {
	operators := []metav1.LabelSelectorOperator{metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist}
	rapid.Check(t, func(t *rapid.T) {
		names, values := rapid.SampledFrom([]string{"a", "b"}), rapid.SampledFrom([]string{"1", "2", "3"})
		selector := &metav1.LabelSelector{MatchLabels: rapid.MapOfN(names, values, 0, 2).Draw(t, "labels")}
		for range rapid.IntRange(0, 2).Draw(t, "requirements") {
			requirement := metav1.LabelSelectorRequirement{Key: names.Draw(t, "key"), Operator: rapid.SampledFrom(operators).Draw(t, "operator")}
			if requirement.Operator == metav1.LabelSelectorOpIn || requirement.Operator == metav1.LabelSelectorOpNotIn {
				requirement.Values = rapid.SliceOfN(values, 1, 3).Draw(t, "values")
			}
			selector.MatchExpressions = append(selector.MatchExpressions, requirement)
		}
		object := newObject("r")
		object.Spec.Owners = []schedulingv1alpha1.ReservationOwner{{LabelSelector: selector}}
		compiled, problems := Compile(object)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		pod := newPod("p")
		pod.Labels = rapid.MapOfN(names, values, 0, 2).Draw(t, "pod")
		checkFound(t, compiled, pod)
	})
}

func TestMatch(t *testing.T) {
	affinity := func(json string) map[string]string {
		return map[string]string{extension.AnnotationReservationAffinity: json}
	}
	tainted := func(object *schedulingv1alpha1.Reservation) {
		object.Spec.Taints = []corev1.Taint{{Key: "migrate", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}
	}
	tests := map[string]struct {
		annotations map[string]string
		change      func(*schedulingv1alpha1.Reservation)
		users       int
		want        finding.Code
		wantReason  string
	}{
		"an open reservation":            {},
		"one that was used and is again": {users: 3},
		"one that is used once and was": {users: 1, change: func(object *schedulingv1alpha1.Reservation) { object.Spec.AllocateOnce = nil },
			want: finding.ReservationConsumed, wantReason: "reservation has allocateOnce enabled and has already been allocated"},
		"a closed one": {change: func(object *schedulingv1alpha1.Reservation) { object.Spec.Unschedulable = true },
			want: finding.ReservationUnschedulable, wantReason: "is unschedulable"},
		"one that is being deleted": {change: func(object *schedulingv1alpha1.Reservation) { object.DeletionTimestamp = &metav1.Time{Time: now} },
			want: finding.ReservationUnschedulable},
		"a tainted one": {change: tainted, want: finding.ReservationTainted, wantReason: "had untolerated taint {migrate: yes}"},
		"a tainted one, tolerated": {change: tainted,
			annotations: affinity(`{"tolerations":[{"key":"migrate","operator":"Equal","value":"yes","effect":"NoSchedule"}]}`)},
		"a taint of another value": {change: tainted, annotations: affinity(`{"tolerations":[{"key":"migrate","value":"no"}]}`), want: finding.ReservationTainted},
		"a tolerated key":          {change: tainted, annotations: affinity(`{"tolerations":[{"key":"migrate","operator":"Exists"}]}`)},
		"the one that is named":    {annotations: affinity(`{"name":"r"}`)},
		"a name overrides what closes the reservation": {annotations: affinity(`{"name":"r"}`),
			change: func(object *schedulingv1alpha1.Reservation) { object.Spec.Unschedulable = true }},
		"another that is named": {annotations: affinity(`{"name":"s"}`), want: finding.ReservationNameMismatch, wantReason: "didn't match the requested reservation name"},
		"labels that it has": {annotations: affinity(`{"reservationSelector":{"pool":"a"}}`),
			change: func(object *schedulingv1alpha1.Reservation) { object.Labels["pool"] = "a" }},
		"labels that it has not": {annotations: affinity(`{"reservationSelector":{"pool":"a"}}`), want: finding.ReservationAffinityUnmatched, wantReason: "didn't match affinity rules"},
		"a term that selects its name": {annotations: affinity(
			`{"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["r"]}]}]}}`)},
		"one of two terms": {annotations: affinity(
			`{"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[{"matchExpressions":[{"key":"pool","operator":"Exists"}]},{"matchExpressions":[{"key":"pool","operator":"DoesNotExist"}]}]}}`)},
		"an empty term selects nothing": {annotations: affinity(`{"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[{}]}}`), want: finding.ReservationAffinityUnmatched},
		"the same size":                 {annotations: map[string]string{extension.AnnotationExactMatchReservation: `{"resourceNames":["cpu","nvidia.com/gpu"]}`}},
		"another size": {annotations: map[string]string{extension.AnnotationExactMatchReservation: `{"resourceNames":["memory"]}`}, want: finding.ReservationNotExact,
			wantReason: "is not exact matched"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod, object := newPod("p", "cpu", "2", "memory", "1Gi"), newObject("r", "cpu", "2", "memory", "4Gi")
			pod.Annotations = test.annotations
			if test.change != nil {
				test.change(object)
			}
			got := Match(demandOf(t, pod), compile(t, object), Use{Users: test.users})
			if got.Code != test.want || test.wantReason != "" && got.Reason != test.wantReason {
				t.Errorf("refusal %+v, want %s %q", got, test.want, test.wantReason)
			}
		})
	}
}

func TestDemandsThatCannotBeReadAreErrors(t *testing.T) {
	for name, annotations := range map[string]map[string]string{
		"an affinity that is no JSON":     {extension.AnnotationReservationAffinity: `{`},
		"an operator that does not exist": {extension.AnnotationReservationAffinity: `{"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Like"}]}]}}`},
		"an exact match that is a list":   {extension.AnnotationExactMatchReservation: `[]`},
	} {
		pod := newPod("p")
		pod.Annotations = annotations
		demand, err := NewDemand(pod)
		if err == nil {
			t.Errorf("%s: demand %+v, want an error", name, demand)
			continue
		}
		if got := CodeOf(err.Error()); got != finding.ReservationWishInvalid {
			t.Errorf("%s: code %q of %q", name, got, err)
		}
	}
}

func TestCodesOfTexts(t *testing.T) {
	for text, want := range map[string]finding.Code{
		ReasonAffinity: finding.ReservationAffinityUnmatched, ReasonUnfit: finding.ReservationUnfit, ReasonNodeName: finding.ReservationNodeMismatch,
		ReasonPolicyConflict: finding.ReservationPolicyConflict, ReasonInactive: finding.ReservationInactive,
		ReasonInactive + ": " + ReasonAllocatedOnce: finding.ReservationInactive,
		"Insufficient cpu":                          "",
		"":                                          "",
	} {
		if got := CodeOf(text); got != want {
			t.Errorf("code %q of %q, want %q", got, text, want)
		}
	}
}

func FuzzNewDemand(f *testing.F) {
	f.Add(`{"name":"r","tolerations":[{"operator":"Gt","value":"1"}]}`, `{"resourceNames":["cpu"]}`)
	f.Add(`{"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["r"]}]}]}}`, ``)
	object := newObject("r", "cpu", "2")
	object.Spec.Taints = []corev1.Taint{{Key: "a", Value: "2", Effect: corev1.TaintEffectNoSchedule}}
	compiled, _ := Compile(object)
	f.Fuzz(func(_ *testing.T, affinity, exact string) {
		pod := newPod("p", "cpu", "1")
		pod.Annotations = map[string]string{extension.AnnotationReservationAffinity: affinity, extension.AnnotationExactMatchReservation: exact}
		if demand, err := NewDemand(pod); err == nil {
			Match(demand, compiled, Use{})
		}
	})
}

func TestCompileKeepsWhatCanBeRead(t *testing.T) {
	object := newObject("r", "cpu", "1")
	object.Labels[extension.LabelReservationOrder] = "first"
	object.Spec.Owners = append(object.Spec.Owners, schedulingv1alpha1.ReservationOwner{LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}},
	}})
	compiled, problems := Compile(object)
	if len(problems) != 2 || len(compiled.Owners) != 1 || compiled.Order != 0 {
		t.Errorf("%d owners, order %d, problems %v", len(compiled.Owners), compiled.Order, problems)
	}
	if diff := cmp.Diff(Amounts{"cpu": 1000}, compiled.Allocatable); diff != "" {
		t.Error(diff)
	}
}
