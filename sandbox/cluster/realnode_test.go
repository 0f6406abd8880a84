package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/realnode"
)

func labelled(name, label string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{label: "true"}}}
}

// TestNodesThatTheMachineWasBefore are deleted, and no others.
func TestNodesThatTheMachineWasBefore(t *testing.T) {
	for keep, want := range map[string][]string{"box": {"box", "sim-0001"}, "": {"sim-0001"}} {
		client := fake.NewClientset(
			labelled("box", realnode.Label), labelled("before", realnode.Label), labelled("sim-0001", component.SimulatedNodeLabel),
		)
		if err := (&Cluster{client: client}).KeepRealNode(t.Context(), keep); err != nil {
			t.Fatal(err)
		}
		list, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range list.Items {
			got = append(got, list.Items[i].Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("nodes after keeping %q (-want +got):\n%s", keep, diff)
		}
	}
}

func TestWhenANodeIsReady(t *testing.T) {
	since := time.Date(2026, 3, 1, 12, 0, 0, 500, time.UTC)
	condition := func(status corev1.ConditionStatus, after time.Duration) []corev1.NodeCondition {
		return []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastHeartbeatTime: metav1.NewTime(since.Add(after)), Message: "no network"}}
	}
	tests := map[string]struct {
		conditions []corev1.NodeCondition
		taint      string
		want       string
	}{
		"it is new":                        {want: "no Ready condition"},
		"it is not":                        {conditions: condition(corev1.ConditionFalse, time.Second), want: "no network"},
		"it was in an earlier run":         {conditions: condition(corev1.ConditionTrue, -time.Minute), want: "no Ready condition since kubelet started"},
		"it is, and pods may not come yet": {conditions: condition(corev1.ConditionTrue, time.Second), taint: corev1.TaintNodeNotReady, want: "Ready, but the not-ready taint is not removed yet"},
		"it is, and another may not come":  {conditions: condition(corev1.ConditionTrue, time.Second), taint: "team"},
		"it was in the very second, which is what is stored": {conditions: condition(corev1.ConditionTrue, -500)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{Status: corev1.NodeStatus{Conditions: tc.conditions}}
			if tc.taint != "" {
				node.Spec.Taints = []corev1.Taint{{Key: tc.taint}}
			}
			if got := notReady(node, since); got != tc.want {
				t.Errorf("notReady() = %q; want %q", got, tc.want)
			}
		})
	}
}

// TestWhoseBatchResourcesAreAwaited: the sandbox's own nodes, simulated or real, and not those that its user made.
func TestWhoseBatchResourcesAreAwaited(t *testing.T) {
	offering := labelled("sim-0001", component.SimulatedNodeLabel)
	offering.Status.Allocatable = corev1.ResourceList{extension.BatchCPU: resource.MustParse("1")}
	client := fake.NewClientset(offering, labelled("box", realnode.Label), labelled("theirs", "team"))
	got, of, err := (&Cluster{client: client}).countBatch(t.Context())
	if got != 1 || of != 2 || err != nil {
		t.Errorf("countBatch() = %d of %d, %v; want 1 of 2", got, of, err)
	}
}

func TestTheAPIServerMayCallKubelets(t *testing.T) {
	client := fake.NewClientset()
	for range 2 {
		if err := (&Cluster{client: client}).GrantKubeletCalls(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	list, err := client.RbacV1().ClusterRoleBindings().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].RoleRef.Name != "system:kubelet-api-admin" {
		t.Errorf("bindings = %+v, %v; want one to the role for kubelet's API", list, err)
	}
}
