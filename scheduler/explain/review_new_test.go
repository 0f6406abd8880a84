package explain

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// reviewed asks about a cluster, and returns the placements and the copies as texts.
func reviewed(t *testing.T, c *cluster, spec diagnosticsv1alpha1.PlacementReviewSpec) (placements, copies []string, status *diagnosticsv1alpha1.PlacementReviewStatus) {
	t.Helper()
	answer, err := c.engine.ReviewPlacements(context.Background(), &diagnosticsv1alpha1.PlacementReview{Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range answer.Status.Placements {
		placements = append(placements, strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Name, p.Verdict, p.Node)))
	}
	for _, copied := range answer.Status.Copies {
		text := fmt.Sprintf("%s %s %d/%d", copied.Like, copied.Verdict, copied.Placed, copied.Asked)
		for _, node := range copied.Nodes {
			text += fmt.Sprintf(" %s:%d", node.Name, node.Copies)
		}
		copies = append(copies, text)
	}
	return placements, copies, &answer.Status
}

func withVolume(source corev1.VolumeSource, pod *corev1.Pod) *corev1.Pod {
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: source})
	return pod
}

func gatedBy(gate string, pod *corev1.Pod) *corev1.Pod {
	pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: gate}}
	return pod
}

func TestReviewOfPodsWithoutNodes(t *testing.T) {
	copies := func(like string, count int32) []diagnosticsv1alpha1.PlacementReviewCopies {
		return []diagnosticsv1alpha1.PlacementReviewCopies{{Namespace: "default", Like: like, Count: count}}
	}
	like := func(count int32) []diagnosticsv1alpha1.PlacementReviewNodes {
		return []diagnosticsv1alpha1.PlacementReviewNodes{{Like: "node-0", Count: count}}
	}
	offer := func(pairs ...string) []diagnosticsv1alpha1.PlacementReviewOffer {
		return []diagnosticsv1alpha1.PlacementReviewOffer{{Node: "node-0", Allocatable: list(pairs...)}}
	}
	tests := []struct {
		name           string
		pods           []*corev1.Pod
		gang           int32
		spec           diagnosticsv1alpha1.PlacementReviewSpec
		wantPlacements []string
		wantCopies     []string
		wantNodes      []string
		wantIncomplete []string
	}{
		{
			name:           "the pod of the higher priority takes the room",
			pods:           []*corev1.Pod{on(0, newPod("there", "cpu", "8")), withPriority(newPod("early", "cpu", "6"), 1), withPriority(newPod("first", "cpu", "6"), 2)},
			spec:           diagnosticsv1alpha1.PlacementReviewSpec{Waiting: true},
			wantPlacements: []string{"first Found node-0", "early None"},
		},
		{
			name:           "a new node takes those that got none",
			pods:           []*corev1.Pod{on(0, newPod("there", "cpu", "8")), withPriority(newPod("early", "cpu", "9"), 1), withPriority(newPod("first", "cpu", "6"), 2)},
			spec:           diagnosticsv1alpha1.PlacementReviewSpec{Waiting: true, NewNodes: like(1), ExcludedNodes: []string{"node-0"}},
			wantPlacements: []string{"first Found node-0-new-1", "early Found node-0-new-1"},
			wantNodes:      []string{"node-0-new-1"},
		},
		{
			name:           "a new node has the pods of DaemonSets of the node that it is like, and no others",
			pods:           []*corev1.Pod{ownedBy("DaemonSet", "agent", on(0, newPod("agent", "cpu", "10"))), ownedBy("ReplicaSet", "web", on(0, newPod("web", "cpu", "6"))), newPod("waits", "cpu", "6"), newPod("large", "cpu", "7")},
			spec:           diagnosticsv1alpha1.PlacementReviewSpec{Waiting: true, NewNodes: like(2)},
			wantPlacements: []string{"large None", "waits Found node-0-new-1"},
			wantNodes:      []string{"node-0-new-1", "node-0-new-2"},
		},
		{
			name:           "pods that the scheduler does not try, or that it does not place, or that it has placed",
			pods:           []*corev1.Pod{gatedBy("quota", newPod("gated", "cpu", "1")), foreign(newPod("foreign", "cpu", "1")), on(0, newPod("there", "cpu", "1"))},
			spec:           diagnosticsv1alpha1.PlacementReviewSpec{Waiting: true},
			wantPlacements: []string{"gated Gated"},
		},
		{
			name:           "a node that offers more takes more, of what it did not offer either",
			pods:           []*corev1.Pod{on(0, newPod("there", "cpu", "8")), newPod("waits", "cpu", "20"), newPod("batch", "kubernetes.io/batch-cpu", "3000")},
			spec:           diagnosticsv1alpha1.PlacementReviewSpec{Waiting: true, Offers: offer("cpu", "28", "kubernetes.io/batch-cpu", "3000")},
			wantPlacements: []string{"batch Found node-0", "waits Found node-0"},
		},
		{
			name:           "a node that offers less than is requested takes none, and keeps its pods",
			pods:           []*corev1.Pod{on(0, newPod("there", "cpu", "8")), newPod("waits", "cpu", "1"), newPod("small", "memory", "1Gi")},
			spec:           diagnosticsv1alpha1.PlacementReviewSpec{Waiting: true, Offers: offer("cpu", "4")},
			wantPlacements: []string{"small Found node-0", "waits None"},
		},
		{
			name:           "a new node offers what the one that it is like would offer",
			pods:           []*corev1.Pod{newPod("waits", "cpu", "20")},
			spec:           diagnosticsv1alpha1.PlacementReviewSpec{Waiting: true, Offers: offer("cpu", "20"), NewNodes: like(1), ExcludedNodes: []string{"node-0"}},
			wantPlacements: []string{"waits Found node-0-new-1"}, wantNodes: []string{"node-0-new-1"},
		},
		{
			name:       "copies until one is refused",
			pods:       []*corev1.Pod{on(0, newPod("web", "cpu", "5"))},
			spec:       diagnosticsv1alpha1.PlacementReviewSpec{Copies: copies("web", 7)},
			wantCopies: []string{"web None 2/7 node-0:2"},
		},
		{
			name:       "as many copies as are asked for, on new nodes too",
			pods:       []*corev1.Pod{on(0, newPod("web", "cpu", "5"))},
			spec:       diagnosticsv1alpha1.PlacementReviewSpec{Copies: copies("web", 4), NewNodes: like(1)},
			wantCopies: []string{"web Found 4/4 node-0:2 node-0-new-1:2"},
			wantNodes:  []string{"node-0-new-1"},
		},
		{
			name:           "copies come after the pods that wait",
			pods:           []*corev1.Pod{on(0, newPod("web", "cpu", "5")), newPod("waits", "cpu", "6")},
			spec:           diagnosticsv1alpha1.PlacementReviewSpec{Waiting: true, Copies: copies("web", 2)},
			wantPlacements: []string{"waits Found node-0"}, wantCopies: []string{"web None 1/2 node-0:1"},
		},
		{
			name:       "copies of pods that there are not, or that another scheduler places",
			pods:       []*corev1.Pod{foreign(on(0, newPod("foreign", "cpu", "1")))},
			spec:       diagnosticsv1alpha1.PlacementReviewSpec{Copies: append(copies("missing", 1), copies("foreign", 1)...)},
			wantCopies: []string{"missing Gone 0/1", "foreign OtherScheduler 0/1"},
		},
		{
			name:       "copies leave out claims, which new pods have of their own",
			pods:       []*corev1.Pod{withVolume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-0"}}, on(0, newPod("db", "cpu", "5")))},
			spec:       diagnosticsv1alpha1.PlacementReviewSpec{Copies: copies("db", 1)},
			wantCopies: []string{"db Found 1/1 node-0:1"}, wantIncomplete: []string{"PersistentVolumeClaims of copies of pod default/db are not considered"},
		},
		{
			name: "a gang without room for all of it gets no node",
			pods: []*corev1.Pod{inGang("team", newPod("m0", "cpu", "9")), inGang("team", newPod("m1", "cpu", "9"))}, gang: 2,
			spec:           diagnosticsv1alpha1.PlacementReviewSpec{Waiting: true},
			wantPlacements: []string{"m0 None", "m1 None"},
		},
		{
			name: "a new node makes room for a gang",
			pods: []*corev1.Pod{inGang("team", newPod("m0", "cpu", "9")), inGang("team", newPod("m1", "cpu", "9"))}, gang: 2,
			spec:           diagnosticsv1alpha1.PlacementReviewSpec{Waiting: true, NewNodes: like(1)},
			wantPlacements: []string{"m0 Found node-0", "m1 Found node-0-new-1"}, wantNodes: []string{"node-0-new-1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newShippedCluster(t)
			c.addNode(newNode(0))
			if tt.gang > 0 {
				c.addGroup(newGroup("team", tt.gang))
			}
			for _, pod := range tt.pods {
				c.addPod(pod)
			}
			placements, copied, status := reviewed(t, c, tt.spec)
			for what, diff := range map[string]string{
				"placements": cmp.Diff(tt.wantPlacements, placements), "copies": cmp.Diff(tt.wantCopies, copied),
				"new nodes": cmp.Diff(tt.wantNodes, status.NewNodes), "incomplete": cmp.Diff(tt.wantIncomplete, status.Incomplete),
			} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}

// TestAReviewChangesNothing: what was placed for one review is not there in the next.
func TestAReviewChangesNothing(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(0))
	c.addPod(on(0, newPod("web", "cpu", "5")))
	c.addPod(newPod("waits", "cpu", "5"))
	spec := diagnosticsv1alpha1.PlacementReviewSpec{
		Waiting: true, NewNodes: []diagnosticsv1alpha1.PlacementReviewNodes{{Like: "node-0", Count: 1}},
		Offers: []diagnosticsv1alpha1.PlacementReviewOffer{{Node: "node-0", Allocatable: list("cpu", "40")}},
		Copies: []diagnosticsv1alpha1.PlacementReviewCopies{{Namespace: "default", Like: "web", Count: 9}},
	}
	_, first, _ := reviewed(t, c, spec)
	_, second, _ := reviewed(t, c, spec)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the second review differs:\n%s", diff)
	}
	if status := c.explain("waits"); status.Placement == nil || status.Placement.Node != "node-0" {
		t.Errorf("the pod that waits: %s", status.Summary)
	}
}

func TestNodesThatAReviewNamesExist(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(0))
	for what, spec := range map[string]diagnosticsv1alpha1.PlacementReviewSpec{
		"new nodes": {Waiting: true, NewNodes: []diagnosticsv1alpha1.PlacementReviewNodes{{Like: "node-9", Count: 1}}},
		"offers":    {Waiting: true, Offers: []diagnosticsv1alpha1.PlacementReviewOffer{{Node: "node-0"}, {Node: "node-9"}}},
	} {
		if _, err := c.engine.ReviewPlacements(context.Background(), &diagnosticsv1alpha1.PlacementReview{Spec: spec}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: error %v, want that the node is not found", what, err)
		}
	}
}

// TestAReviewEndsInTime has the clock go on by a second whenever it is read.
func TestAReviewEndsInTime(t *testing.T) {
	c := newCluster(t)
	c.addNode(newNode(0))
	c.addPod(on(0, newPod("web", "cpu", "10m")))
	began := now
	c.engine.config.Now = func() time.Time {
		began = began.Add(time.Second)
		return began
	}
	_, copied, status := reviewed(t, c, diagnosticsv1alpha1.PlacementReviewSpec{Copies: []diagnosticsv1alpha1.PlacementReviewCopies{{Namespace: "default", Like: "web", Count: 500}}})
	if len(status.Incomplete) != 1 || !strings.Contains(status.Incomplete[0], "copies of pod default/web were not placed within 20s") {
		t.Errorf("copies %q, incomplete %q, want what was not placed", copied, status.Incomplete)
	}
	if placed := status.Copies[0].Placed; placed < 1 || placed > 20 {
		t.Errorf("%d copies were placed in 20 seconds", placed)
	}
}
