package objects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// drainOfA drains node a of a cluster with the nodes a to f.
func drainOfA(pods ...*corev1.Pod) *DrainSnapshot {
	in := &DrainSnapshot{Drained: []string{"a"}, Now: now}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		in.Nodes = append(in.Nodes, node(name, readyNode))
	}
	for _, p := range pods {
		in.Pods = append(in.Pods, *p)
	}
	return in
}

// placedOn is the answer of the scheduler: pod=node, pod= for one that no node takes, and pod=verdict! for another verdict.
func placedOn(pairs ...string) *diagnosticsv1alpha1.PlacementReviewStatus {
	out := &diagnosticsv1alpha1.PlacementReviewStatus{}
	for _, pair := range pairs {
		name, to, _ := strings.Cut(pair, "=")
		placement := diagnosticsv1alpha1.PodPlacement{Namespace: "shop", Name: name, Verdict: diagnosticsv1alpha1.PlacementFound, Node: to, Summary: "the best of 5"}
		if verdict, other := strings.CutSuffix(to, "!"); other {
			placement.Verdict, placement.Node = diagnosticsv1alpha1.PlacementVerdict(verdict), ""
		} else if to == "" {
			placement.Verdict, placement.Summary = diagnosticsv1alpha1.PlacementNone, "0/5 nodes are available"
		}
		out.Placements = append(out.Placements, placement)
	}
	return out
}

