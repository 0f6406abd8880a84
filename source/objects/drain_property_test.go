package objects

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// drawnDrain is any drain of the nodes a and b, with what the scheduler may answer; nil where it does not.
func drawnDrain(t *rapid.T) (*DrainSnapshot, *diagnosticsv1alpha1.PlacementReviewStatus) {
	kinds := map[string]func(*corev1.Pod){
		"plain": func(*corev1.Pod) {}, "daemon": ofController("DaemonSet", "log"), "mirror": mirrored, "bare": bare, "data": withEmptyDir, "unready": unreadyPod,
		"ended": inPhase(corev1.PodFailed), "terminating": terminating, "important": ofPriority(9000), "tolerant": toleratesAll,
		"holding": annotated(extension.AnnotationReservationAllocated, `{"name":"night","uid":""}`), "garbage": annotated(extension.AnnotationReservationAllocated, "{"),
	}
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	in := drainOfA()
	in.Drained = []string{"a", "b"}
	apps := []string{"web", "db", "ads"}
	var pairs []string
	for i := range rapid.IntRange(0, 9).Draw(t, "pods") {
		name := fmt.Sprintf("pod-%d", i)
		p := web(name, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "node"), labelled("app", rapid.SampledFrom(apps).Draw(t, "app")), labelled(extension.LabelPodGroup, "train"))
		kinds[rapid.SampledFrom(sorted(names)).Draw(t, "kind")](p)
		in.Pods = append(in.Pods, *p)
		if to := rapid.SampledFrom([]string{"c", "d", "", "Gone!", "OtherScheduler!", "silence"}).Draw(t, "to"); to != "silence" {
			pairs = append(pairs, name+"="+to)
		}
	}
	for _, app := range apps {
		if allowed := rapid.Int32Range(-1, 2).Draw(t, "allowed"); allowed >= 0 {
			in.Budgets = append(in.Budgets, budgetOf(app, allowed))
		}
	}
	if rapid.Bool().Draw(t, "another") {
		in.Budgets = append(in.Budgets, budgetOf("web", rapid.Int32Range(0, 2).Draw(t, "allowedByAnother"), named("another")))
	}
	in.Quotas = []schedulingsigsv1alpha1.ElasticQuota{quotaUsing("shop", "shop", "9", `{"cpu":"8"}`), quotaUsing("ads", "ads", "9", "{")}
	in.Groups = []schedulingsigsv1alpha1.PodGroup{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "train"}, Spec: schedulingsigsv1alpha1.PodGroupSpec{MinMember: rapid.Int32Range(1, 5).Draw(t, "minMember")}}}
	in.Reservations = []schedulingv1alpha1.Reservation{{ObjectMeta: metav1.ObjectMeta{Name: "night"}}, {ObjectMeta: metav1.ObjectMeta{Name: "day"}}}
	for i := range in.Reservations {
		in.Reservations[i].Status.Phase, in.Reservations[i].Status.NodeName = schedulingv1alpha1.ReservationAvailable, "a"
	}
	in.NoBudgets = rapid.Bool().Draw(t, "noBudgets")
	if rapid.Bool().Draw(t, "silent") {
		return in, nil
	}
	return in, placedOn(pairs...)
}

// said is the number that a sentence gives in front of, or within, some words; 0 where it does not have them.
func said(t *rapid.T, message string, words ...string) int {
	for _, part := range strings.Split(message, "; ") {
		for _, word := range words {
			if !strings.Contains(part, word) {
				continue
			}
			for _, field := range strings.Fields(part) {
				if n, err := strconv.Atoi(field); err == nil {
					return n
				}
			}
			t.Fatalf("no number in %q", part)
		}
	}
	return 0
}

