package unknown

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func TestBecauseNamesTheFirstInputThatCouldNotBeRead(t *testing.T) {
	missing := Inputs{
		Pods:        {Reason: diagnosticsv1alpha1.UnknownForbidden},
		NodeMetrics: {Reason: diagnosticsv1alpha1.UnknownFailed},
		Predictions: {Reason: diagnosticsv1alpha1.UnknownNotAvailable},
	}
	tests := map[string]struct {
		inputs Inputs
		asked  []Input
		want   string
	}{
		"all were read":                 {nil, []Input{Pods, NodeMetrics}, ""},
		"what is asked about was read":  {missing, []Input{NodeSLOs}, ""},
		"no permission":                 {missing, []Input{NodeSLOs, Pods, NodeMetrics}, "no permission to read the pods"},
		"the request failed":            {missing, []Input{NodeMetrics, Pods}, "the NodeMetrics could not be read"},
		"only another component has it": {missing, []Input{Predictions}, "the predictions of koord-manager are not available"},
		"nothing is asked about":        {missing, nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.inputs.Because(tc.asked...); got != tc.want || tc.inputs.Has(tc.asked...) != (tc.want != "") {
				t.Errorf("because %q, has %t; want %q", got, tc.inputs.Has(tc.asked...), tc.want)
			}
		})
	}
}

func TestAResultCarriesTheInputs(t *testing.T) {
	missing := Inputs{Pods: {Reason: diagnosticsv1alpha1.UnknownForbidden, Message: "list pods: not permitted"}, NodeMetrics: {Reason: diagnosticsv1alpha1.UnknownFailed}}
	want := []diagnosticsv1alpha1.UnknownInput{
		{Input: "nodemetrics.slo.koordinator.sh", Reason: diagnosticsv1alpha1.UnknownFailed},
		{Input: "pods", Reason: diagnosticsv1alpha1.UnknownForbidden, Message: "list pods: not permitted"},
	}
	if diff := cmp.Diff(want, missing.List()); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(missing, Of(missing.List())); diff != "" {
		t.Errorf("inputs of the list (-want +got):\n%s", diff)
	}
	if Of(nil) != nil || Inputs(nil).List() != nil {
		t.Error("no inputs are not the zero value")
	}
}

func TestEveryInputHasAName(t *testing.T) {
	for _, input := range []Input{
		Nodes, Pods, Events, NodeMetrics, NodeSLOs, Topologies, Devices, Quotas, Configuration, LastGoodConfiguration,
		SchedulerConfiguration, DeschedulerConfiguration, AgentFeatures, Predictions,
	} {
		if names[input] == "" {
			t.Errorf("%s has no name for a sentence", input)
		}
	}
}
