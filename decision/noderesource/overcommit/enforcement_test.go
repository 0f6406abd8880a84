package overcommit

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/enforcement"
)

func enforcing(facts enforcement.Facts) func(*NodeInput) {
	return func(in *NodeInput) {
		in.Metric = in.Metric.DeepCopy()
		in.Metric.Status.Conditions = []metav1.Condition{enforcement.Decide(facts).Condition()}
	}
}

// TestAnAgentThatDoesNotEnforceHasNothingOffered, however good its measurements are, and the trace says why.
func TestAnAgentThatDoesNotEnforceHasNothingOffered(t *testing.T) {
	static := with(func(s *configuration.ColocationStrategy) {
		mode := configuration.MidReclaimModeStatic
		s.MidReclaimMode, s.MidStaticCPUReservedPercent = &mode, new(int64(10))
	})
	full := enforcing(enforcement.Facts{OriginalsUnsaved: "the disk is full"})
	const why = "koordlet cannot limit best-effort pods: OriginalsNotSaved: the disk is full"
	tests := map[string]struct {
		in         NodeInput
		wantOffer  bool
		wantReason string
		wantCode   string
		wantSource string
	}{
		"its agent does not tell":           {n1(), true, "", "", ""},
		"its agent enforces":                {n1(enforcing(enforcement.Facts{})), true, "", "", ""},
		"its agent does not":                {n1(full), false, why, "KOORD0302", "status.conditions"},
		"nor of what is static":             {n1(full, static), false, why, "KOORD0302", "status.conditions"},
		"without measurements that says it": {n1(full, func(in *NodeInput) { in.Metric.Status.NodeMetric = nil }), false, reasonDegradedBatch, "KOORD0103", "status.updateTime"},
		"co-location is off":                {n1(full, with(func(s *configuration.ColocationStrategy) { s.Enable = new(false) })), false, reasonDisabled, "KOORD0302", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			result := Calculate(tc.in, nil)
			for _, name := range Resources() {
				if value, _ := result.Of(name); value.Withdrawn == tc.wantOffer || !tc.wantOffer && value.Value != 0 {
					t.Errorf("%s = %+v, want offered: %t", name, value, tc.wantOffer)
				}
			}
			if result.BatchCPU.Reason != tc.wantReason || len(result.Steadiness.Failures) > 0 {
				t.Errorf("reason %q, failures %v, want %q and no failure of the measurements", result.BatchCPU.Reason, result.Steadiness.Failures, tc.wantReason)
			}
			answer := ExplainNode(tc.in, diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "test-node"})
			code := ""
			if len(answer.Findings) > 0 {
				code = answer.Findings[0].Code
			}
			if code != tc.wantCode {
				t.Errorf("finding %q, want %q: %v", code, tc.wantCode, answer.Findings)
			}
			if term := answer.Waterfalls[0].Terms[0]; tc.wantSource != "" && (term.Source.Field != tc.wantSource || term.Note == "" || !answer.Waterfalls[0].Degraded) {
				t.Errorf("term %+v, want one from %s", term, tc.wantSource)
			}
		})
	}
}

// TestReadOnlyIsAWarning, because somebody chose it.
func TestReadOnlyIsAWarning(t *testing.T) {
	for reason, want := range map[string]diagnosticsv1alpha1.Severity{
		"ReadOnly: x": diagnosticsv1alpha1.SeverityWarning, "OriginalsNotSaved: x": diagnosticsv1alpha1.SeverityError, "ReadOnlyDisk: x": diagnosticsv1alpha1.SeverityError,
	} {
		if got := NotEnforcing("node-a", reason).Severity; got != want {
			t.Errorf("%s is %s, want %s", reason, got, want)
		}
	}
}
