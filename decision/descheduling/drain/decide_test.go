package drain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func newPod(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"}, Annotations: map[string]string{},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: new(true)}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func ownedBy(apiVersion, kind string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "owner", Controller: new(true)}}
	}
}

func bare(p *corev1.Pod) { p.OwnerReferences = nil }
func scratch(p *corev1.Pod) {
	p.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
}
func mirrored(p *corev1.Pod) { p.Annotations[corev1.MirrorPodAnnotationKey] = "x" }
func ended(p *corev1.Pod)    { p.Status.Phase = corev1.PodSucceeded }
func leaving(p *corev1.Pod)  { p.DeletionTimestamp = &metav1.Time{} }
func unready(p *corev1.Pod)  { p.Status.Conditions = nil }
func other(p *corev1.Pod)    { p.Labels = map[string]string{"app": "other"} }

func TestSelect(t *testing.T) {
	tests := map[string]struct {
		pod         *corev1.Pod
		want        string
		wantReason  string
		wantReturns bool
	}{
		"a pod of a ReplicaSet":             {newPod("p"), "true []", "", true},
		"a pod of a DaemonSet":              {newPod("p", ownedBy("apps/v1", "DaemonSet")), "false [--ignore-daemonsets]", "DaemonSet owner", true},
		"a DaemonSet of another group":      {newPod("p", ownedBy("apps.kruise.io/v1alpha1", "DaemonSet")), "true []", "", true},
		"a bare pod":                        {newPod("p", bare), "true [--force]", "no controller", false},
		"a pod with an emptyDir":            {newPod("p", scratch), "true [--delete-emptydir-data]", "volume scratch is an emptyDir", true},
		"a bare pod with an emptyDir":       {newPod("p", bare, scratch), "true [--delete-emptydir-data --force]", "lost; no controller", false},
		"a mirror pod, whatever else it is": {newPod("p", mirrored, bare, scratch), "false []", "static", false},
		"a bare pod that ended":             {newPod("p", bare, scratch, ended), "true []", "", false},
		"a pod of a DaemonSet that ended":   {newPod("p", ownedBy("apps/v1", "DaemonSet"), ended), "true []", "", false},
		"a pod that is being deleted":       {newPod("p", leaving), "true []", "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Select(tt.pod)
			if text := fmt.Sprint(got.Evict, " ", got.Flags); text != tt.want {
				t.Errorf("evict and flags %s, want %s", text, tt.want)
			}
			if !strings.Contains(got.Reason, tt.wantReason) || tt.wantReason == "" && got.Reason != "" {
				t.Errorf("reason %q, want %q", got.Reason, tt.wantReason)
			}
			if returns := Returns(tt.pod); returns != tt.wantReturns {
				t.Errorf("returns %t, want %t", returns, tt.wantReturns)
			}
		})
	}
}

// budget of the pods with a label: allowed disruptions, healthy pods now, needed and expected.
func budget(name, app string, allowed, healthy, desired, expected int32) policyv1.PodDisruptionBudget {
	return policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed, CurrentHealthy: healthy, DesiredHealthy: desired, ExpectedPods: expected},
	}
}

