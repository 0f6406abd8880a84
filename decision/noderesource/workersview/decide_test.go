package workersview

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

var now = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

func before(ago time.Duration) metav1.Time { return metav1.NewTime(now.Add(-ago)) }

// trino is ElasticWorkers that were sized a few seconds ago.
func trino(edit func(*schedulingv1alpha1.ElasticWorkers)) *schedulingv1alpha1.ElasticWorkers {
	out := &schedulingv1alpha1.ElasticWorkers{ObjectMeta: metav1.ObjectMeta{Namespace: "sql", Name: "trino", Generation: 2}}
	out.Spec = schedulingv1alpha1.ElasticWorkersSpec{
		TargetRef: schedulingv1alpha1.ElasticWorkersTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "trino-worker"}, MinReplicas: 1, MaxReplicas: 9,
		Drain: &schedulingv1alpha1.ElasticWorkersDrain{},
	}
	decided := before(5 * time.Second)
	out.Status = schedulingv1alpha1.ElasticWorkersStatus{
		ObservedGeneration: 2, UpdateTime: &decided, CurrentReplicas: 4, DesiredReplicas: 3, LimitedBy: "fitsNow", Message: "3 workers, limited by fitsNow",
		Terms:      []schedulingv1alpha1.ElasticWorkersTerm{{Name: "fitsNow", Operator: "start", Value: 3}, {Name: "desired", Operator: "result", Value: 3}},
		Conditions: []metav1.Condition{{Type: schedulingv1alpha1.ElasticWorkersActive, Status: metav1.ConditionTrue, Reason: Sized}},
	}
	if edit != nil {
		edit(out)
	}
	return out
}

func TestWhatIsSaidOfADecision(t *testing.T) {
	refused := func(reason, message string) func(*schedulingv1alpha1.ElasticWorkers) {
		return func(w *schedulingv1alpha1.ElasticWorkers) {
			w.Status.Conditions[0].Reason, w.Status.Message, w.Status.Terms = reason, message, nil
		}
	}
	tests := map[string]struct {
		edit                         func(*schedulingv1alpha1.ElasticWorkers)
		wantState, wantCode, wantMsg string
		wantNotes                    []string
		wantTerms                    int
	}{
		"a recent one": {nil, Sized, "", "3 workers, limited by fitsNow", nil, 2},
		"none": {
			func(w *schedulingv1alpha1.ElasticWorkers) { w.Status = schedulingv1alpha1.ElasticWorkersStatus{} }, Unprocessed, "",
			"koord-manager has not sized the target yet", []string{"koord-manager sizes ElasticWorkers where the chart has elasticWorkers.enabled"}, 0,
		},
		"one about an earlier spec": {
			func(w *schedulingv1alpha1.ElasticWorkers) { w.Generation = 3 }, Sized, "", "3 workers, limited by fitsNow", []string{"the decision is from an earlier spec"}, 2,
		},
		"one that is old": {
			func(w *schedulingv1alpha1.ElasticWorkers) { *w.Status.UpdateTime = before(3 * time.Minute) }, Stale, "",
			"koord-manager has not decided for 3m0s, which it does every 15s",
			[]string{"the log of koord-manager may say why, and the size is the one that it decided on last"}, 2,
		},
		"one that may still be followed by the next": {
			func(w *schedulingv1alpha1.ElasticWorkers) { *w.Status.UpdateTime = before(2 * time.Minute) }, Sized, "", "3 workers, limited by fitsNow", nil, 2,
		},
		"an old one, that is suspended": {
			func(w *schedulingv1alpha1.ElasticWorkers) {
				*w.Status.UpdateTime = before(time.Hour)
				w.Status.Conditions[0].Reason, w.Status.Message = Suspended, "spec.suspend is true"
			}, Suspended, "", "spec.suspend is true", nil, 2,
		},
		"a change that is wanted": {
			func(w *schedulingv1alpha1.ElasticWorkers) {
				w.Status.Trend = &schedulingv1alpha1.ElasticWorkersTrend{Direction: "Down", Since: before(90 * time.Second), Replicas: 2}
			}, Sized, "", "3 workers, limited by fitsNow", []string{"the size has tended to 2 workers for 1m30s"}, 2,
		},
		"no drain": {
			func(w *schedulingv1alpha1.ElasticWorkers) { w.Spec.Drain = nil }, Sized, "", "3 workers, limited by fitsNow",
			[]string{"workers do not finish their work before they go: spec.drain is not set"}, 2,
		},
		"a drain by the worker itself": {
			func(w *schedulingv1alpha1.ElasticWorkers) {
				w.Spec.Drain.HTTP = &schedulingv1alpha1.ElasticWorkersDrainHTTP{Port: 8080, Path: "/v1/info/state"}
			}, Sized, "", "3 workers, limited by fitsNow", []string{"workers finish their work after PUT /v1/info/state to their port 8080"}, 2,
		},
		"a drain by a coordinator": {
			func(w *schedulingv1alpha1.ElasticWorkers) {
				w.Spec.Drain.HTTP = &schedulingv1alpha1.ElasticWorkersDrainHTTP{
					Method: "POST", Path: "/drain/$(POD_NAME)", Service: &schedulingv1alpha1.ElasticWorkersService{Name: "dask-scheduler", Port: 8787},
				}
			}, Sized, "", "3 workers, limited by fitsNow", []string{`workers finish their work after POST /drain/$(POD_NAME) to port 8787 of service "dask-scheduler"`}, 2,
		},
		"a target that others scale": {refused("TargetAutoscaled", "it is scaled"), "TargetAutoscaled", "KOORD1702", "it is scaled", nil, 0},
		"one that is suspended":      {refused(Suspended, "spec.suspend is true"), Suspended, "", "spec.suspend is true", nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Explain(Input{Now: now, Object: trino(tc.edit)})
			if got.State != tc.wantState || got.Code != tc.wantCode || got.Message != tc.wantMsg {
				t.Errorf("%s %q: %s, want %s %q: %s", got.State, got.Code, got.Message, tc.wantState, tc.wantCode, tc.wantMsg)
			}
			if diff := cmp.Diff(tc.wantNotes, got.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if terms := termsOf(got.Waterfall); terms != tc.wantTerms {
				t.Errorf("%d terms, want %d", terms, tc.wantTerms)
			}
			if HasSize(&got) != (tc.wantTerms > 0) {
				t.Errorf("has a size: %t, with %d terms", HasSize(&got), tc.wantTerms)
			}
		})
	}
}

func termsOf(fall *diagnosticsv1alpha1.Waterfall) int {
	if fall == nil {
		return 0
	}
	return len(fall.Terms)
}

func TestStatesAreRankedByGravity(t *testing.T) {
	tests := map[string]struct {
		state       string
		wantBefore  string
		wantProblem bool
	}{
		"a target that cannot be sized": {"TargetUnusable", "TargetShared", true},
		"two that size the same target": {"TargetShared", Stale, true},
		"no decision for a while":       {Stale, Unprocessed, true},
		"no decision yet":               {Unprocessed, Suspended, true},
		"suspended":                     {Suspended, Sized, false},
		"sized":                         {Sized, "another build's", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if Rank(tc.state) >= Rank(tc.wantBefore) || IsProblem(tc.state) != tc.wantProblem {
				t.Errorf("%s has rank %d, problem %t, want before %s with %d, %t", tc.state, Rank(tc.state), IsProblem(tc.state), tc.wantBefore, Rank(tc.wantBefore), tc.wantProblem)
			}
		})
	}
}
