package live

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/source"
)

// placing is a scheduler that puts every pod on one node, and keeps what it was asked.
type placing struct {
	to    string
	asked *diagnosticsv1alpha1.PlacementReviewSpec
	// refuses is why that node takes no pod; empty when it does. standby is true for one that does not lead.
	refuses string
	standby bool
}

func (p *placing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review diagnosticsv1alpha1.PlacementReview
	_ = json.NewDecoder(r.Body).Decode(&review)
	p.asked = &review.Spec
	review.Status.Origin.Leader = !p.standby
	for _, pod := range review.Spec.Pods {
		if p.refuses != "" {
			review.Status.Placements = append(review.Status.Placements, diagnosticsv1alpha1.PodPlacement{
				Namespace: pod.Namespace, Name: pod.Name, Verdict: diagnosticsv1alpha1.PlacementNone,
				Groups: []diagnosticsv1alpha1.RefusalGroup{{Reason: p.refuses, Nodes: []diagnosticsv1alpha1.NodeRefusal{{Node: p.to}}}},
			})
			continue
		}
		review.Status.Placements = append(review.Status.Placements, diagnosticsv1alpha1.PodPlacement{Namespace: pod.Namespace, Name: pod.Name, Verdict: diagnosticsv1alpha1.PlacementFound, Node: p.to})
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(review)
}

// draining has two pods of a gang on worker-1, under a budget, a quota and a Reservation, and an old node without pods.
func draining() (*clusterBuilder, *placing) {
	member := func(p *corev1.Pod) {
		p.Labels = map[string]string{extension.LabelPodGroup: "train"}
		p.Annotations = map[string]string{extension.AnnotationReservationAllocated: `{"name":"night"}`}
	}
	old := func(n *corev1.Node) { n.Labels = map[string]string{"generation": "old"} }
	scheduler := &placing{to: "worker-2"}
	b := makeCluster().node("worker-1", old).node("worker-2").node("worker-3", old).
		pod("shop", "web-0", "worker-1", "1", owned("web"), readyPod, member).pod("shop", "web-1", "worker-1", "1", owned("web"), readyPod, member).
		usage("worker-1", "2", 0).usage("worker-2", "2", 0).budget("shop", "web", 2).reservation("night").
		list("elasticquotas", &schedulingsigsv1alpha1.ElasticQuotaList{Items: []schedulingsigsv1alpha1.ElasticQuota{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop"}}}}).
		list("podgroups", &schedulingsigsv1alpha1.PodGroupList{Items: []schedulingsigsv1alpha1.PodGroup{
			{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "train"}, Spec: schedulingsigsv1alpha1.PodGroupSpec{MinMember: 2}},
		}})
	b.server.Reservations[0].Status.Phase, b.server.Reservations[0].Status.NodeName = schedulingv1alpha1.ReservationAvailable, "worker-1"
	b.server.Diagnostics = scheduler
	return b, scheduler
}

func TestADrainIsForecastFromWhatMayBeRead(t *testing.T) {
	const (
		placed  = "2 pods evicted; all get a node: 2 on worker-2"
		unknown = "2 pods evicted; where 2 pods go is unknown"
	)
	tests := map[string]struct {
		edit           func(*clusterBuilder)
		want           string
		wantVerdict    diagnosticsv1alpha1.DrainVerdict
		wantIncomplete []string
		wantFinding    finding.Code
	}{
		"everything": {func(*clusterBuilder) {}, placed, "Completes", nil, ""},
		"not the budgets": {
			func(b *clusterBuilder) { b.denied("list poddisruptionbudgets") }, placed + "; whether PodDisruptionBudgets hold pods back is unknown", "Unknown",
			[]string{"list poddisruptionbudgets.policy: not permitted*whether PodDisruptionBudgets hold pods back is unknown (KOORD0002)"}, "",
		},
		"the server does not manage to list budgets": {
			func(b *clusterBuilder) { b.failing("list poddisruptionbudgets") }, placed + "; whether PodDisruptionBudgets hold pods back is unknown", "Unknown",
			[]string{"list poddisruptionbudgets.policy: *; whether PodDisruptionBudgets hold pods back is unknown"}, "",
		},
		"not what belongs to the pods": {
			func(b *clusterBuilder) {
				b.denied("list nodemetrics", "list elasticquotas", "list podgroups", "list reservations")
			}, placed, "Completes",
			[]string{
				"list nodemetrics*what is used is unknown (KOORD0002)", "list elasticquotas*the quotas of the pods are unknown (KOORD0002)",
				"list podgroups*how many members gangs need is unknown (KOORD0002)", "list reservations*which Reservations are on the nodes is unknown (KOORD0002)",
			}, "",
		},
		"no permission to ask the scheduler": {
			func(b *clusterBuilder) { b.denied("create placementreviews") }, unknown, "Unknown",
			[]string{"you do not have permission to create placementreviews.diagnostics.koordinator.sh*; where pods go is unknown"}, finding.Forbidden,
		},
		"no diagnostics API": {
			func(b *clusterBuilder) { b.server.Diagnostics = nil }, unknown, "Unknown",
			[]string{"this cluster has no diagnostics API*; where pods go is unknown"}, finding.DiagnosticsUnavailable,
		},
		"no scheduler": {
			func(b *clusterBuilder) {
				b.server.Diagnostics = status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, string(finding.SchedulerUnavailable))
			}, unknown, "Unknown", []string{"koord-scheduler did not respond: broken*; where pods go is unknown"}, finding.SchedulerUnavailable,
		},
		"a cluster without koordinator": {
			func(b *clusterBuilder) { b.server.NoCRDs, b.server.Diagnostics = true, nil }, unknown, "Unknown",
			[]string{"list nodemetrics*", "this cluster has no diagnostics API*; where pods go is unknown"}, finding.DiagnosticsUnavailable,
		},
		"the scheduler is not asked where nothing comes back": {
			func(b *clusterBuilder) { b.server.Pods, b.server.Diagnostics = nil, nil }, "0 pods evicted", "Completes", nil, "",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster, _ := draining()
			tc.edit(cluster)
			answer, err := cluster.source(t).ForecastDrain(t.Context(), source.DrainQuery{Names: []string{"worker-1"}})
			if err != nil {
				t.Fatal(err)
			}
			if answer.Message != tc.want || answer.Verdict != tc.wantVerdict {
				t.Errorf("%s: %q, want %s: %q", answer.Verdict, answer.Message, tc.wantVerdict, tc.want)
			}
			checkIncomplete(t, answer.Incomplete, tc.wantIncomplete)
			if found := len(answer.Findings) > 0; found != (tc.wantFinding != "") || found && (answer.Findings[0].Code != string(tc.wantFinding) || answer.Findings[0].Hint == "") {
				t.Errorf("findings %+v, want %q with a hint", answer.Findings, tc.wantFinding)
			}
		})
	}
}

func TestNodesToDrainAreSelected(t *testing.T) {
	tests := map[string]struct {
		query    source.DrainQuery
		want     []string
		wantCode finding.Code
		wantErr  string
	}{
		"by name, sorted":          {query: source.DrainQuery{Names: []string{"worker-2", "worker-1"}}, want: []string{"worker-1", "worker-2"}},
		"by label":                 {query: source.DrainQuery{LabelSelector: "generation=old"}, want: []string{"worker-1", "worker-3"}},
		"by a label that none has": {query: source.DrainQuery{LabelSelector: "generation=older"}},
		"names win":                {query: source.DrainQuery{Names: []string{"worker-2"}, LabelSelector: "generation=old"}, want: []string{"worker-2"}},
		"a misspelt name":          {query: source.DrainQuery{Names: []string{"worker-1", "worker-4"}}, wantCode: finding.NotFound, wantErr: `node "worker-4" not found, did you mean "worker-1"?`},
		"a selector that is none":  {query: source.DrainQuery{LabelSelector: "=old"}, wantErr: "found '='"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster, _ := draining()
			slices.Reverse(cluster.server.Nodes)
			answer, err := cluster.source(t).ForecastDrain(t.Context(), tc.query)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) || tc.wantCode != "" && !hasCode(err, tc.wantCode) {
					t.Errorf("error %v, want %s %q", err, tc.wantCode, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range answer.Nodes {
				got = append(got, n.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || !strings.HasPrefix(answer.Command, "kubectl drain "+strings.Join(tc.want, " ")) {
				t.Errorf("%s, nodes (-want +got):\n%s", answer.Command, diff)
			}
		})
	}
}

func TestADrainNeedsNodesAndPods(t *testing.T) {
	for _, what := range []string{"list nodes", "list pods"} {
		cluster, _ := draining()
		cluster.denied(what)
		if answer, err := cluster.source(t).ForecastDrain(t.Context(), source.DrainQuery{Names: []string{"worker-1"}}); !hasCode(err, finding.Forbidden) || answer != nil {
			t.Errorf("%s is refused: answer %v, error %v", what, answer, err)
		}
	}
}

func TestTheSchedulerIsAskedWhereThePodsOfADrainGo(t *testing.T) {
	cluster, scheduler := draining()
	cluster.server.Pods[0].UID = "uid-0"
	answer, err := cluster.source(t).ForecastDrain(t.Context(), source.DrainQuery{LabelSelector: "generation=old"})
	if err != nil {
		t.Fatal(err)
	}
	want := &diagnosticsv1alpha1.PlacementReviewSpec{
		ExcludedNodes: []string{"worker-1", "worker-3"}, Pods: []diagnosticsv1alpha1.PlacementReviewPod{{Namespace: "shop", Name: "web-0", UID: "uid-0"}, {Namespace: "shop", Name: "web-1"}},
	}
	if diff := cmp.Diff(want, scheduler.asked); diff != "" {
		t.Errorf("question (-want +got):\n%s", diff)
	}
	if len(answer.Gangs) != 1 || answer.Gangs[0].Leaving != 2 || len(answer.Quotas) != 1 || answer.Quotas[0].Leaving != 2 || len(answer.Reservations) != 1 || answer.Reservations[0].Leaving != 2 {
		t.Errorf("gangs %+v, quotas %+v, reservations %+v", answer.Gangs, answer.Quotas, answer.Reservations)
	}
}
