package tui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// explainedPod is a pod screen that received an explanation.
func explainedPod(t *testing.T, b *podExplanationBuilder, unfolded bool) *pod {
	t.Helper()
	r := newRig(t, 30).start()
	r.run(r.m.open(podName, podObject(b.Namespace, b.Name)))
	r.m.page().unfolded = unfolded
	d := &pod{Model: r.m}
	d.explanation.value, d.explanation.known = &b.PodExplanation, true
	return d
}

func victims(n int) []diagnostics.PreemptionVictim {
	out := make([]diagnostics.PreemptionVictim, n)
	for i := range out {
		out[i] = diagnostics.PreemptionVictim{Namespace: "spark", Name: "exec-" + string(rune('a'+i)), Priority: int32(5000 - i)}
	}
	return out
}

func TestTheExplanationOfAPod(t *testing.T) {
	web := func() *podExplanationBuilder { return makePodExplanation("shop", "web-1") }
	for name, tc := range map[string]struct {
		pod         *podExplanationBuilder
		unfolded    bool
		want, never []string
	}{
		"no node takes it": {
			pod:  web().refused("NodeResourcesFit", "requested 4 of 2 cores", 2, 1).refused("TaintToleration", "taint gpu", 1, 0),
			want: []string{"✗ Unschedulable", "0 of 3 nodes are available", "NODES   SOLE", "2      1", "requested 4 of 2 cores", "1      0", "taint gpu"},
		},
		"some nodes could not be judged": {
			pod: func() *podExplanationBuilder {
				b := web().refused("A", "no", 1, 1)
				b.Status.NodesUnknown = 2
				return b
			}(),
			want: []string{"1 of 3 nodes refuse the pod; 2 unknown"}, never: []string{"are available"},
		},
		"the nodes of a group are folded": {
			pod:   web().refused("A", "no room", 2, 2, diagnostics.NodeRefusal{Node: "node-7", Message: "no room at all"}),
			never: []string{"node-7", "more node"},
		},
		"and listed with their numbers": {
			pod: web().refused("A", "no room", 3, 2, diagnostics.NodeRefusal{Node: "node-7", Message: "no room at all", Others: 2,
				Operands: []diagnostics.Term{{Name: "podRequests", Value: 4000, Unit: diagnostics.MilliCPU}, {Name: "free", Value: 50, Unit: diagnostics.Percent}}}),
			unfolded: true, want: []string{"node-7: no room at all (also refused by 2 other plugins)", "pod requests 4 cores, free 50%", "and 2 more nodes"},
		},
		"the fix is a command": {
			pod:  web().fix(diagnostics.Fix{Target: diagnostics.FixCluster, Description: "uncordon node-1", Command: "kubectl uncordon node-1", Node: "node-1", NodesUnlocked: 1, Verified: true}),
			want: []string{"smallest fix   ✓ verified by replay", "uncordon node-1", "change of the cluster, makes 1 node available, node-1 first", "$ kubectl uncordon node-1"},
		},
		"a fix without a command, not verified": {
			pod:  web().fix(diagnostics.Fix{Target: diagnostics.FixPod, Description: "ask for less", NodesUnlocked: 4}),
			want: []string{"? not verified", "ask for less", "change of the pod, makes 4 nodes available"}, never: []string{"$", "first"},
		},
		"a pod that has to be recreated": {
			pod:  web().fix(diagnostics.Fix{Target: diagnostics.FixPod, Description: "ask for less", Recreate: true}),
			want: []string{"an existing pod cannot be changed this way; recreate it: koordctl explain pod"},
		},
		"by its owner": {
			pod:  web().fix(diagnostics.Fix{Target: diagnostics.FixPod, Description: "ask for less", Recreate: true, Owner: "Deployment/web"}),
			want: []string{"change the pod template of Deployment/web"}, never: []string{"recreate it"},
		},
		"preemption that cannot help is folded": {
			pod:   web().preemption(diagnostics.Preemption{Verdict: diagnostics.PreemptionHelpless, Message: "evictions do not help"}),
			never: []string{"preemption"},
		},
		"and shown when unfolded": {
			pod: web().preemption(diagnostics.Preemption{Verdict: diagnostics.PreemptionHelpless, Message: "evictions do not help",
				Refusals: []diagnostics.PreemptionRefusal{{Plugin: "NodeAffinity", Code: "KOORD1903", Reason: "no label", Count: 3}}}),
			unfolded: true, want: []string{"preemption   ◐ Helpless", "evictions do not help", "STILL REFUSED", "3  NodeAffinity KOORD1903: no label"},
		},
		"preemption evicts, the first victims": {
			pod:  web().preemption(diagnostics.Preemption{Verdict: diagnostics.PreemptionEvicts, Message: "would evict 7 pods", Victims: victims(7)}),
			want: []string{"preemption   ✓ Evicts", "PRIORITY  VICTIM", "5000  spark/exec-a", "4996  spark/exec-e", "and 2 more pods"}, never: []string{"exec-f"},
		},
		"all victims when unfolded": {
			pod:      web().preemption(diagnostics.Preemption{Verdict: diagnostics.PreemptionEvicts, Message: "would evict 7 pods", Victims: victims(7)}),
			unfolded: true, want: []string{"spark/exec-a", "spark/exec-g"}, never: []string{"more pod"},
		},
		"a reservation as victim": {
			pod:  web().preemption(diagnostics.Preemption{Verdict: diagnostics.PreemptionWaits, Victims: []diagnostics.PreemptionVictim{{ReservationName: "nightly", Priority: 7}}}),
			want: []string{"◐ Waits", "7  reservation nightly"},
		},
		"a plugin evicts nothing": {
			pod: web().preemption(diagnostics.Preemption{Verdict: diagnostics.PreemptionWaits,
				Declined: []diagnostics.PreemptionDecline{{Plugin: "ElasticQuota", Message: "all are as important"}}}),
			want: []string{"ElasticQuota evicts no pods: all are as important"},
		},
		"why it is where it is": {
			pod: web().verdict(diagnostics.PodBound).placement(diagnostics.Placement{Node: "node-2", Rank: 2, Note: "scores are of now",
				Scores: []diagnostics.NodeScore{{Node: "node-1", Total: 200, Plugins: []diagnostics.PluginScore{{Plugin: "Fit", Score: 120}, {Plugin: "Load", Score: 80}}},
					{Node: "node-2", Total: 100, Plugins: []diagnostics.PluginScore{{Plugin: "Fit", Score: 100}}}}}),
			want: []string{"✓ Bound", "why node-2   rank 2 now", "scores are of now", "  node-1", "200", "Fit 120, Load 80", "→ node-2", "100"},
		},
		"where it could not go any more": {
			pod:  web().verdict(diagnostics.PodBound).placement(diagnostics.Placement{Node: "node-2"}),
			want: []string{"why node-2   would be filtered out now"},
		},
		"where it would go": {
			pod:  web().verdict(diagnostics.PodSchedulable).placement(diagnostics.Placement{Rank: 1}),
			want: []string{"✓ Schedulable", "why the node with the highest score   rank 1 now"},
		},
		"gated":       {pod: web().verdict(diagnostics.PodGated), want: []string{"◐ Gated"}},
		"not for us":  {pod: web().verdict(diagnostics.PodNotResponsible), want: []string{"◐ NotResponsible"}},
		"it is done":  {pod: web().verdict(diagnostics.PodFinished), want: []string{"✓ Finished"}},
		"not checked": {pod: web().verdict(diagnostics.PodUnknown), want: []string{"◐ Unknown"}},
		"what the user may not see is counted": {
			pod: func() *podExplanationBuilder {
				b := web()
				b.Status.Withheld = []diagnostics.Withheld{{Resource: "nodes", Count: 30}}
				return b
			}(),
			want: []string{"Not shown: 30 nodes, which you do not have permission to get"},
		},
		"a scheduling hint and the node that it prefers most": {
			pod: func() *podExplanationBuilder {
				b := web()
				b.Status.Pod.Hint = &diagnostics.PodHint{Summary: "the hint prefers 2 nodes", Preferred: []diagnostics.HintedNode{{Node: "node-3", Message: "0 workers"}, {Node: "node-4"}}}
				return b
			}(),
			want: []string{"the hint prefers 2 nodes; first node-3: 0 workers"},
		},
		"a finding has its hint and its code": {
			pod: func() *podExplanationBuilder {
				b := web()
				b.Status.Findings = []diagnostics.Finding{{Code: "KOORD0102", Severity: diagnostics.SeverityError, Message: "too old", Hint: "koordctl status"},
					{Code: "KOORD0103", Severity: diagnostics.SeverityInfo, Message: "by the way"}}
				return b
			}(),
			want: []string{"✗ error: too old", "hint: koordctl status", "KOORD0102", "· info: by the way", "KOORD0103"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := explainedPod(t, tc.pod, tc.unfolded)
			for _, width := range []int{120, 200} {
				says(t, textOf(d.podText(width)), tc.want, tc.never)
			}
			for line := range strings.Lines(textOf(d.podText(minWidth))) {
				if len([]rune(strings.TrimRight(line, "\n"))) > minWidth {
					t.Errorf("a line is wider than %d: %q", minWidth, line)
				}
			}
		})
	}
}

