package printer

import (
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// workersFixture is an engine of which two workers drain, because batch of a node is predicted to go.
func workersFixture() *diagnosticsv1alpha1.WorkersExplanation {
	term := func(operator diagnosticsv1alpha1.Operator, name string, value int64, note string) diagnosticsv1alpha1.Term {
		return diagnosticsv1alpha1.Term{Name: name, Operator: operator, Value: value, Unit: diagnosticsv1alpha1.Count, Note: note}
	}
	return &diagnosticsv1alpha1.WorkersExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: "trino"}, Target: "Deployment/trino-worker", State: "Sized",
		Message: "7 workers, limited by headroom: 10% are left to other pods", Current: 9, Desired: 7, Min: 2, Max: 50, LimitedBy: "headroom", DecidedAt: before(4 * time.Second),
		Waterfall: &diagnosticsv1alpha1.Waterfall{Resource: "workers", Unit: diagnosticsv1alpha1.Count, Result: 7, Terms: []diagnosticsv1alpha1.Term{
			term(diagnosticsv1alpha1.Start, "fitsNow", 11, "on 4 nodes that workers may use"), term(diagnosticsv1alpha1.Minus, "waitingPods", 1, "for 2 pods that come first"),
			term(diagnosticsv1alpha1.Minus, "predictedToGo", 2, "within 15m0s, on 1 node"), term(diagnosticsv1alpha1.Minus, "headroom", 1, "10% are left to other pods"),
			term(diagnosticsv1alpha1.Max, "minReplicas", 2, ""), term(diagnosticsv1alpha1.Min, "maxReplicas", 50, ""), term(diagnosticsv1alpha1.Result, "desired", 7, ""),
		}},
		Draining: []diagnosticsv1alpha1.DrainingWorker{{
			Name: "trino-worker-7d9c6-x2x4q", Node: "node-3", Since: *before(90 * time.Second), Deadline: metav1.NewTime(fixtureNow.Add(510 * time.Second)),
			Reason: "its node is predicted to offer enough for 1 of 3 workers", Message: `answers "\"SHUTTING_DOWN\""`,
		}, {
			Name: "trino-worker-7d9c6-b7kqp", Node: "node-3", Since: *before(700 * time.Second), Deadline: *before(100 * time.Second),
			Reason: "its node is predicted to offer enough for 1 of 3 workers", Message: "the deadline is over; could not be asked: connection refused",
		}},
		Next:  []diagnosticsv1alpha1.NextWorker{{Name: "trino-worker-7d9c6-qq8rs", Node: "node-1", Reason: "it uses 310m of CPU, and those that use least go first"}},
		Nodes: []diagnosticsv1alpha1.WorkersNode{{Name: "node-1", Workers: 4, Now: 5, Later: 5}, {Name: "node-3", Workers: 1, Now: 3, Later: 1}, {Name: "node-2", Now: 0, Note: "its node is cordoned"}},
		Notes: []string{"the size has tended to 5 workers for 1m30s"}, NodesOmitted: 1,
	}
}

func workersViews() map[string]view {
	refused := &diagnosticsv1alpha1.WorkersExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: "trino"}, Target: "Deployment/trino-worker", State: "TargetAutoscaled", Code: "KOORD1702",
		Message: `Deployment "trino-worker" is scaled by horizontalpodautoscaler "by-load"`, Max: 50,
	}
	suspended := &diagnosticsv1alpha1.WorkersExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: "spark"}, Target: "StatefulSet/spark-worker", State: "Suspended", Message: "spec.suspend is true",
		Current: 12, Max: 20, DecidedAt: before(3 * time.Hour),
	}
	list := &diagnosticsv1alpha1.WorkersExplanationList{Items: []diagnosticsv1alpha1.WorkersExplanation{*workersFixture(), *refused, *suspended}}
	return map[string]view{
		"top-workers": func(w io.Writer, o Options) error { return WorkersList(w, list, o) },
		"top-workers-all-wide": func(w io.Writer, o Options) error {
			o.Wide, o.WithNamespace = true, true
			return WorkersList(w, list, o)
		},
		"explain-workers":         func(w io.Writer, o Options) error { return Workers(w, workersFixture(), o) },
		"explain-workers-refused": func(w io.Writer, o Options) error { return Workers(w, refused, o) },
	}
}
