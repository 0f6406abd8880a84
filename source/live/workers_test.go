package live

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live/livetest"
)

// sizedEngine is ElasticWorkers with a status as large as that of a real engine.
func sizedEngine(namespace, name string, decided time.Time) schedulingv1alpha1.ElasticWorkers {
	w := schedulingv1alpha1.ElasticWorkers{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"engine": name}, ManagedFields: managed(2000)}}
	w.Spec.TargetRef = schedulingv1alpha1.ElasticWorkersTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: name + "-worker"}
	w.Spec.MaxReplicas = 50
	at := metav1.NewTime(decided)
	w.Status = schedulingv1alpha1.ElasticWorkersStatus{
		UpdateTime: &at, CurrentReplicas: 9, DesiredReplicas: 7, LimitedBy: "headroom", Message: "7 workers, limited by headroom: 10% are left to other pods",
		Conditions: []metav1.Condition{{Type: schedulingv1alpha1.ElasticWorkersActive, Status: metav1.ConditionTrue, Reason: "Sized"}},
	}
	for i := range 10 {
		w.Status.Terms = append(w.Status.Terms, schedulingv1alpha1.ElasticWorkersTerm{Name: "term", Operator: "minus", Value: int64(i), Note: "within 15m0s, on 1 node"})
		w.Status.Next = append(w.Status.Next, schedulingv1alpha1.ElasticWorkersCandidate{Name: fmt.Sprintf("%s-worker-%d", name, i), Node: "node-1", Reason: "the youngest go first"})
	}
	for i := range 20 {
		w.Status.Nodes = append(w.Status.Nodes, schedulingv1alpha1.ElasticWorkersNode{Name: fmt.Sprintf("node-%d", i), Workers: 1, Now: 2, Later: 1})
	}
	return w
}

func engines() *clusterBuilder {
	return makeCluster().list("elasticworkers", &schedulingv1alpha1.ElasticWorkersList{Items: []schedulingv1alpha1.ElasticWorkers{
		sizedEngine("sql", "trino", builtAt), sizedEngine("etl", "spark", builtAt), sizedEngine("sql", "presto", builtAt),
	}})
}

func TestElasticWorkersAreSelected(t *testing.T) {
	tests := map[string]struct {
		query             source.WorkersQuery
		edit              func(*clusterBuilder)
		want              []string
		wantCode          finding.Code
		wantErr, wantHint string
	}{
		"all, by namespace and name": {want: []string{"etl/spark", "sql/presto", "sql/trino"}},
		"a namespace":                {query: source.WorkersQuery{Namespace: "sql"}, want: []string{"sql/presto", "sql/trino"}},
		"a namespace without any":    {query: source.WorkersQuery{Namespace: "shop"}},
		"a label":                    {query: source.WorkersQuery{LabelSelector: "engine in (trino, spark)"}, want: []string{"etl/spark", "sql/trino"}},
		"one name":                   {query: source.WorkersQuery{Namespace: "sql", Names: []string{"trino"}}, want: []string{"sql/trino"}},
		"several names":              {query: source.WorkersQuery{Namespace: "sql", Names: []string{"trino", "presto"}}, want: []string{"sql/presto", "sql/trino"}},
		"a name that none has": {
			query: source.WorkersQuery{Namespace: "sql", Names: []string{"trini"}}, wantCode: finding.NotFound,
			wantErr: `workers "trini" not found in namespace "sql", did you mean "trino"?`, wantHint: "koordctl top workers -n sql",
		},
		"one of two names": {
			query: source.WorkersQuery{Namespace: "sql", Names: []string{"trino", "spark"}}, wantCode: finding.NotFound,
			wantErr: `workers "spark" not found in namespace "sql"`, wantHint: "koordctl top workers -n sql",
		},
		"no permission": {
			edit: func(b *clusterBuilder) { b.denied("list elasticworkers") }, query: source.WorkersQuery{Namespace: "sql"}, wantCode: finding.Forbidden,
			wantErr:  `list elasticworkers.scheduling.koordinator.sh in namespace "sql": not permitted for user "eve"`,
			wantHint: "kubectl auth can-i list elasticworkers.scheduling.koordinator.sh -n sql",
		},
		"not installed": {
			edit: func(b *clusterBuilder) { b.server.Lists = nil }, wantCode: finding.NotInstalled,
			wantErr: "list elasticworkers.scheduling.koordinator.sh: the server doesn't have this resource type", wantHint: "koordctl install",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := engines()
			if tc.edit != nil {
				tc.edit(cluster)
			}
			list, err := cluster.source(t).Workers(t.Context(), tc.query)
			if tc.wantErr != "" {
				found, coded := finding.From(err)
				if !coded || err.Error() != tc.wantErr || found.Code != tc.wantCode || found.Hint != tc.wantHint {
					t.Errorf("error %v, %+v, want %q, %s, hint %q", err, found, tc.wantErr, tc.wantCode, tc.wantHint)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range list.Items {
				item := &list.Items[i]
				got = append(got, item.Namespace+"/"+item.Name)
				if item.Kind != "WorkersExplanation" || item.State != "Sized" || item.ManagedFields != nil {
					t.Errorf("item %+v", item)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || list.Items == nil || list.Kind != "WorkersExplanationList" {
				t.Errorf("%s of items (-want +got):\n%s", list.Kind, diff)
			}
		})
	}
}

// BenchmarkWorkers500 lists 500 engines, as top workers does.
func BenchmarkWorkers500(b *testing.B) {
	list := &schedulingv1alpha1.ElasticWorkersList{}
	for i := range 500 {
		list.Items = append(list.Items, sizedEngine("sql", fmt.Sprintf("engine-%03d", i), time.Now()))
	}
	config := replayed(b, &livetest.Server{Lists: map[string]runtime.Object{"elasticworkers": list}}, func(s *Source) error {
		_, err := s.Workers(b.Context(), source.WorkersQuery{})
		return err
	})
	for b.Loop() {
		got, err := New(clientConfig(config), Options{}).Workers(b.Context(), source.WorkersQuery{})
		if err != nil {
			b.Fatal(err)
		}
		if len(got.Items) != 500 || len(got.Items[7].Nodes) != 20 {
			b.Fatalf("unexpected answer: %d engines", len(got.Items))
		}
	}
}
