package overcommit

import (
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/predict"
)

// foreseen is a forecast of cores and GiB of requested ones.
func foreseen(cores, gi, requestedCores, requestedGi float64) *predict.Forecast {
	const unit = 1 << 30
	return &predict.Forecast{Profile: "balanced", Horizon: time.Hour, Span: 20 * time.Hour, Pods: 3,
		CPU:    predict.Foreseen{Peak: predict.Peak{Value: cores, Estimator: "3-sigma over 24h", Terms: []predict.Term{{Name: "mean", Value: cores / 2}}}, Requested: requestedCores},
		Memory: predict.Foreseen{Peak: predict.Peak{Value: gi * unit, Estimator: "largest sum in 24h"}, Requested: requestedGi * unit}}
}

func termNamed(t *testing.T, falls []diagnosticsv1alpha1.Waterfall, resource int, name string) *diagnosticsv1alpha1.Term {
	t.Helper()
	for i := range falls[resource].Terms {
		if falls[resource].Terms[i].Name == name {
			return &falls[resource].Terms[i]
		}
	}
	return nil
}

// TestPredictedUseIsTakenFromBatch compares an offer with the one without prediction.
func TestPredictedUseIsTakenFromBatch(t *testing.T) {
	for _, policy := range []configuration.CalculatePolicy{configuration.CalculateByPodUsage, configuration.CalculateByPodMaxUsageRequest, configuration.CalculateByPodRequest} {
		in := n1(with(cpuPolicy(policy), memoryPolicy(policy)))
		without := Calculate(in, nil)
		samples, at := MeasuredPods(in)
		if len(samples) == 0 || at.IsZero() {
			t.Fatal("nothing is measured")
		}
		taken := 0.0
		for _, sample := range samples {
			switch policy {
			case configuration.CalculateByPodMaxUsageRequest:
				taken += max(sample.CPU.Used, sample.CPU.Requested)
			default:
				taken += sample.CPU.Used
			}
		}
		for name, test := range map[string]struct{ peak, wantLess float64 }{
			"more than now": {taken + 2.5, 2.5}, "as much as now": {taken, 0}, "less than now": {taken / 2, 0},
		} {
			in.Predictions.Batch = foreseen(test.peak, 0, 0, 0)
			got := Calculate(in, nil)
			if diff := without.BatchCPU.Value - got.BatchCPU.Value; diff != int64(test.wantLess*1000) {
				t.Errorf("policy %s, %s: batch-cpu is %d milli-cores less, want %g cores", policy, name, diff, test.wantLess)
			}
			falls := explain(in, 10)
			if falls[0].Result != got.BatchCPU.Value {
				t.Errorf("policy %s, %s: explained %d, calculated %d", policy, name, falls[0].Result, got.BatchCPU.Value)
			}
			rise := termNamed(t, falls, 0, "predictedRise")
			if rise == nil || rise.Value != int64(test.wantLess*1000) || !strings.Contains(rise.Note, "in the next 1h by profile balanced (3-sigma over 24h), from 20h of history of 3 pods: mean ") {
				t.Errorf("policy %s, %s: the term is %+v", policy, name, rise)
			}
			if byRequest := termNamed(t, falls, 1, "predictedRise"); (byRequest == nil) != (policy == configuration.CalculateByPodRequest) {
				t.Errorf("policy %s: memory has the term %+v", policy, byRequest)
			}
		}
	}
}

func TestMidIsWhatTheChosenPredictorLeaves(t *testing.T) {
	in := n1()
	agent := Calculate(in, nil)
	in.Predictions.Mid = foreseen(1, 1, 3, 2)
	got := Calculate(in, nil)
	if got.MidCPU.Value != 2000 || got.MidMemory.Value != 1<<30 {
		t.Errorf("mid is %+v and %+v, want what was requested and is not predicted to be used; by the agent %+v", got.MidCPU, got.MidMemory, agent.MidCPU)
	}
	in.Predictions.Mid = foreseen(9, 9, 3, 2)
	if got := Calculate(in, nil); got.MidCPU.Value != 0 || got.MidMemory.Value != 0 {
		t.Errorf("more is predicted than requested, and mid is %+v and %+v", got.MidCPU, got.MidMemory)
	}
	in.Predictions.Mid = foreseen(0, 0, 1e6, 1e6)
	if got := Calculate(in, nil); got.MidCPU.Value > agentRequested(in) {
		t.Errorf("mid is %d milli-cores although prod pods request %d", got.MidCPU.Value, agentRequested(in))
	}
	if reclaimable := termNamed(t, explain(in, 1), 2, "prodReclaimable"); reclaimable == nil || !strings.Contains(reclaimable.Note, "by profile balanced") {
		t.Errorf("the term is %+v", reclaimable)
	}
}

func TestMidKeepsToTheAgentUntilThePredictorHasSeenEnough(t *testing.T) {
	in := n1(func(in *NodeInput) {
		in.Metric.Status.ProdReclaimableMetric = &slov1alpha1.ReclaimableMetric{Resource: usage("1", "1Gi")}
	})
	in.Predictions.Mid = foreseen(1, 0, 3, 2)
	in.Predictions.Mid.Window = 24 * time.Hour // of which 20 are known
	got := Calculate(in, nil)
	if got.MidCPU.Value != 1000 || got.MidMemory.Value != 1<<30 {
		t.Errorf("mid is %+v and %+v, want what the agent says", got.MidCPU, got.MidMemory)
	}
	if reclaimable := termNamed(t, explain(in, 1), 2, "prodReclaimable"); reclaimable.Value != 1000 || !strings.Contains(reclaimable.Note, "; at most the 1 core of the node agent until 24h are known") {
		t.Errorf("the term is %+v", reclaimable)
	}
	in.Predictions.Mid = foreseen(2.5, 1.5, 3, 2)
	in.Predictions.Mid.Window = 24 * time.Hour
	if got := Calculate(in, nil); got.MidCPU.Value != 500 || got.MidMemory.Value != 1<<29 {
		t.Errorf("mid is %+v and %+v, want what the predictor leaves, which is less", got.MidCPU, got.MidMemory)
	}
	in.Predictions.Mid = foreseen(1, 0, 3, 2)
	in.Predictions.Mid.Window = 20 * time.Hour
	if got := Calculate(in, nil); got.MidCPU.Value != 2000 || got.MidMemory.Value != 2<<30 {
		t.Errorf("mid is %+v and %+v, want what a predictor leaves that knows enough", got.MidCPU, got.MidMemory)
	}
}

func agentRequested(in NodeInput) int64 { return summarized(in).ProdRequested.MilliCPU }

func TestNothingIsMeasuredOfANodeThatIsNotBelieved(t *testing.T) {
	in := n1()
	in.Now = in.Now.Add(time.Hour)
	if samples, _ := MeasuredPods(in); samples != nil {
		t.Errorf("got %+v", samples)
	}
	if samples, _ := MeasuredPods(NodeInput{}); samples != nil {
		t.Errorf("got %+v", samples)
	}
}
