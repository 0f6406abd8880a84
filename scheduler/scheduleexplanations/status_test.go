package scheduleexplanations

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

func refusal(plugin, reason string, preemption bool, nodes ...string) diagnosticsv1alpha1.RefusalGroup {
	group := diagnosticsv1alpha1.RefusalGroup{Plugin: plugin, Reason: reason, PreemptionMayHelp: preemption, Count: int32(len(nodes))}
	for _, node := range nodes {
		group.Nodes = append(group.Nodes, diagnosticsv1alpha1.NodeRefusal{Node: node})
	}
	return group
}

// unschedulable is refused by three nodes for two reasons.
func unschedulable() *diagnosticsv1alpha1.PodExplanationStatus {
	return &diagnosticsv1alpha1.PodExplanationStatus{
		Verdict: diagnosticsv1alpha1.PodUnschedulable, Code: string(finding.InsufficientResources), NodesTotal: 3,
		Summary: "0/3 nodes are available: 2 node(s) had insufficient cpu, 1 node(s) had untolerated taint",
		Groups: []diagnosticsv1alpha1.RefusalGroup{
			refusal("NodeResourcesFit", "Insufficient cpu", true, "n2", "n1"),
			refusal("TaintToleration", "node(s) had untolerated taint {a: b}", false, "n3"),
		},
	}
}

// schedulable finds the nodes, the best first.
func schedulable(nodes ...string) *diagnosticsv1alpha1.PodExplanationStatus {
	status := &diagnosticsv1alpha1.PodExplanationStatus{
		Verdict: diagnosticsv1alpha1.PodSchedulable, NodesTotal: 3, Summary: "schedulable now",
		Placement: &diagnosticsv1alpha1.Placement{Node: nodes[0]},
	}
	for _, node := range nodes {
		status.Placement.Scores = append(status.Placement.Scores, diagnosticsv1alpha1.NodeScore{Node: node})
	}
	return status
}

// evicting is unschedulable until a pod is evicted.
func evicting() *diagnosticsv1alpha1.PodExplanationStatus {
	status := unschedulable()
	status.Fix = &diagnosticsv1alpha1.Fix{Kind: "evictPod", Node: "n1", Verified: true, Description: "evict pod shop/web (priority 5) from node n1"}
	status.Preemption = &diagnosticsv1alpha1.Preemption{
		Verdict: diagnosticsv1alpha1.PreemptionEvicts, NodeName: "n1", Message: "DefaultPreemption would evict 3 pods from node n1",
		Victims: []diagnosticsv1alpha1.PreemptionVictim{{Namespace: "shop", Name: "web"}, {Namespace: "shop", Name: "gone"}, {Namespace: "default", Name: "uid", ReservationName: "nightly"}},
	}
	return status
}

// helpless is unschedulable whatever is evicted.
func helpless() *diagnosticsv1alpha1.PodExplanationStatus {
	status := unschedulable()
	status.Preemption = &diagnosticsv1alpha1.Preemption{Verdict: diagnosticsv1alpha1.PreemptionHelpless, Message: "evicting makes none of the 2 nodes pass"}
	return status
}

func bind(node string) func(*corev1.Pod) { return func(pod *corev1.Pod) { pod.Spec.NodeName = node } }

func phase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Phase = phase }
}

func podNamed(name string) schedulingv1alpha1.NamespacedPod { return nameOf(newPod(name)) }

var (
	lackCPU = schedulingv1alpha1.NodeFailedDetail{FailedPlugin: "NodeResourcesFit", Reason: "Insufficient cpu", PreemptMightHelp: true, FailedNodes: []string{"n1", "n2"}}
	tainted = schedulingv1alpha1.NodeFailedDetail{FailedPlugin: "TaintToleration", Reason: "node(s) had untolerated taint {a: b}", FailedNodes: []string{"n3"}}
)