// TestThePluginHasAColumnWhereThereIsRoom, and stands in the note where there is not.
func TestThePluginHasAColumnWhereThereIsRoom(t *testing.T) {
	d := explainedPod(t, makePodExplanation("shop", "web-1").refused("NodeResourcesFit", "requested 4 of 2 cores", 3, 3), false)
	says(t, textOf(d.podText(minWidth)), []string{"SOLE  REASON", "requested 4 of 2 cores", "NodeResourcesFit KOORD1901 capacity"}, []string{"PLUGIN"})
	says(t, textOf(d.podText(160)), []string{"PLUGIN", "REASON", "NodeResourcesFit", "requested 4 of 2 cores", "KOORD1901 capacity"}, nil)
}

func TestFactsOfAPodLeaveOutWhatIsUnknown(t *testing.T) {
	d := explainedPod(t, makePodExplanation("shop", "web-1"), false)
	got := textOf(d.podFacts(&diagnostics.PodFacts{Phase: corev1.PodPending, QoSClass: "LS", Priority: new(int32(9000)),
		Requests: corev1.ResourceList{"cpu": resource.MustParse("1500m"), "kubernetes.io/batch-cpu": resource.MustParse("2500"), "nvidia.com/gpu": resource.MustParse("2")}}, 200))
	says(t, got, []string{"phase Pending", "qos LS", "priority 9000", "requests cpu 1.5", "requests kubernetes.io/batch-cpu 2.5", "requests nvidia.com/gpu 2"},
		[]string{"band", "node", "age", "scheduler", "estimated"})
}

