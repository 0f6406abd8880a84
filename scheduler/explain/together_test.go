package explain

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

func withMinMember(c *cluster, minMember int32, members ...*corev1.Pod) *cluster {
	c.addGroup(newGroup("team", minMember))
	for _, member := range members {
		c.addPod(inGang("team", member))
	}
	return c
}

// TestTheVerdictOfAMemberIsThatOfItsGang has nodes with 16 CPU, and no member that was refused a moment ago.
func TestTheVerdictOfAMemberIsThatOfItsGang(t *testing.T) {
	tests := map[string]struct {
		nodes     int
		minMember int32
		members   []*corev1.Pod
		asked     string
		// taken are the CPUs that another pod has of the last node.
		taken       string
		wantVerdict diagnosticsv1alpha1.PodVerdict
		wantCode    finding.Code
		wantSummary string
		wantFix     string
	}{
		"two small members and one that is larger than any node": {
			nodes: 3, minMember: 3, asked: "a", members: []*corev1.Pod{newPod("a", "cpu", "1"), newPod("b", "cpu", "1"), newPod("big", "cpu", "60")},
			wantVerdict: diagnosticsv1alpha1.PodUnschedulable, wantCode: finding.GangMemberRefused,
			wantSummary: "Pod default/big: 0/3 nodes are available: 3 Insufficient cpu (requested",
			wantFix:     "for pod default/big: reduce the pod's cpu request from 60 to 16 (by 44)",
		},
		"fewer members are enough": {
			nodes: 3, minMember: 2, asked: "a", members: []*corev1.Pod{newPod("a", "cpu", "1"), newPod("b", "cpu", "1"), newPod("big", "cpu", "60")},
			wantVerdict: diagnosticsv1alpha1.PodSchedulable, wantSummary: "3/3 nodes are available",
		},
		"each member fits, and not all of them together": {
			nodes: 2, minMember: 3, asked: "a", members: []*corev1.Pod{newPod("a", "cpu", "9"), newPod("b", "cpu", "9"), newPod("c", "cpu", "9")},
			wantVerdict: diagnosticsv1alpha1.PodUnschedulable, wantCode: finding.GangMemberRefused,
			wantSummary: "Pod default/c: 0/2 nodes are available: 2 Insufficient cpu (requested",
			wantFix:     "for pod default/c: reduce the pod's cpu request from 9 to 7 (by 2)",
		},
		"the largest member has to be placed first": {
			nodes: 2, minMember: 3, asked: "a", members: []*corev1.Pod{newPod("a", "cpu", "2"), newPod("b", "cpu", "2"), newPod("c", "cpu", "16")},
			taken:       "1",
			wantVerdict: diagnosticsv1alpha1.PodSchedulable, wantSummary: "2/2 nodes are available",
		},
		"the largest member itself is asked about": {
			nodes: 1, minMember: 2, asked: "big", members: []*corev1.Pod{newPod("a", "cpu", "4"), newPod("big", "cpu", "14")},
			wantVerdict: diagnosticsv1alpha1.PodUnschedulable, wantCode: finding.GangMemberRefused,
			wantSummary: "Pod default/big: 0/1 nodes are available: 1 Insufficient cpu (requested",
			wantFix:     "reduce the pod's cpu request from 14 to 12 (by 2)",
		},
		"members are so many that fewer cost less than what the others give up": {
			nodes: 1, minMember: 4, asked: "a",
			members:     []*corev1.Pod{newPod("a", "cpu", "8"), newPod("b", "cpu", "8"), newPod("c", "cpu", "8"), newPod("d", "cpu", "8")},
			wantVerdict: diagnosticsv1alpha1.PodUnschedulable, wantCode: finding.GangMemberRefused,
			wantSummary: "Pod default/c: 0/1 nodes are available: 1 Insufficient cpu (requested",
			wantFix:     "lower minMember of PodGroup default/team from 4 to 2, which is how many members there is room for",
		},
		"devices that one member takes are gone for the next": {
			nodes: 1, minMember: 2, asked: "a", members: []*corev1.Pod{newPod("a", "cpu", "1", "nvidia.com/gpu", "1"), newPod("b", "cpu", "1", "nvidia.com/gpu", "1")},
			wantVerdict: diagnosticsv1alpha1.PodUnschedulable, wantCode: finding.GangMemberRefused,
			wantSummary: "Pod default/b: 0/1 nodes are available: 1 node(s) had insufficient GPUs.",
			wantFix:     "lower minMember of PodGroup default/team from 2 to 1, which is how many members there is room for",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newShippedCluster(t, newDevice("node-0", 1))
			for i := range test.nodes {
				node := newNode(i)
				offerGPUs(node, 4) // more than the Device has, which decides
				c.addNode(node)
			}
			if test.taken != "" {
				c.addPod(on(test.nodes-1, newPod("other", "cpu", test.taken)))
			}
			withMinMember(c, test.minMember, test.members...)
			status := c.explain(test.asked)
			if status.Verdict != test.wantVerdict || status.Code != string(test.wantCode) || !strings.Contains(status.Summary, test.wantSummary) {
				t.Errorf("verdict %s %s: %s\nwant %s %s: %s", status.Verdict, status.Code, status.Summary, test.wantVerdict, test.wantCode, test.wantSummary)
			}
			if fix := status.Fix; fix != nil && fix.Description != test.wantFix || fix == nil && test.wantFix != "" {
				t.Errorf("fix %+v, want %q", status.Fix, test.wantFix)
			}
		})
	}
}
