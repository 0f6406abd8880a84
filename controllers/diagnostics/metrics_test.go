package diagnostics

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"koordinator.sh/koord/schedulerclient"
)

// counted returns the counters of questions that are not zero, by "kind outcome".
func counted(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "koord_manager_explanations_total" {
			continue
		}
		for _, metric := range family.Metric {
			if value := metric.Counter.GetValue(); value != 0 {
				got[metric.Label[0].GetValue()+" "+metric.Label[1].GetValue()] = value
			}
		}
	}
	return got
}

func TestQuestionsAreCountedByKindAndOutcome(t *testing.T) {
	const nodeQuestion = `{"apiVersion":"diagnostics.koordinator.sh/v1alpha1","kind":"NodeExplanation","spec":{"nodeName":"n1"}}`
	tests := map[string]struct {
		path, body string
		err        error
		denied     string
		want       map[string]float64
	}{
		"an answered pod question":      {path: podsPath, body: podQuestion, want: map[string]float64{"PodExplanation answered": 1}},
		"an answered node question":     {path: nodesPath, body: nodeQuestion, want: map[string]float64{"NodeExplanation answered": 1}},
		"a question without its object": {path: podsPath, body: `{"apiVersion":"diagnostics.koordinator.sh/v1alpha1","kind":"PodExplanation","spec":{}}`, want: map[string]float64{"PodExplanation invalid": 1}},
		"no right to get the node":      {path: nodesPath, body: nodeQuestion, denied: "nodes", want: map[string]float64{"NodeExplanation forbidden": 1}},
		"no such pod":                   {path: podsPath, body: podQuestion, err: apierrors.NewNotFound(corev1.Resource("pods"), "web-1"), want: map[string]float64{"PodExplanation not_found": 1}},
		"the scheduler is away":         {path: podsPath, body: podQuestion, err: schedulerclient.Unavailable(errors.New("refused")), want: map[string]float64{"PodExplanation unavailable": 1}},
		"the explainer broke":           {path: nodesPath, body: nodeQuestion, err: errors.New("cache is empty"), want: map[string]float64{"NodeExplanation failed": 1}},
		"unreadable questions are not":  {path: podsPath, body: `{`, want: map[string]float64{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			explainer := &recorder{err: test.err, metrics: registry}
			server := newTestServer(t, explainer, func(a authorizer.Attributes) bool { return a.GetResource() != test.denied })
			send(t, server, http.MethodPost, test.path, "application/json", test.body)
			if diff := cmp.Diff(test.want, counted(t, registry)); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutcomesOfErrorsThatWereWrapped(t *testing.T) {
	tests := map[outcome]error{
		outcomeAnswered:    nil,
		outcomeTimeout:     fmt.Errorf("ask: %w", context.DeadlineExceeded),
		outcomeUnavailable: fmt.Errorf("ask: %w", apierrors.NewTooManyRequests("busy", 1)),
		outcomeForbidden:   apierrors.NewUnauthorized("who are you"),
		outcomeInvalid:     apierrors.NewBadRequest("what"),
		outcomeFailed:      apierrors.NewInternalError(errors.New("panic")),
	}
	for want, err := range tests {
		if got := outcomeOf(err); got != want {
			t.Errorf("outcome of %v is %s, want %s", err, got, want)
		}
	}
}

func TestTheTimeOfAnAnswerIsMeasured(t *testing.T) {
	registry := prometheus.NewRegistry()
	explainer := &recorder{took: 1500 * time.Millisecond, metrics: registry}
	server := newTestServer(t, explainer, everything)
	for range 2 {
		send(t, server, http.MethodPost, podsPath, "application/json", podQuestion)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		if family.GetName() == "koord_manager_explanation_duration_seconds" {
			for _, metric := range family.Metric {
				got[metric.Label[0].GetValue()] = metric.Histogram.GetSampleSum()
			}
		}
	}
	if diff := cmp.Diff(map[string]float64{"PodExplanation": 3, "NodeExplanation": 0, "NodeExplanationBatch": 0, "NodeOverview": 0, "PlacementReview": 0, "QuotaExplanation": 0}, got); diff != "" {
		t.Errorf("seconds spent (-want +got):\n%s", diff)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("names of metrics: %v %v", problems, err)
	}
}
