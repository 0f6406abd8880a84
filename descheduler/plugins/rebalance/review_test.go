package rebalance_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	loadrebalance "koordinator.sh/koord/descheduler/plugins/rebalance"
)

type review = func(ctx context.Context, question *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error)

// answering changes the answer of a koord-scheduler that agrees.
func answering(change func(*diagnosticsv1alpha1.PlacementReview)) review {
	return func(ctx context.Context, question *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error) {
		answer, err := agree(ctx, question)
		change(answer)
		return answer, err
	}
}

func refuse(answer *diagnosticsv1alpha1.PlacementReview) {
	answer.Status.Placements[0] = diagnosticsv1alpha1.PodPlacement{
		Verdict: diagnosticsv1alpha1.PlacementNone, Summary: "0/1 nodes are available",
		Groups: []diagnosticsv1alpha1.RefusalGroup{{Reason: "Insufficient gpu", Nodes: []diagnosticsv1alpha1.NodeRefusal{{Node: "idle"}}}},
	}
}

func TestMovesAreThoseThatTheSchedulerConfirms(t *testing.T) {
	for name, test := range map[string]struct {
		review      review
		args        string
		wantTargets []string
		wantDetail  string
		// wantError is part of the plugin's error.
		wantError string
	}{
		"it takes the target":   {review: agree, wantTargets: []string{"idle"}},
		"it refuses the target": {review: answering(refuse), wantDetail: "1 Insufficient gpu"},
		"the pod is another scheduler's": {review: answering(func(answer *diagnosticsv1alpha1.PlacementReview) {
			answer.Status.Placements[0] = diagnosticsv1alpha1.PodPlacement{Verdict: diagnosticsv1alpha1.PlacementOtherScheduler, Summary: "scheduler \"x\" is not a profile of koord-scheduler"}
		}), wantDetail: "1 scheduler \"x\" is not a profile of koord-scheduler"},
		"a standby answers": {
			review:     answering(func(answer *diagnosticsv1alpha1.PlacementReview) { answer.Status.Origin.Leader = false }),
			wantDetail: "1 koord-scheduler cannot be asked: no leading koord-scheduler answered", wantError: "no leading koord-scheduler answered",
		},
		"an answer is missing": {
			review:     answering(func(answer *diagnosticsv1alpha1.PlacementReview) { answer.Status.Placements = nil }),
			wantDetail: "1 koord-scheduler cannot be asked: koord-scheduler answered for 0 pods, 1 were asked about", wantError: "answered for 0 pods",
		},
		"it cannot be reached": {
			review: func(context.Context, *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error) {
				return nil, errors.New("no route")
			},
			wantDetail: "1 koord-scheduler cannot be asked: no route", wantError: "schedulerReview is Required: no route",
		},
		"it cannot be reached and need not be": {
			review: func(context.Context, *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error) {
				return nil, errors.New("no route")
			},
			args:        "{schedulerReview: Preferred}",
			wantTargets: []string{"idle"}, wantError: "schedulerReview is Preferred: no route",
		},
		"it is not asked": {review: answering(refuse), args: "{schedulerReview: Never}", wantTargets: []string{"idle"}},
	} {
		t.Run(name, func(t *testing.T) {
			detail := ""
			if test.args == "" {
				test.args = "{}"
			}
			after := scene{deployment: deployment(nil), sources: loadrebalance.Sources{
				Review: test.review,
				Report: func(_ rebalance.Plan, trace *rebalance.Trace, _ error) {
					if len(trace.Skipped) > 0 && trace.Skipped[0].Reason == rebalance.NoTarget {
						detail = trace.Skipped[0].Detail
					}
				},
			}}.pass(t, test.args)
			if diff := cmp.Diff(test.wantTargets, after.targets()); diff != "" {
				t.Errorf("targets of the jobs (-want +got):\n%s", diff)
			}
			if detail != test.wantDetail {
				t.Errorf("the trace says %q, want %q", detail, test.wantDetail)
			}
			if got := after.pass.Plugins[0].Error; !strings.Contains(got, test.wantError) || (got == "") != (test.wantError == "") {
				t.Errorf("error %q, want %q", got, test.wantError)
			}
		})
	}
}

// TestOneQuestionForAllMoves: a request for each pod would not scale.
func TestOneQuestionForAllMoves(t *testing.T) {
	var asked []int
	after := scene{deployment: deployment(nil), sources: loadrebalance.Sources{
		Review: func(ctx context.Context, question *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error) {
			asked = append(asked, len(question.Spec.Pods))
			if errs := diagnosticsv1alpha1.ValidatePlacementReview(question); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
			return agree(ctx, question)
		},
	}}.pass(t, "{maxMovesPerWorkload: 2, varianceWeight: 1, highThresholds: {cpu: 60, memory: 80}}")
	if diff := cmp.Diff([]int{2}, asked); diff != "" || len(after.jobs) != 2 {
		t.Errorf("%d jobs; pods of each question (-want +got):\n%s", len(after.jobs), diff)
	}
}

// TestThresholdsOfTheOtherComponents: the idle node would have 30 % with one of the pods.
func TestThresholdsOfTheOtherComponents(t *testing.T) {
	scheduler := func(percent int64) func(context.Context) (*loadaware.Args, error) {
		return func(context.Context) (*loadaware.Args, error) {
			return &loadaware.Args{UsageThresholds: map[corev1.ResourceName]int64{"cpu": percent}}, nil
		}
	}
	for name, test := range map[string]struct {
		sources     loadrebalance.Sources
		bestEffort  bool
		slo         *slov1alpha1.ResourceThresholdStrategy
		wantTargets []string
	}{
		"the scheduler would still place pods there": {sources: loadrebalance.Sources{Scheduler: scheduler(40)}, wantTargets: []string{"idle"}},
		"the scheduler would not, with the margin":   {sources: loadrebalance.Sources{Scheduler: scheduler(34)}},
		"the agent would evict there":                {slo: &slov1alpha1.ResourceThresholdStrategy{Enable: new(true), CPUEvictThresholdPercent: new(int64(34))}},
		"the agent holds best-effort pods back":      {slo: &slov1alpha1.ResourceThresholdStrategy{Enable: new(true)}, bestEffort: true},
		"an agent that does not":                     {slo: &slov1alpha1.ResourceThresholdStrategy{Enable: new(false)}, bestEffort: true, wantTargets: []string{"idle"}},
		"services are not held back":                 {slo: &slov1alpha1.ResourceThresholdStrategy{Enable: new(true)}, wantTargets: []string{"idle"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := scene{deployment: deployment(nil), sources: test.sources, bestEffort: test.bestEffort}
			for _, node := range []string{"hot", "idle"} {
				slo := &slov1alpha1.NodeSLO{}
				slo.Name, slo.Spec.ResourceUsedThresholdWithBE = node, test.slo
				s.jobs = append(s.jobs, slo)
			}
			if diff := cmp.Diff(test.wantTargets, s.pass(t, "{varianceWeight: 0}").targets()); diff != "" {
				t.Errorf("targets of the jobs (-want +got):\n%s", diff)
			}
		})
	}
}