func TestAmounts(t *testing.T) {
	for name, tc := range map[string]struct {
		resource corev1.ResourceName
		quantity string
		want     string
	}{
		"cpu in cores":                    {"cpu", "250m", "0.25"},
		"batch-cpu counts thousandths":    {"kubernetes.io/batch-cpu", "250", "0.25"},
		"mid-cpu too":                     {"kubernetes.io/mid-cpu", "4k", "4"},
		"memory in bytes":                 {"memory", "1536Mi", "1.50Gi"},
		"batch-memory":                    {"kubernetes.io/batch-memory", "1Gi", "1Gi"},
		"what it does not know, as it is": {"example.com/fpga", "3", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := amountText(tc.resource, resource.MustParse(tc.quantity)); got != tc.want {
				t.Errorf("%s of %s is %q, want %q", tc.quantity, tc.resource, got, tc.want)
			}
		})
	}
}

func TestFlowFillsLines(t *testing.T) {
	for name, tc := range map[string]struct {
		items []string
		width int
		want  []string
	}{
		"none":                        {nil, 20, nil},
		"one line":                    {[]string{"a 1", "b 2"}, 20, []string{"> a 1  b 2"}},
		"several":                     {[]string{"a 1", "b 2", "c 3"}, 8, []string{"> a 1  b 2", "> c 3"}},
		"one that is too long alone":  {[]string{"aaaaaaaaaa", "b"}, 5, []string{"> aaaaaaaaaa", "> b"}},
		"just as wide as the line is": {[]string{"aaa", "bbb"}, 8, []string{"> aaa  bbb"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, flow(tc.items, tc.width, "> ")); diff != "" {
				t.Errorf("unexpected lines (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheNodeOfAPodIsOneKeyAway: the one it runs on, or the one a fix makes available first.
func TestTheNodeOfAPodIsOneKeyAway(t *testing.T) {
	for name, tc := range map[string]struct {
		pod                 *podExplanationBuilder
		wantNode, wantFlash string
	}{
		"where it runs": {func() *podExplanationBuilder {
			b := makePodExplanation("shop", "web-1")
			b.Status.Pod.NodeName = "node-0003"
			return b
		}(), "node-0003", ""},
		"where the fix would let it run": {makePodExplanation("shop", "web-1").fix(diagnostics.Fix{Node: "node-0005"}), "node-0005", ""},
		"nowhere":                        {makePodExplanation("shop", "web-1"), "", "the pod is not assigned to a node"},
	} {
		t.Run(name, func(t *testing.T) {
			d := explainedPod(t, tc.pod, false)
			d.openNode(d.Model)
			top := d.page()
			if got := top.about.name; tc.wantNode != "" && (top.screen.name != nodeName || got != tc.wantNode) {
				t.Errorf("opens %s %s, want node %s", top.screen.name, got, tc.wantNode)
			}
			if d.flash.text != tc.wantFlash {
				t.Errorf("says %q, want %q", d.flash.text, tc.wantFlash)
			}
		})
	}
	d := &pod{Model: newRig(t, 30).start().m}
	if cmd := d.openNode(d.Model); cmd != nil || d.page().screen.name != nodesName {
		t.Error("a pod of which nothing is known yet has a node")
	}
}
