package custompriority

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	"koordinator.sh/koord/decision/descheduling/nodetiers"
	"koordinator.sh/koord/descheduler/plugins/plugintest"
)

func pod(name, verdict string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Annotations: map[string]string{plugintest.VerdictKey: verdict}}}
}

func node(name, tier string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": tier}},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}},
	}
}

func TestPodsLeaveExpensiveNodes(t *testing.T) {
	drain := func(a *nodetiers.Args) { a.Mode, a.AutoCordon = nodetiers.DrainNode, new(true) }
	tests := map[string]struct {
		args         func(*nodetiers.Args)
		verdict      string
		total        int
		dryRun       bool
		want         []string
		wantCordoned bool
	}{
		"all that can":                                        {total: -1, want: []string{"p", "q"}},
		"all but those that are refused":                      {verdict: plugintest.Late, total: -1, want: []string{"q"}},
		"all but those that cannot be evicted":                {verdict: plugintest.Failing, total: -1, want: []string{"q"}},
		"as many as may":                                      {total: 1, want: []string{"p"}},
		"none in a dry run of the plugin":                     {args: func(a *nodetiers.Args) { drain(a); a.DryRun = new(true) }, total: -1},
		"of a node that is not cordoned in a dry run of all":  {args: drain, dryRun: true, total: -1, want: []string{"p", "q"}},
		"of a node that is drained and cordoned":              {args: drain, total: -1, want: []string{"p", "q"}, wantCordoned: true},
		"none of it when one is refused":                      {args: drain, verdict: plugintest.Late, total: -1},
		"no more of it when one cannot, and it is uncordoned": {args: drain, verdict: plugintest.Failing, total: -1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			nodes := []*corev1.Node{node("a", "ondemand"), node("b", "spot")}
			client := fake.NewClientset(nodes[0], nodes[1])
			handle := plugintest.NewHandle(client, map[string][]*corev1.Pod{"a": {pod("p", tc.verdict), pod("q", "")}})
			handle.Evicts.Total, handle.Dry = tc.total, tc.dryRun
			args := &nodetiers.Args{}
			for _, name := range []string{"ondemand", "spot"} {
				args.EvictionOrder = append(args.EvictionOrder, nodetiers.Tier{Name: name, NodeSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": name}}})
			}
			if tc.args != nil {
				tc.args(args)
			}
			nodetiers.SetDefaults(args)
			plugin, err := New(t.Context(), args, handle)
			if err != nil {
				t.Fatal(err)
			}
			if status := plugin.(frameworktypes.BalancePlugin).Balance(t.Context(), nodes); status != nil {
				t.Fatal(status.Err)
			}
			if diff := cmp.Diff(tc.want, handle.Evicts.Evicted); diff != "" {
				t.Errorf("evicted (-want +got):\n%s", diff)
			}
			got, err := client.CoreV1().Nodes().Get(t.Context(), "a", metav1.GetOptions{})
			if err != nil || got.Spec.Unschedulable != tc.wantCordoned {
				t.Errorf("cordoned %v, %v, want %v", got.Spec.Unschedulable, err, tc.wantCordoned)
			}
		})
	}
}
