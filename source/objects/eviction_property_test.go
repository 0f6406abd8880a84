package objects

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"pgregory.net/rapid"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/evictors"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// evictorNames are all evictors, the least restrained first.
var evictorNames = []string{evictors.Kubelet, evictors.Preempting, evictors.NodeAgent, evictors.Revoking, evictors.Descheduled, evictors.Drain}

// drawnEviction is any question about the pod shop/web-0.
func drawnEviction(t *rapid.T) *EvictionSnapshot {
	maybe := func(label string, edit func(*EvictionSnapshot)) func(*EvictionSnapshot) {
		if rapid.Bool().Draw(t, label) {
			return edit
		}
		return func(*EvictionSnapshot) {}
	}
	edits := []func(*EvictionSnapshot){
		maybe("pressure", underPressure(corev1.NodeMemoryPressure)), maybe("cordoned", onItsNode(cordoned)),
		maybe("short", bestEffortFrom(rapid.SampledFrom([]int64{1, 70}).Draw(t, "threshold"))),
		maybe("job", withJob(rapid.SampledFrom([]schedulingv1alpha1.PodMigrationJobPhase{"", "Running", "Failed"}).Draw(t, "phase"))),
		maybe("fit", func(in *EvictionSnapshot) {
			evicting(func(a *migration.Args) { a.NodeFit = true })(in)
			withCluster(rapid.SampledFrom([]string{"1", "16"}).Draw(t, "cpu"))(in)
		}),
		maybe("quotas", func(in *EvictionSnapshot) {
			in.MonitorsQuotas = true
			in.Quotas = append(in.Quotas, quotaUsing("ads", "ads", "1", "{"), quotaUsing("shop", "shop", rapid.SampledFrom([]string{"1", "9"}).Draw(t, "used"), `{"cpu":"8"}`))
		}),
		maybe("pending", func(in *EvictionSnapshot) {
			in.Pending = append(in.Pending, *pod("x", "", nil, ofPriority(9000)), *pod("y", "", nil))
		}),
		maybe("budget", func(in *EvictionSnapshot) {
			in.Budgets = append(in.Budgets, budgetOf("web", rapid.Int32Range(0, 1).Draw(t, "allowed")), budgetOf("db", 0))
		}),
		maybe("another", func(in *EvictionSnapshot) {
			in.Budgets = append(in.Budgets, budgetOf("web", rapid.Int32Range(0, 1).Draw(t, "allowedByAnother"), named("another")))
		}),
	}
	kind := rapid.SampledFrom([]func(*corev1.Pod){func(*corev1.Pod) {}, batch, bare, mirrored, terminating, ofPriority(2000000000), unreadyPod}).Draw(t, "kind")
	in := evictionOf(web("web-0", "a", kind), edits...)
	for _, name := range evictorNames {
		if rapid.IntRange(0, 4).Draw(t, "unread") == 0 {
			in.Undecided[name] = []string{"it could not be read"}
		}
	}
	return in
}

// TestEveryEvictorIsToldOnce: each has a state that its needs and protections agree with, and the sentence names it once, by that state.
func TestEveryEvictorIsToldOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := drawnEviction(rt)
		answer, err := ExplainEviction(in)
		if err != nil {
			rt.Fatal(err)
		}
		var names []string
		last := -1
		for _, e := range answer.Evictors {
			names = append(names, e.Name)
			rank := slices.Index([]string{"now", "possible", "unknown", "protected"}, e.State)
			if rank < last {
				rt.Errorf("%s comes after evictors that are less able to evict", e.Name)
			}
			last = rank
			contradicts := map[string]bool{
				"now": len(e.Needs)+len(e.Protections) > 0, "possible": len(e.Needs) == 0 || len(e.Protections) > 0,
				"protected": len(e.Protections) == 0, "unknown": len(e.Needs)+len(e.Protections) > 0 || len(e.Unknown) == 0,
			}[e.State]
			if contradicts || rank < 0 {
				rt.Errorf("contradictory evictor %+v", e)
			}
			if (in.Undecided[e.Name] != nil) && e.State != "unknown" {
				rt.Errorf("%s is %s without what it depends on", e.Name, e.State)
			}
			if _, sentence, _ := strings.Cut(answer.Message, ": "); strings.Count(sentence, e.Name) != 1 {
				rt.Errorf("%q does not name %s once", answer.Message, e.Name)
			}
			if e.State == "now" && !e.IgnoresBudgets {
				for _, b := range answer.Budgets {
					if b.DisruptionsAllowed == 0 && in.Pod.DeletionTimestamp == nil && len(in.Pod.Status.Conditions) > 0 {
						rt.Errorf("%s evicts now what budget %s protects", e.Name, b.Name)
					}
				}
			}
		}
		slices.Sort(names)
		if diff := cmp.Diff(sorted(evictorNames), names); diff != "" {
			rt.Errorf("evictors (-want +got):\n%s", diff)
		}
	})
}

// TestAnEvictionDoesNotDependOnTheOrderOfItsInput, and does not change it.
func TestAnEvictionDoesNotDependOnTheOrderOfItsInput(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := drawnEviction(rt)
		other := *in
		other.Budgets, other.Quotas = shuffled(rt, in.Budgets, "order of budgets"), shuffled(rt, in.Quotas, "order of quotas")
		other.Pending, other.Nodes, other.Pods = shuffled(rt, in.Pending, "order of pending pods"), shuffled(rt, in.Nodes, "order of nodes"), shuffled(rt, in.Pods, "order of pods")
		pod, budgets := in.Pod.DeepCopy(), (&policyv1.PodDisruptionBudgetList{Items: in.Budgets}).DeepCopy()
		first, err := ExplainEviction(in)
		if err != nil {
			rt.Fatal(err)
		}
		second, err := ExplainEviction(&other)
		if diff := cmp.Diff(first, second); err != nil || diff != "" {
			rt.Errorf("error %v, the same eviction in another order (-first +second):\n%s", err, diff)
		}
		if diff := cmp.Diff(pod, in.Pod); diff != "" {
			rt.Errorf("the pod was changed (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(budgets.Items, in.Budgets); len(in.Budgets) > 0 && diff != "" {
			rt.Errorf("budgets were changed (-before +after):\n%s", diff)
		}
	})
}
