package objects

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

func TestGangsOfADrainSayWhetherEnoughMembersRemain(t *testing.T) {
	member := func(name, on string, edits ...func(*corev1.Pod)) *corev1.Pod {
		return web(name, on, append([]func(*corev1.Pod){labelled(extension.LabelPodGroup, "train")}, edits...)...)
	}
	three := []*corev1.Pod{member("m0", "a"), member("m1", "b"), member("m2", "b")}
	needs := func(least int32) []schedulingsigsv1alpha1.PodGroup {
		return []schedulingsigsv1alpha1.PodGroup{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "train"}, Spec: schedulingsigsv1alpha1.PodGroupSpec{MinMember: least}}}
	}
	foreign := needs(3)
	foreign[0].Namespace = "other"
	tests := map[string]struct {
		pods   []*corev1.Pod
		groups []schedulingsigsv1alpha1.PodGroup
		placed []string
		want   []string
	}{
		"enough keep running":             {three, needs(2), []string{"m0=c"}, []string{"train: minMember 2 keep running"}},
		"too few run for a while":         {three, needs(3), []string{"m0=c"}, []string{"train: fewer than minMember 3 run until the replacements of 1 member are ready"}},
		"too few remain":                  {three, needs(3), []string{"m0="}, []string{"train: 1 of 3 members get no node: fewer than minMember 3 remain"}},
		"enough remain without a node":    {three, needs(2), []string{"m0="}, []string{"train: minMember 2 keep running"}},
		"no PodGroup":                     {three, nil, []string{"m0=c"}, []string{"train: 1 of 3 members leave; how many it needs is unknown"}},
		"a PodGroup of another namespace": {three, foreign, []string{"m0=c"}, []string{"train: 1 of 3 members leave; how many it needs is unknown"}},
		"the pod says how many it needs": {
			[]*corev1.Pod{member("m0", "a", annotated(extension.AnnotationGangMinAvailable, "1"))}, nil, []string{"m0=c"},
			[]string{"train: fewer than minMember 1 run until the replacements of 1 member are ready"},
		},
		"the PodGroup wins over the pod": {
			[]*corev1.Pod{member("m0", "a", annotated(extension.AnnotationGangMinAvailable, "1"))}, needs(5), []string{"m0="},
			[]string{"train: 1 of 1 members get no node: fewer than minMember 5 remain"},
		},
		"a number that is none": {
			[]*corev1.Pod{member("m0", "a", annotated(extension.AnnotationGangMinAvailable, "many"))}, nil, []string{"m0=c"},
			[]string{"train: 1 of 1 members leave; how many it needs is unknown"},
		},
		"members that ended do not count": {
			[]*corev1.Pod{member("m0", "a"), member("m1", "b", inPhase(corev1.PodSucceeded))}, needs(2), []string{"m0=c"},
			[]string{"train: fewer than minMember 2 run already: 1 member"},
		},
		"a gang on other nodes":         {[]*corev1.Pod{member("m1", "b")}, needs(1), nil, nil},
		"members that do not come back": {[]*corev1.Pod{member("m0", "a", bare)}, needs(1), nil, nil},
		"gangs of two namespaces, in order": {
			[]*corev1.Pod{member("m0", "a"), member("m0", "a", inNamespace("bank"))}, needs(1), []string{"m0=c"},
			[]string{"train: 1 of 1 members leave; how many it needs is unknown", "train: fewer than minMember 1 run until the replacements of 1 member are ready"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := drainOfA(tc.pods...)
			in.Groups = tc.groups
			var got []string
			for _, g := range NewDrain(in).Answer(placedOn(tc.placed...)).Gangs {
				got = append(got, g.Name+": "+g.Message)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("gangs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuotasOfADrainSumUpTheirPods(t *testing.T) {
	in := drainOfA(
		web("w0", "a"), web("w1", "a", labelled(extension.LabelQuotaName, "ads")), web("w2", "a"), web("stays", "b"),
		web("held", "a", labelled("app", "held")), web("lone", "a", inNamespace("elsewhere")),
	)
	in.Budgets = append(in.Budgets, budgetOf("held", 0))
	in.Quotas = append(in.Quotas, quotaUsing("shop", "shop", "12", `{"cpu":"8","memory":"1Gi"}`), quotaUsing("ads", "marketing", "1", `{"cpu":`))
	var got []string
	for _, q := range NewDrain(in).Answer(placedOn("w0=b", "w1=", "w2=c")).Quotas {
		line := fmt.Sprintf("%s leaving %d unplaced %d over %v", q.Name, q.Leaving, q.Unplaced, q.Overused)
		for _, r := range q.Requests {
			line += fmt.Sprintf(" %s %d", r.Resource, r.Amount)
		}
		got = append(got, line)
	}
	want := []string{"ads leaving 1 unplaced 1 over [] cpu 1000 memory 1073741824", "shop leaving 2 unplaced 0 over [cpu] cpu 2000 memory 2147483648"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("quotas (-want +got):\n%s", diff)
	}
}

func TestReservationsOfADrainCountTheirPods(t *testing.T) {
	holding := func(name, uid string) func(*corev1.Pod) {
		return annotated(extension.AnnotationReservationAllocated, fmt.Sprintf(`{"name":%q,"uid":%q}`, name, uid))
	}
	reservation := func(name, on string, phase schedulingv1alpha1.ReservationPhase) schedulingv1alpha1.Reservation {
		r := schedulingv1alpha1.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}}
		r.Status.Phase, r.Status.NodeName, r.Status.Allocatable = phase, on, resources("cpu", "4", "memory", "0")
		return r
	}
	in := drainOfA(
		web("w0", "a", holding("night", "uid-night")), web("w1", "a", holding("night", "uid-of-an-older-one")), web("w2", "a", annotated(extension.AnnotationReservationAllocated, "{")),
		web("w3", "a", holding("night", "uid-night"), labelled("app", "held")), web("w4", "a"),
	)
	in.Budgets = append(in.Budgets, budgetOf("held", 0))
	in.Reservations = append(in.Reservations,
		reservation("night", "a", schedulingv1alpha1.ReservationAvailable), reservation("day", "a", schedulingv1alpha1.ReservationAvailable),
		reservation("elsewhere", "b", schedulingv1alpha1.ReservationAvailable), reservation("over", "a", schedulingv1alpha1.ReservationSucceeded),
	)
	var got []string
	for _, r := range NewDrain(in).Answer(nil).Reservations {
		line := fmt.Sprintf("%s on %s leaving %d", r.Name, r.Node, r.Leaving)
		for _, a := range r.Reserved {
			line += fmt.Sprintf(" %s %d", a.Resource, a.Amount)
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"day on a leaving 0 cpu 4000", "night on a leaving 1 cpu 4000"}, got); diff != "" {
		t.Errorf("reservations (-want +got):\n%s", diff)
	}
}

func TestBudgetsOfADrainSayWhatPodsWaitFor(t *testing.T) {
	unhealthy := func(b *policyv1.PodDisruptionBudget) { b.Status.CurrentHealthy, b.Status.DesiredHealthy = 1, 2 }
	changed := func(b *policyv1.PodDisruptionBudget) { b.Generation = 2 }
	selectsNothing := func(b *policyv1.PodDisruptionBudget) {
		b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Is"}}}
	}
	tests := map[string]struct {
		budgets []policyv1.PodDisruptionBudget
		placed  string
		want    []string
	}{
		"enough room": {[]policyv1.PodDisruptionBudget{budgetOf("web", 2)}, "b", []string{"web-budget 2 pods, 0 blocked, 1 round: allows all at once"}},
		"one at a time": {
			[]policyv1.PodDisruptionBudget{budgetOf("web", 1)}, "b",
			[]string{"web-budget 2 pods, 0 blocked, 2 rounds: allows 1 at a time: the pods leave in 2 rounds, each once the replacements before are ready"},
		},
		"never": {
			[]policyv1.PodDisruptionBudget{budgetOf("web", 0)}, "b",
			[]string{"web-budget 2 pods, 2 blocked, 0 rounds: PodDisruptionBudget web-budget never allows a disruption: it needs 3 healthy pods of 3"},
		},
		"not until more are ready": {
			[]policyv1.PodDisruptionBudget{budgetOf("web", 0, unhealthy)}, "b",
			[]string{"web-budget 2 pods, 2 blocked, 0 rounds: PodDisruptionBudget web-budget allows no disruption until 2 more of its pods are healthy: it needs 2 of 3 and has 1"},
		},
		"a change is not processed": {[]policyv1.PodDisruptionBudget{budgetOf("web", 2, changed)}, "b", []string{
			"web-budget 2 pods, 2 blocked, 0 rounds: PodDisruptionBudget web-budget was changed, and the change is not processed yet"}},
		"replacements get no node": {[]policyv1.PodDisruptionBudget{budgetOf("web", 1)}, "", []string{
			"web-budget 2 pods, 1 blocked, 1 round: PodDisruptionBudget web-budget allows no more disruption: no node takes replacements of the pods that were evicted before"}},
		"two for one pod": {[]policyv1.PodDisruptionBudget{budgetOf("web", 2), budgetOf("web", 2, named("another"))}, "b", []string{
			"another 2 pods, 2 blocked, 0 rounds: 2 PodDisruptionBudgets select the pod, and the eviction API supports one: another, web-budget"}},
		"a selector that cannot be read": {[]policyv1.PodDisruptionBudget{budgetOf("web", 0, selectsNothing)}, "b", nil},
		"one for other pods":             {[]policyv1.PodDisruptionBudget{budgetOf("db", 0)}, "b", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := drainOfA(web("w0", "a"), web("w1", "a"))
			in.Budgets = tc.budgets
			var got []string
			for _, b := range NewDrain(in).Answer(placedOn("w0="+tc.placed, "w1="+tc.placed)).Budgets {
				got = append(got, fmt.Sprintf("%s %d pods, %d blocked, %s: %s", b.Name, b.Pods, b.Blocked, phrase.Counted(int(b.Rounds), "round"), b.Message))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("budgets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsMissingStaysMissing(t *testing.T) {
	const gangs, volumes, devices = "list podgroups: not permitted; how many members gangs need is unknown", "volumes were not evaluated", "devices were not evaluated"
	in := drainOfA(web("w0", "a"))
	in.Missing = append(make([]string, 0, 4), gangs) // which an answer could append to
	reviewLacking := func(what string) *diagnosticsv1alpha1.PlacementReviewStatus {
		review := placedOn("w0=b")
		review.Incomplete = []string{what}
		return review
	}
	first, second := NewDrain(in).Answer(reviewLacking(volumes)), NewDrain(in).Answer(reviewLacking(devices))
	if diff := cmp.Diff([]string{gangs, volumes}, first.Incomplete); diff != "" {
		t.Errorf("incomplete at first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{gangs, devices}, second.Incomplete); diff != "" {
		t.Errorf("incomplete at second (-want +got):\n%s", diff)
	}
}