func TestADrainIsToldInOneSentence(t *testing.T) {
	two := func(edits ...func(*corev1.Pod)) []*corev1.Pod {
		return []*corev1.Pod{web("web-0", "a", edits...), web("web-1", "a", edits...)}
	}
	one := func(edits ...func(*corev1.Pod)) []*corev1.Pod { return []*corev1.Pod{web("web-0", "a", edits...)} }
	five := []*corev1.Pod{web("w0", "a"), web("w1", "a"), web("w2", "a"), web("w3", "a"), web("w4", "a")}
	unbudgeted := func(in *DrainSnapshot) { in.NoBudgets = true }
	budget := func(allowed int32, edits ...func(*policyv1.PodDisruptionBudget)) func(*DrainSnapshot) {
		return func(in *DrainSnapshot) {
			in.Budgets = append(in.Budgets, budgetOf("web", allowed, edits...))
		}
	}
	tests := map[string]struct {
		pods        []*corev1.Pod
		edit        func(*DrainSnapshot)
		review      *diagnosticsv1alpha1.PlacementReviewStatus
		want        diagnosticsv1alpha1.DrainVerdict
		wantMessage string
		// wantFlags follow kubectl drain a.
		wantFlags string
	}{
		"nothing runs on the node": {want: "Completes", wantMessage: "0 pods evicted"},
		"one pod gets a node":      {pods: one(), review: placedOn("web-0=b"), want: "Completes", wantMessage: "1 pod evicted; 1 pod gets a node: 1 on b"},
		"all get nodes":            {pods: two(), review: placedOn("web-0=c", "web-1=b"), want: "Completes", wantMessage: "2 pods evicted; all get a node: 1 on b, 1 on c"},
		"of many nodes three are named": {
			pods: five, review: placedOn("w0=f", "w1=f", "w2=b", "w3=c", "w4=d"), want: "Completes",
			wantMessage: "5 pods evicted; all get a node: 2 on f, 1 on b, 1 on c, others on 1 more node",
		},
		"one of two gets none":              {pods: two(), review: placedOn("web-0=b", "web-1="), want: "Unplaced", wantMessage: "2 pods evicted; 1 pod gets a node: 1 on b; 1 pod gets no node"},
		"two of three get a node":           {pods: five[:3], review: placedOn("w0=b", "w1=b", "w2="), want: "Unplaced", wantMessage: "3 pods evicted; 2 pods get a node: 2 on b; 1 pod gets no node"},
		"none gets a node":                  {pods: two(), review: placedOn("web-0=", "web-1="), want: "Unplaced", wantMessage: "2 pods evicted; 2 pods get no node"},
		"the scheduler does not answer":     {pods: two(), want: "Unknown", wantMessage: "2 pods evicted; where 2 pods go is unknown"},
		"the scheduler says nothing of one": {pods: two(), review: placedOn("web-1=b"), want: "Unknown", wantMessage: "2 pods evicted; 1 pod gets a node: 1 on b; where 1 pod goes is unknown"},
		"another scheduler places it":       {pods: one(), review: placedOn("web-0=OtherScheduler!"), want: "Unknown", wantMessage: "1 pod evicted; where 1 pod goes is unknown"},
		"it left in the meantime":           {pods: one(), review: placedOn("web-0=Gone!"), want: "Completes", wantMessage: "1 pod evicted"},
		"an answer about another pod":       {pods: one(), review: placedOn("web-0=b", "web-9="), want: "Completes", wantMessage: "1 pod evicted; 1 pod gets a node: 1 on b"},

		"a static pod stays":        {pods: one(mirrored), want: "Completes", wantMessage: "0 pods evicted; 1 pod stays"},
		"pods of DaemonSets stay":   {pods: two(ofController("DaemonSet", "log")), want: "Completes", wantMessage: "0 pods evicted; 2 pods stay", wantFlags: " --ignore-daemonsets"},
		"pods without a controller": {pods: two(bare), want: "Completes", wantMessage: "2 pods evicted; 2 pods are not created again", wantFlags: " --force"},
		"one with data on the node": {
			pods: one(withEmptyDir), review: placedOn("web-0=b"), want: "Completes", wantMessage: "1 pod evicted; 1 pod gets a node: 1 on b",
			wantFlags: " --delete-emptydir-data",
		},
		"one that lacks both":              {pods: one(bare, withEmptyDir), want: "Completes", wantMessage: "1 pod evicted; 1 pod is not created again", wantFlags: " --delete-emptydir-data --force"},
		"one that ended needs no node":     {pods: one(bare, withEmptyDir, inPhase(corev1.PodSucceeded)), want: "Completes", wantMessage: "1 pod evicted"},
		"one that is being deleted either": {pods: one(terminating), want: "Completes", wantMessage: "1 pod evicted"},

		"a budget that never lets go": {pods: two(), edit: budget(0), review: placedOn("web-0=b", "web-1=b"), want: "Blocked", wantMessage: "0 pods evicted; 2 pods are blocked by PodDisruptionBudgets"},
		"one pod at a time":           {pods: two(), edit: budget(1), review: placedOn("web-0=b", "web-1=b"), want: "Completes", wantMessage: "2 pods evicted in 2 rounds; all get a node: 2 on b"},
		"the first gets no node and holds the second back": {
			pods: two(), edit: budget(1), review: placedOn("web-0=", "web-1="), want: "Blocked",
			wantMessage: "1 pod evicted; 2 pods get no node; 1 pod is blocked by PodDisruptionBudgets",
		},
		"a pod that is not ready goes where budgets allow it": {
			pods: one(unreadyPod), edit: budget(0, func(b *policyv1.PodDisruptionBudget) { b.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow) }),
			review: placedOn("web-0=b"), want: "Completes", wantMessage: "1 pod evicted; 1 pod gets a node: 1 on b",
		},
		"a budget of another namespace": {
			pods: one(), edit: budget(0, func(b *policyv1.PodDisruptionBudget) { b.Namespace = "other" }), review: placedOn("web-0=b"),
			want: "Completes", wantMessage: "1 pod evicted; 1 pod gets a node: 1 on b",
		},
		"budgets that could not be read": {
			pods: one(), edit: unbudgeted, review: placedOn("web-0=b"), want: "Unknown",
			wantMessage: "1 pod evicted; 1 pod gets a node: 1 on b; whether PodDisruptionBudgets hold pods back is unknown",
		},
		"budgets do not matter where nothing is evicted": {pods: one(mirrored), edit: unbudgeted, want: "Completes", wantMessage: "0 pods evicted; 1 pod stays"},
		"pods of other nodes do not matter":              {pods: []*corev1.Pod{web("web-0", "b"), web("web-1", "")}, edit: budget(0), want: "Completes", wantMessage: "0 pods evicted"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := drainOfA(tc.pods...)
			if tc.edit != nil {
				tc.edit(in)
			}
			got := NewDrain(in).Answer(tc.review)
			if got.Verdict != tc.want || got.Message != tc.wantMessage || got.Command != "kubectl drain a"+tc.wantFlags {
				t.Errorf("%s: %q, %s\nwant %s: %q, kubectl drain a%s", got.Verdict, got.Message, got.Command, tc.want, tc.wantMessage, tc.wantFlags)
			}
		})
	}
}