func TestStatusOf(t *testing.T) {
	const refused = "0/3 nodes are available: 2 node(s) had insufficient cpu, 1 node(s) had untolerated taint [KOORD1901]"
	tests := map[string]struct {
		findings Findings
		want     schedulingv1alpha1.ScheduleExplanationStatus
	}{
		"no pods have no answer": {},
		"a pod that no node takes": {
			findings: Findings{Answers: []Answer{{Pods: []*corev1.Pod{newPod("a")}, Status: unschedulable()}}},
			want: schedulingv1alpha1.ScheduleExplanationStatus{FailedMessage: refused, DetailedExplanation: []schedulingv1alpha1.ExplanationDetail{{
				FailedMessage:       refused,
				ScheduleExplanation: &schedulingv1alpha1.SchedulingResult{FailedMessage: refused, NodeFailedDetails: []schedulingv1alpha1.NodeFailedDetail{lackCPU, tainted}},
				PreemptExplanation:  &schedulingv1alpha1.SchedulingResult{FailedMessage: noVictims, NodeFailedDetails: []schedulingv1alpha1.NodeFailedDetail{tainted}},
			}}},
		},
		"a pod that no eviction helps": {
			findings: Findings{Answers: []Answer{{Pods: []*corev1.Pod{newPod("a")}, Status: helpless()}}},
			want: schedulingv1alpha1.ScheduleExplanationStatus{FailedMessage: refused, DetailedExplanation: []schedulingv1alpha1.ExplanationDetail{{
				FailedMessage:       refused,
				ScheduleExplanation: &schedulingv1alpha1.SchedulingResult{FailedMessage: refused, NodeFailedDetails: []schedulingv1alpha1.NodeFailedDetail{lackCPU, tainted}},
				PreemptExplanation: &schedulingv1alpha1.SchedulingResult{
					FailedMessage: "evicting makes none of the 2 nodes pass", NodeFailedDetails: []schedulingv1alpha1.NodeFailedDetail{tainted},
				},
			}}},
		},
		"a pod that fits": {
			findings: Findings{Answers: []Answer{{Pods: []*corev1.Pod{newPod("a")}, Status: schedulable("n2", "n1")}}},
			want: schedulingv1alpha1.ScheduleExplanationStatus{Schedulable: true, DetailedExplanation: []schedulingv1alpha1.ExplanationDetail{{
				Schedulable: true,
				ScheduleExplanation: &schedulingv1alpha1.SchedulingResult{Schedulable: true, FeasibleSchedulingResult: []schedulingv1alpha1.PodSchedulingResult{
					{NamespacedPod: podNamed("a"), NodeName: "n2"},
				}},
			}}},
		},
		"a pod that runs": {
			findings: Findings{Settled: []*corev1.Pod{newPod("a", bind("n1"))}},
			want: schedulingv1alpha1.ScheduleExplanationStatus{Schedulable: true, DetailedExplanation: []schedulingv1alpha1.ExplanationDetail{{
				Schedulable: true,
				ScheduleExplanation: &schedulingv1alpha1.SchedulingResult{Schedulable: true, FeasibleSchedulingResult: []schedulingv1alpha1.PodSchedulingResult{
					{NamespacedPod: podNamed("a"), NodeName: "n1"},
				}},
			}}},
		},
		"a pod that has failed": {
			findings: Findings{Settled: []*corev1.Pod{newPod("a", phase(corev1.PodFailed))}},
			want: schedulingv1alpha1.ScheduleExplanationStatus{FailedMessage: "the pod has failed", DetailedExplanation: []schedulingv1alpha1.ExplanationDetail{{
				FailedMessage:       "the pod has failed",
				ScheduleExplanation: &schedulingv1alpha1.SchedulingResult{FailedMessage: "the pod has failed"},
				PreemptExplanation:  &schedulingv1alpha1.SchedulingResult{FailedMessage: noVictims},
			}}},
		},
		"a gated pod was held against no node": {
			findings: Findings{TopologyKey: "zone", Domains: map[string]string{"n1": "a"}, Answers: []Answer{{
				Pods: []*corev1.Pod{newPod("a")},
				Status: &diagnosticsv1alpha1.PodExplanationStatus{
					Verdict: diagnosticsv1alpha1.PodGated, Summary: "gated: wait", Groups: []diagnosticsv1alpha1.RefusalGroup{refusal("SchedulingGates", "wait", false)},
				},
			}}},
			want: schedulingv1alpha1.ScheduleExplanationStatus{FailedMessage: "gated: wait", DetailedExplanation: []schedulingv1alpha1.ExplanationDetail{{
				FailedMessage: "gated: wait",
				ScheduleExplanation: &schedulingv1alpha1.SchedulingResult{FailedMessage: "gated: wait", NodeFailedDetails: []schedulingv1alpha1.NodeFailedDetail{
					{FailedPlugin: "SchedulingGates", Reason: "wait"},
				}},
				PreemptExplanation: &schedulingv1alpha1.SchedulingResult{FailedMessage: noVictims, NodeFailedDetails: []schedulingv1alpha1.NodeFailedDetail{
					{FailedPlugin: "SchedulingGates", Reason: "wait"},
				}},
			}}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, StatusOf(test.findings)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestThePodsThatPreemptionEvictsAreVictims(t *testing.T) {
	status := StatusOf(Findings{
		Answers: []Answer{{Pods: []*corev1.Pod{newPod("a")}, Status: evicting()}},
		Victims: func(namespace, name string) *corev1.Pod {
			if name == "gone" {
				return nil
			}
			return newPod(name, bind("n1"), func(p *corev1.Pod) { p.Namespace = namespace })
		},
	})
	if status.Schedulable || !status.SchedulableAfterPreemption {
		t.Errorf("schedulable %v, after preemption %v", status.Schedulable, status.SchedulableAfterPreemption)
	}
	want := []schedulingv1alpha1.NodePossibleVictim{{NodeName: "n1", PossibleVictims: []schedulingv1alpha1.PossibleVictim{
		{NamespacedPod: schedulingv1alpha1.NamespacedPod{Namespace: "shop", Name: "web", UID: "uid-web"}},
		{NamespacedPod: schedulingv1alpha1.NamespacedPod{Namespace: "shop", Name: "gone"}},
		{NamespacedPod: schedulingv1alpha1.NamespacedPod{Name: "nightly"}},
	}}}
	if diff := cmp.Diff(want, status.DetailedExplanation[0].NodePossibleVictims); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := "it would be schedulable if you evict pod shop/web"; !strings.Contains(status.FailedMessage, want) {
		t.Errorf("message %q, want %q in it", status.FailedMessage, want)
	}
}

func TestAChangeThatWasNotTriedIsNotClaimed(t *testing.T) {
	answer := evicting()
	answer.Fix.Verified, answer.Preemption.Verdict = false, diagnosticsv1alpha1.PreemptionHelpless
	status := StatusOf(Findings{Answers: []Answer{{Pods: []*corev1.Pod{newPod("a")}, Status: answer}}})
	if status.SchedulableAfterPreemption || strings.Contains(status.FailedMessage, "evict") || len(status.DetailedExplanation[0].NodePossibleVictims) > 0 {
		t.Errorf("status %+v", status)
	}
}

func TestAnEvictionMakesRoomInItsOwnDomain(t *testing.T) {
	status := StatusOf(Findings{
		Answers:     []Answer{{Pods: []*corev1.Pod{newPod("a")}, Status: evicting()}},
		TopologyKey: "zone", Domains: map[string]string{"n1": "east", "n2": "west", "n3": "west"},
	})
	var got []string
	for _, detail := range status.DetailedExplanation {
		got = append(got, fmt.Sprintf("%s %v %d", detail.TopologyDomain, detail.SchedulableAfterPreemption, len(detail.NodePossibleVictims)))
	}
	if diff := cmp.Diff([]string{"east true 1", "west false 0"}, got); diff != "" {
		t.Errorf("domain, after preemption, nodes with victims (-want +got):\n%s", diff)
	}
}

func TestOnePluginAndReasonIsOneDetail(t *testing.T) {
	answer := unschedulable()
	answer.Groups = []diagnosticsv1alpha1.RefusalGroup{refusal("P", "r", true, "n2"), refusal("P", "r", false, "n3", "n1", "n2"), refusal("Q", "r", false, "n1")}
	status := StatusOf(Findings{Answers: []Answer{{Pods: []*corev1.Pod{newPod("a")}, Status: answer}}})
	want := []schedulingv1alpha1.NodeFailedDetail{
		{FailedPlugin: "P", Reason: "r", PreemptMightHelp: true, FailedNodes: []string{"n1", "n2", "n3"}}, {FailedPlugin: "Q", Reason: "r", FailedNodes: []string{"n1"}},
	}
	if diff := cmp.Diff(want, status.DetailedExplanation[0].ScheduleExplanation.NodeFailedDetails); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheAnswerIsSplitByTopologyDomain(t *testing.T) {
	answer := schedulable("n3")
	answer.Groups = []diagnosticsv1alpha1.RefusalGroup{
		refusal("NodeResourcesFit", "Insufficient cpu", true, "n2", "n1"), refusal("NodeResourcesFit", "Insufficient cpu", false, "n4"),
	}
	status := StatusOf(Findings{
		TopologyKey: "zone", Domains: map[string]string{"n1": "east", "n2": "west", "n3": "west"},
		Answers: []Answer{{Pods: []*corev1.Pod{newPod("a")}, Status: answer}},
	})
	var got []string
	for _, detail := range status.DetailedExplanation {
		got = append(got, fmt.Sprintf("%s %v %q %v", detail.TopologyDomain, detail.Schedulable, detail.FailedMessage, detail.ScheduleExplanation.NodeFailedDetails[0].FailedNodes))
	}
	want := []string{`east false "0/1 nodes are available: 1 Insufficient cpu" [n1]`, `west true "" [n2]`}
	if diff := cmp.Diff(want, got); diff != "" || !status.Schedulable {
		t.Errorf("schedulable %v (-want +got):\n%s", status.Schedulable, diff)
	}
}

func TestAGangIsCollapsed(t *testing.T) {
	pods := []*corev1.Pod{newPod("a"), newPod("b"), newPod("c")}
	tests := map[string]struct {
		findings        Findings
		wantSchedulable bool
		wantMessage     string
	}{
		"members of one kind have one reason": {
			findings:    Findings{Answers: []Answer{{Pods: pods, Status: unschedulable()}}, Settled: []*corev1.Pod{newPod("d", bind("n1"))}},
			wantMessage: "3 of 4 pods, such as default/a: 0/3 nodes are available: 2 node(s) had insufficient cpu, 1 node(s) had untolerated taint [KOORD1901]",
		},
		"members of two kinds have two": {
			findings:    Findings{Answers: []Answer{{Pods: pods[:2], Status: schedulable("n1")}, {Pods: pods[2:], Status: unschedulable()}}},
			wantMessage: "pod default/c of 3: 0/3 nodes are available: 2 node(s) had insufficient cpu, 1 node(s) had untolerated taint [KOORD1901]",
		},
		"members that fit one by one may not fit together": {
			findings: Findings{Answers: []Answer{{Pods: pods, Status: schedulable("n1")}}}, wantSchedulable: true,
			wantMessage: "each of 3 pods finds a node by itself; whether all of them do at once was not tried",
		},
		"nothing is claimed of members that were not asked about": {
			findings:    Findings{Answers: []Answer{{Pods: pods[:1], Status: schedulable("n1")}}, Unasked: 2},
			wantMessage: "each of 3 pods finds a node by itself; whether all of them do at once was not tried; 2 more pods with other specs were not evaluated",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status := StatusOf(test.findings)
			if status.FailedMessage != test.wantMessage || status.Schedulable != test.wantSchedulable {
				t.Errorf("schedulable %v: %s\nwant %v: %s", status.Schedulable, status.FailedMessage, test.wantSchedulable, test.wantMessage)
			}
		})
	}
}

// TestNodeNamesAreBounded checks the cut on any sizes of lists: no more than the bound, and no less than possible.
func TestNodeNamesAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths, limit := rapid.SliceOfN(rapid.IntRange(0, 40), 0, 8).Draw(t, "lengths"), rapid.IntRange(0, 100).Draw(t, "limit")
		var lists []*[]string
		for _, length := range lengths {
			list := make([]string, length)
			lists = append(lists, &list)
		}
		total := func(longest int) (sum int) {
			for _, length := range lengths {
				sum += min(length, longest)
			}
			return sum
		}
		got := longestWithin(lists, limit)
		if total(got) > limit {
			t.Fatalf("cut to %d: %d names, limit %d", got, total(got), limit)
		}
		if total(got+1) <= limit && total(got+1) > total(got) {
			t.Fatalf("cut to %d, but %d would do", got, got+1)
		}
	})
}

func TestOneStatusFitsIntoOneObject(t *testing.T) {
	nodes, domains := make([]string, 5000), map[string]string{}
	for i := range nodes {
		nodes[i] = fmt.Sprintf("node-%04d", i)
		domains[nodes[i]] = nodes[i]
	}
	answer := unschedulable()
	for i := range 4 {
		answer.Groups = append(answer.Groups, refusal("Plugin", fmt.Sprint("reason ", i), true, nodes...))
	}
	for _, key := range []string{"", "kubernetes.io/hostname"} {
		status := StatusOf(Findings{Answers: []Answer{{Pods: []*corev1.Pod{newPod("a")}, Status: answer}}, TopologyKey: key, Domains: domains})
		names := 0
		for _, detail := range status.DetailedExplanation {
			for _, failed := range detail.ScheduleExplanation.NodeFailedDetails {
				names += len(failed.FailedNodes)
			}
		}
		if names > maxNodeNames || len(status.DetailedExplanation) > maxDomains || names == 0 {
			t.Errorf("key %q: %d names in %d domains", key, names, len(status.DetailedExplanation))
		}
	}
}
