package cluster

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"koordinator.sh/koord/sandbox/scenario"
	"koordinator.sh/koord/sandbox/state"
)

// TestKwoksRightsAreThoseOfThisVersion grants them where an earlier version of the program had granted others.
func TestKwoksRightsAreThoseOfThisVersion(t *testing.T) {
	fresh, old := fake.NewClientset(), fake.NewClientset(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: kwokName}})
	var rules [2][]rbacv1.PolicyRule
	for i, client := range []*fake.Clientset{fresh, old} {
		c := &Cluster{client: client}
		for range 2 {
			if err := c.GrantKwok(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		role, err := client.RbacV1().ClusterRoles().Get(t.Context(), kwokName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rules[i] = role.Rules
	}
	if diff := cmp.Diff(rules[0], rules[1]); diff != "" || len(rules[0]) == 0 {
		t.Errorf("rules (-in a new sandbox +in an old one):\n%s", diff)
	}
}

func TestNodesBecomeThoseAskedFor(t *testing.T) {
	client := fake.NewClientset()
	c := &Cluster{client: client}
	for _, nodes := range []int{3, 5, 5, 2, 0} {
		var last string
		if err := c.EnsureNodes(t.Context(), state.Spec{Nodes: nodes}, func(detail string) { last = max(last, detail) }); err != nil {
			t.Fatal(err)
		}
		list, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for i := range list.Items {
			got = append(got, list.Items[i].Name)
		}
		for i := range nodes {
			want = append(want, scenario.NodeName(i+1))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("nodes, of %d (-want +got):\n%s", nodes, diff)
		}
		if said := fmt.Sprintf("%d of %d", nodes, nodes); last != "" && last != said {
			t.Errorf("detail in the end = %q; want %q", last, said)
		}
	}
}