func TestTheSchedulerIsAskedInTheOrderOfTheEvictions(t *testing.T) {
	tests := map[string]struct {
		in   *DrainSnapshot
		want []string
	}{
		"the most important first": {drainOfA(web("low", "a", ofPriority(10)), web("high", "a", ofPriority(9000)), web("none", "a")), []string{"high", "low", "none"}},
		"by name among equals":     {drainOfA(web("b", "a"), web("a", "a", inNamespace("shop")), web("z", "a", inNamespace("bank"))), []string{"z", "a", "b"}},
		"none for pods that stay or are replaced": {
			drainOfA(web("m", "a", mirrored), web("d", "a", ofController("DaemonSet", "d")), web("bare", "a", bare), web("t", "a", terminating), web("e", "a", inPhase(corev1.PodFailed))),
			nil,
		},
		"none for other nodes": {drainOfA(web("x", "b")), nil},
		"those of a later round later": {func() *DrainSnapshot {
			in := drainOfA(web("w0", "a"), web("w1", "a"), web("x", "a", labelled("app", "x")), web("y", "a", labelled("app", "y"), ofPriority(100)))
			in.Budgets = append(in.Budgets, budgetOf("web", 1), budgetOf("y", 0))
			return in
		}(), []string{"w0", "x", "w1", "y"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			if question := NewDrain(tc.in).Question(); question != nil {
				if diff := cmp.Diff([]string{"a"}, question.ExcludedNodes); diff != "" {
					t.Errorf("excluded nodes (-want +got):\n%s", diff)
				}
				for _, p := range question.Pods {
					got = append(got, p.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("pods of the question (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMorePodsThanAReviewTakesAreNamed(t *testing.T) {
	in := drainOfA()
	const pods = diagnosticsv1alpha1.MaxPlacementReviewPods + 1
	for i := range pods {
		in.Pods = append(in.Pods, *web(fmt.Sprintf("web-%03d", i), "a"))
	}
	forecast := NewDrain(in)
	if question := forecast.Question(); len(question.Pods) != diagnosticsv1alpha1.MaxPlacementReviewPods {
		t.Fatalf("the scheduler is asked about %d pods", len(question.Pods))
	}
	review := placedOn()
	for i := range pods - 1 {
		review.Placements = append(review.Placements, placedOn(fmt.Sprintf("web-%03d=b", i)).Placements...)
	}
	review.Incomplete = []string{"volumes were not evaluated"}
	got := forecast.Answer(review)
	want := []string{"volumes were not evaluated", "where 1 pod of the last rounds go is unknown: a placement review takes 200 pods"}
	if diff := cmp.Diff(want, got.Incomplete); diff != "" || got.Verdict != diagnosticsv1alpha1.DrainUnknown {
		t.Errorf("verdict %s, incomplete (-want +got):\n%s", got.Verdict, diff)
	}
}

func TestThePodsOfADrainAreListedWithTheTroubleFirst(t *testing.T) {
	in := drainOfA(
		web("stays", "a", ofController("DaemonSet", "log")), web("goes", "a", labelled("app", "goes")), web("stuck", "a", labelled("app", "stuck")),
		web("later-0", "a", labelled("app", "later")), web("later-1", "a", labelled("app", "later")), web("homeless", "a", labelled("app", "homeless"), withEmptyDir),
	)
	in.Budgets = append(in.Budgets, budgetOf("stuck", 0), budgetOf("later", 1))
	got := NewDrain(in).Answer(placedOn("goes=b", "later-0=c", "later-1=d", "homeless=", "stuck=b"))
	var lines []string
	for _, p := range got.Pods {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("%s %s %d %s %s %s %s", p.Name, p.Action, p.Round, p.Place, p.To, p.Budget, strings.Join(p.Flags, " "))), " "))
	}
	want := []string{
		"homeless Evict 1 None --delete-emptydir-data", "stuck Evict 0 Found b stuck-budget", "goes Evict 1 Found b", "later-0 Evict 1 Found c later-budget",
		"later-1 Evict 2 Found d later-budget", "stays Skip 0 --ignore-daemonsets",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}

func TestAPodOfADrainIsDescribed(t *testing.T) {
	in := drainOfA(web("web-0", "a", ofPriority(7), requesting("cpu", "1500m", "memory", "2Gi", "kubernetes.io/batch-cpu", "0")))
	want := diagnosticsv1alpha1.DrainedPod{
		Namespace: "shop", Name: "web-0", UID: "web-0", Node: "a", Owner: "ReplicaSet/web", Priority: 7, Action: diagnosticsv1alpha1.DrainEvict, Round: 1,
		Requests: []diagnosticsv1alpha1.ForecastAmount{
			{Resource: "cpu", Amount: 1500, Unit: diagnosticsv1alpha1.MilliCPU}, {Resource: "memory", Amount: 2 << 30, Unit: diagnosticsv1alpha1.Bytes},
		},
		Place: diagnosticsv1alpha1.DrainPlaceUnknown, Summary: "where it goes is unknown",
	}
	if diff := cmp.Diff(want, NewDrain(in).Answer(nil).Pods[0]); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
	groups := []diagnosticsv1alpha1.RefusalGroup{{Code: "KOORD1901", Count: 5}}
	review := placedOn("web-0=")
	review.Placements[0].Groups = groups
	want.Place, want.Summary, want.Groups = diagnosticsv1alpha1.DrainPlaceNone, "0/5 nodes are available", groups
	if diff := cmp.Diff(want, NewDrain(in).Answer(review).Pods[0]); diff != "" {
		t.Errorf("pod that no node takes (-want +got):\n%s", diff)
	}
}

func TestWhatADrainLosesIsFound(t *testing.T) {
	in := drainOfA(web("bare", "a", bare), web("data-0", "a", withEmptyDir), web("data-1", "a", withEmptyDir), web("log", "a", ofController("DaemonSet", "log")), web("web-0", "a", labelled("app", "held")))
	in.Budgets = append(in.Budgets, budgetOf("held", 0))
	got := NewDrain(in).Answer(placedOn("data-0=b", "data-1=", "web-0=b")).Findings
	command := "kubectl drain a --ignore-daemonsets --delete-emptydir-data --force"
	want := []diagnosticsv1alpha1.Finding{
		{Code: "KOORD0701", Severity: "error", Message: "no other node takes pod shop/data-1: 0/5 nodes are available", Hint: "koordctl explain pod data-1 -n shop"},
		{Code: "KOORD0702", Severity: "error", Message: "1 pod of namespace shop cannot be evicted: PodDisruptionBudget held-budget never allows a disruption: it needs 3 healthy pods of 3", Hint: "kubectl describe poddisruptionbudget held-budget -n shop"},
		{Code: "KOORD0703", Severity: "warning", Message: "kubectl drain needs --delete-emptydir-data because of 2 pods, such as shop/data-1: the data of emptyDir volumes is lost", Hint: command},
		{Code: "KOORD0703", Severity: "warning", Message: "kubectl drain needs --force because of 1 pod, such as shop/bare: no controller creates such pods again", Hint: command},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestWorkOfOtherSchedulersThatADrainLeavesIsFound(t *testing.T) {
	tests := map[string]struct {
		node, annotation string
		want             []string
	}{
		"none":                  {node: "a"},
		"on the node":           {"a", `{"allocations":[{"name":"slurm"},{"name":"hadoop-yarn"}]}`, []string{"node a may run work of hadoop-yarn, slurm, which kubectl drain neither ends nor waits for"}},
		"without a name":        {"a", `{"allocations":[{"resources":{}}]}`, []string{"node a may run work of unnamed, which kubectl drain neither ends nor waits for"}},
		"on another node":       {node: "b", annotation: `{"allocations":[{"name":"hadoop-yarn"}]}`},
		"in an unreadable form": {node: "a", annotation: "garbage"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := drainOfA()
			for i := range in.Nodes {
				if in.Nodes[i].Name == tc.node && tc.annotation != "" {
					in.Nodes[i].Annotations = map[string]string{extension.AnnotationNodeThirdPartyAllocations: tc.annotation}
				}
			}
			var got []string
			for _, f := range NewDrain(in).Answer(nil).Findings {
				if f.Code != string(finding.EngineWorkRemains) || f.Hint != "koordctl explain node a batch-cpu" {
					t.Errorf("finding %+v", f)
				}
				got = append(got, f.Message)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADrainSaysWhatItAssumes(t *testing.T) {
	alike, ready, others := "replacements are taken to be like", "replacements are taken to become ready", "batch and mid resources"
	tests := map[string]struct {
		pods   []*corev1.Pod
		review *diagnosticsv1alpha1.PlacementReviewStatus
		want   []string
	}{
		"nothing where nothing is evicted":       {[]*corev1.Pod{web("w", "a", mirrored)}, nil, nil},
		"nothing of places that are unknown":     {[]*corev1.Pod{web("w", "a", labelled("app", "x"))}, nil, nil},
		"of replacements":                        {[]*corev1.Pod{web("w", "a", labelled("app", "x"))}, placedOn("w=b"), []string{alike, others}},
		"of those that get none":                 {[]*corev1.Pod{web("w", "a", labelled("app", "x"))}, placedOn("w="), []string{alike}},
		"of budgets with several rounds":         {[]*corev1.Pod{web("w0", "a"), web("w1", "a")}, placedOn("w0=b", "w1=b"), []string{alike, ready, others}},
		"of pods that tolerate the cordon":       {[]*corev1.Pod{web("w", "a", toleratesAll, labelled("app", "x"))}, nil, []string{"cordons are tolerated by 1 pod, which may come back"}},
		"not of tolerant ones that do not leave": {[]*corev1.Pod{web("w", "a", toleratesAll, ofController("DaemonSet", "log"))}, nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := drainOfA(tc.pods...)
			in.Budgets = append(in.Budgets, budgetOf("web", 1))
			got := NewDrain(in).Answer(tc.review).Notes
			if len(got) != len(tc.want) {
				t.Fatalf("notes %q, want %q", got, tc.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tc.want[i]) {
					t.Errorf("note %q, want %q", got[i], tc.want[i])
				}
			}
		})
	}
}