// TestTheNumbersOfADrainAreThoseOfItsPods: the sentence counts the pods that are listed, each once, and the verdict follows from them.
func TestTheNumbersOfADrainAreThoseOfItsPods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, review := drawnDrain(t)
		got := NewDrain(in).Answer(review)
		var evicted, blocked, stays, none, lost, unplaced, unknown, onNodes, arrived int
		for _, p := range got.Pods {
			switch {
			case p.Action == diagnosticsv1alpha1.DrainSkip:
				stays++
			case p.Blocked != "":
				blocked++
			default:
				evicted++
				if p.Place == diagnosticsv1alpha1.DrainPlaceFound {
					arrived++
				}
				if p.Place == diagnosticsv1alpha1.DrainPlaceUnknown {
					unknown++
				}
				if p.Place == diagnosticsv1alpha1.DrainPlaceLost {
					lost++
				}
			}
			if p.Place == diagnosticsv1alpha1.DrainPlaceNone {
				none++
			}
			if (p.Round == 0) != (p.Blocked != "" || p.Action == diagnosticsv1alpha1.DrainSkip) || (p.To != "") != (p.Place == diagnosticsv1alpha1.DrainPlaceFound) {
				t.Errorf("contradictory pod %+v", p)
			}
		}
		for what, counts := range map[string][2]int{
			"evicted": {evicted, said(t, got.Message, " evicted")}, "blocked": {blocked, said(t, got.Message, "blocked by")}, "stay": {stays, said(t, got.Message, " stays", " stay")},
			"get no node": {none, said(t, got.Message, "no node")}, "are lost": {lost, said(t, got.Message, "created again")}, "go somewhere": {unknown, said(t, got.Message, "where ")},
		} {
			if counts[0] != counts[1] {
				t.Errorf("%d pods %s, %d in %q", counts[0], what, counts[1], got.Message)
			}
		}
		if (got.Verdict == diagnosticsv1alpha1.DrainBlocked) != (blocked > 0) {
			t.Errorf("verdict %s with %d pods that are blocked", got.Verdict, blocked)
		}
		if got.Verdict == diagnosticsv1alpha1.DrainCompletes && (none > 0 || unknown > 0) {
			t.Errorf("verdict %s with %d pods without a place and %d unknown", got.Verdict, none, unknown)
		}
		for _, n := range got.Nodes {
			onNodes += int(n.Pods)
		}
		for _, target := range got.Targets {
			arrived -= int(target.PodsAfter - target.PodsBefore)
		}
		if onNodes != len(got.Pods) || arrived != 0 {
			t.Errorf("%d pods on drained nodes, %d listed; %d found a node and did not arrive", onNodes, len(got.Pods), arrived)
		}
		for _, f := range got.Findings {
			if f.Code == "KOORD0701" {
				unplaced++
			}
		}
		if unplaced != none {
			t.Errorf("%d findings about %d pods without a place", unplaced, none)
		}
	})
}

// TestADrainDoesNotDependOnTheOrderOfItsInput, and does not change it.
func TestADrainDoesNotDependOnTheOrderOfItsInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, review := drawnDrain(t)
		other := *in
		other.Nodes, other.Pods = shuffled(t, in.Nodes, "order of nodes"), shuffled(t, in.Pods, "order of pods")
		other.Budgets, other.Quotas = shuffled(t, in.Budgets, "order of budgets"), shuffled(t, in.Quotas, "order of quotas")
		other.Reservations = shuffled(t, in.Reservations, "order of reservations")
		before := (&corev1.PodList{Items: in.Pods}).DeepCopy()
		budgets := (&policyv1.PodDisruptionBudgetList{Items: in.Budgets}).DeepCopy()
		first := NewDrain(in)
		question, want := first.Question(), first.Answer(review)
		second := NewDrain(&other)
		if diff := cmp.Diff(question, second.Question()); diff != "" {
			t.Errorf("question of the same drain in another order (-first +second):\n%s", diff)
		}
		if diff := cmp.Diff(want, second.Answer(review)); diff != "" {
			t.Errorf("the same drain in another order (-first +second):\n%s", diff)
		}
		if diff := cmp.Diff(before.Items, in.Pods); len(in.Pods) > 0 && diff != "" {
			t.Errorf("pods were changed (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(budgets.Items, in.Budgets); len(in.Budgets) > 0 && diff != "" {
			t.Errorf("budgets were changed (-before +after):\n%s", diff)
		}
	})
}