func TestDecide(t *testing.T) {
	always := budget("web", "web", 0, 3, 3, 3)
	always.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
	changed := budget("web", "web", 2, 3, 1, 3)
	changed.Generation = 2
	foreign := budget("web", "web", 0, 3, 3, 3)
	foreign.Namespace = "elsewhere"
	three := []*corev1.Pod{newPod("a"), newPod("b"), newPod("c")}
	tests := map[string]struct {
		pods     []*corev1.Pod
		budgets  []policyv1.PodDisruptionBudget
		unplaced []int
		// want is the round of each pod.
		want []int
		// wantBudgets are pods, blocked and rounds of each budget.
		wantBudgets []string
		wantText    string
	}{
		"without budgets all leave at once":        {pods: three, want: []int{1, 1, 1}},
		"a budget of another namespace":            {pods: three, budgets: []policyv1.PodDisruptionBudget{foreign}, want: []int{1, 1, 1}},
		"a budget that allows one at a time":       {pods: three, budgets: []policyv1.PodDisruptionBudget{budget("web", "web", 1, 3, 2, 3)}, want: []int{1, 2, 3}, wantBudgets: []string{"3 0 3"}, wantText: "allows 1 at a time: the pods leave in 3 rounds"},
		"a budget that allows two at a time":       {pods: three, budgets: []policyv1.PodDisruptionBudget{budget("web", "web", 2, 4, 2, 4)}, want: []int{1, 1, 2}, wantBudgets: []string{"3 0 2"}},
		"a budget that allows all":                 {pods: three, budgets: []policyv1.PodDisruptionBudget{budget("web", "web", 5, 9, 4, 9)}, want: []int{1, 1, 1}, wantBudgets: []string{"3 0 1"}, wantText: "all at once"},
		"a budget that never allows one":           {pods: three, budgets: []policyv1.PodDisruptionBudget{budget("web", "web", 0, 3, 3, 3)}, want: []int{0, 0, 0}, wantBudgets: []string{"3 3 0"}, wantText: "never allows a disruption: it needs 3 healthy pods of 3"},
		"a budget that waits for unhealthy pods":   {pods: three, budgets: []policyv1.PodDisruptionBudget{budget("web", "web", 0, 3, 4, 6)}, want: []int{0, 0, 0}, wantBudgets: []string{"3 3 0"}, wantText: "until 2 more of its pods are healthy"},
		"replacements without a node hold it back": {pods: three, budgets: []policyv1.PodDisruptionBudget{budget("web", "web", 1, 3, 2, 3)}, unplaced: []int{1}, want: []int{1, 2, 0}, wantBudgets: []string{"3 1 2"}, wantText: "no node takes replacements"},
		"some replacements with a node suffice":    {pods: three, budgets: []policyv1.PodDisruptionBudget{budget("web", "web", 2, 4, 2, 4)}, unplaced: []int{0}, want: []int{1, 1, 2}, wantBudgets: []string{"3 0 2"}},
		"a change that is not processed yet":       {pods: three, budgets: []policyv1.PodDisruptionBudget{changed}, want: []int{0, 0, 0}, wantBudgets: []string{"3 3 0"}, wantText: "not processed yet"},
		"two budgets of one pod":                   {pods: three[:1], budgets: []policyv1.PodDisruptionBudget{budget("one", "web", 1, 3, 2, 3), budget("two", "web", 1, 3, 2, 3)}, want: []int{0}, wantBudgets: []string{"1 1 0"}, wantText: "supports one: one, two"},
		"pods that do not count against it": {
			pods: []*corev1.Pod{newPod("ended", ended), newPod("leaving", leaving), newPod("unready", unready), newPod("ready")}, budgets: []policyv1.PodDisruptionBudget{always},
			want: []int{1, 1, 1, 0}, wantBudgets: []string{"4 1 1"},
		},
		"budgets do not hold each other back": {
			pods: []*corev1.Pod{newPod("a"), newPod("b", other), newPod("c")}, budgets: []policyv1.PodDisruptionBudget{budget("web", "web", 0, 2, 2, 2), budget("other", "other", 1, 2, 1, 2)},
			want: []int{0, 1, 0}, wantBudgets: []string{"2 2 0", "1 0 1"},
		},
		"pods that stay are not asked about": {pods: []*corev1.Pod{newPod("agent", ownedBy("apps/v1", "DaemonSet"))}, budgets: []policyv1.PodDisruptionBudget{budget("web", "web", 0, 1, 1, 1)}, want: []int{0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := Input{Budgets: tt.budgets, Unplaced: map[int]bool{}}
			for _, pod := range tt.pods {
				in.Pods = append(in.Pods, Select(pod))
			}
			for _, i := range tt.unplaced {
				in.Unplaced[i] = true
			}
			got := Decide(in)
			var rounds []int
			for i, eviction := range got.Evictions {
				rounds = append(rounds, eviction.Round)
				if blocked := eviction.Blocked != ""; blocked != (in.Pods[i].Evict && eviction.Round == 0) {
					t.Errorf("pod %d: round %d, blocked %q", i, eviction.Round, eviction.Blocked)
				}
			}
			var budgets []string
			text := ""
			for _, b := range got.Budgets {
				budgets = append(budgets, fmt.Sprint(b.Pods, b.Blocked, b.Rounds))
				text += b.Message
			}
			if diff := cmp.Diff(tt.want, rounds); diff != "" {
				t.Errorf("rounds (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.wantBudgets, budgets); diff != "" {
				t.Errorf("budgets (-want +got):\n%s", diff)
			}
			if !strings.Contains(text, tt.wantText) {
				t.Errorf("messages %q, want %q in them", text, tt.wantText)
			}
		})
	}
}

// TestNoRoundExceedsTheBudget: in no round more pods leave than replacements of earlier rounds are ready, and every placed drain ends.
func TestNoRoundExceedsTheBudget(t *testing.T) {
	for pods := range 12 {
		for allowed := range int32(5) {
			for unplaced := range 1 << min(pods, 6) {
				in := Input{Budgets: []policyv1.PodDisruptionBudget{budget("web", "web", allowed, 12, 12-allowed, 12)}, Unplaced: map[int]bool{}}
				for i := range pods {
					in.Pods = append(in.Pods, Select(newPod(fmt.Sprint(i))))
					in.Unplaced[i] = unplaced>>i&1 == 1
				}
				got := Decide(in)
				away, blocked := map[int]int{}, 0
				lost := 0
				for i, eviction := range got.Evictions {
					away[eviction.Round]++
					if eviction.Round == 0 {
						blocked++
					} else if in.Unplaced[i] {
						lost++
					}
				}
				for round := 1; round <= got.Rounds; round++ {
					if away[round] == 0 || away[round] > int(allowed) {
						t.Fatalf("%d pods, %d allowed, unplaced %b: %d leave in round %d", pods, allowed, unplaced, away[round], round)
					}
				}
				if blocked > 0 && lost < int(allowed) {
					t.Fatalf("%d pods, %d allowed, unplaced %b: %d blocked though %d replacements are lost", pods, allowed, unplaced, blocked, lost)
				}
			}
		}
	}
}
