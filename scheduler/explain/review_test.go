package explain

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// leaving asks about a pod of the default namespace.
func leaving(name string, targets ...string) diagnosticsv1alpha1.PlacementReviewPod {
	return diagnosticsv1alpha1.PlacementReviewPod{Namespace: "default", Name: name, Targets: targets}
}

func TestReviewPlacements(t *testing.T) {
	pods := func() []*corev1.Pod {
		return []*corev1.Pod{
			on(0, newPod("large", "cpu", "10")), on(0, newPod("small", "cpu", "4")), on(1, newPod("resident", "cpu", "4")),
			newPod("pending", "cpu", "1"), foreign(on(0, newPod("foreign", "cpu", "1"))),
		}
	}
	tests := []struct {
		name     string
		spec     diagnosticsv1alpha1.PlacementReviewSpec
		want     []string
		wantText string
	}{
		{
			name: "each pod finds those before it on their new nodes",
			spec: diagnosticsv1alpha1.PlacementReviewSpec{Pods: []diagnosticsv1alpha1.PlacementReviewPod{leaving("large", "node-1"), leaving("small", "node-1", "node-2")}},
			want: []string{"large Found node-0 node-1", "small Found node-0 node-2"},
		},
		{
			name: "without targets the node that scores highest is taken, and never the one that is left",
			spec: diagnosticsv1alpha1.PlacementReviewSpec{Pods: []diagnosticsv1alpha1.PlacementReviewPod{leaving("large")}},
			want: []string{"large Found node-0 node-2"},
		},
		{
			name: "a pod that no node takes stays, and the next one finds it where it is",
			spec: diagnosticsv1alpha1.PlacementReviewSpec{
				Pods:          []diagnosticsv1alpha1.PlacementReviewPod{leaving("large", "node-0"), leaving("resident", "node-0"), leaving("small", "node-2")},
				ExcludedNodes: []string{"node-2"},
			},
			want:     []string{"large None node-0 ", "resident None node-1 ", "small None node-0 "},
			wantText: "0/1 nodes are available: 1 node(s) were the one that the pod leaves",
		},
		{
			name: "pods that cannot leave a node by this scheduler",
			spec: diagnosticsv1alpha1.PlacementReviewSpec{Pods: []diagnosticsv1alpha1.PlacementReviewPod{
				leaving("missing"), {Namespace: "default", Name: "small", UID: "another"}, leaving("pending"), leaving("foreign"), leaving("small", "nowhere"),
			}},
			want: []string{"missing Gone  ", "small Gone  ", "pending NotBound  ", "foreign OtherScheduler node-0 ", "small None node-0 "},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCluster(t)
			for i := range 3 {
				c.addNode(newNode(i))
			}
			for _, pod := range pods() {
				c.addPod(pod)
			}
			answer, err := c.engine.ReviewPlacements(context.Background(), &diagnosticsv1alpha1.PlacementReview{Spec: tt.spec})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range answer.Status.Placements {
				got = append(got, fmt.Sprintf("%s %s %s %s", p.Name, p.Verdict, p.From, p.Node))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("placements (-want +got):\n%s", diff)
			}
			if text := answer.Status.Placements[0].Summary; !strings.Contains(text, tt.wantText) {
				t.Errorf("summary %q, want %q in it", text, tt.wantText)
			}
		})
	}
}

// TestReviewedPodsTakeWhatTheyLeave: the second pod needs what the first one leaves behind.
func TestReviewedPodsTakeWhatTheyLeave(t *testing.T) {
	c := newCluster(t)
	for i := range 2 {
		c.addNode(newNode(i))
	}
	c.addPod(on(0, newPod("first", "cpu", "9")))
	c.addPod(on(1, newPod("second", "cpu", "7")))
	spec := diagnosticsv1alpha1.PlacementReviewSpec{Pods: []diagnosticsv1alpha1.PlacementReviewPod{leaving("first", "node-1"), leaving("second", "node-0")}}
	answer, err := c.engine.ReviewPlacements(context.Background(), &diagnosticsv1alpha1.PlacementReview{Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Status.Placements[1].Verdict; got != diagnosticsv1alpha1.PlacementFound {
		t.Errorf("second pod: %s, want %s", got, diagnosticsv1alpha1.PlacementFound)
	}
	explained := c.explain("first")
	if explained.Placement.Node != "node-0" {
		t.Errorf("the review moved the pod to %s", explained.Placement.Node)
	}
}

// foreign is a pod of another scheduler.
func foreign(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.SchedulerName = "another"
	return pod
}
