package overcommit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/predict"
	"koordinator.sh/koord/decision/core/unknown"
)

// hourly are predicted peaks of cores within 1, 2, ... hours.
func hourly(cores ...float64) []*predict.Forecast {
	out := make([]*predict.Forecast, len(cores))
	for i := range cores {
		out[i] = foreseen(cores[i], 0, 0, 0)
		out[i].Horizon = time.Duration(i+1) * time.Hour
	}
	return out
}

func agentPeak(cpu, memory string) func(*NodeInput) {
	return func(in *NodeInput) {
		in.Metric.Status.ProdPeakMetric = &slov1alpha1.ReclaimableMetric{Resource: usage(cpu, memory)}
		in.Metric.Status.ProdReclaimableMetric = &slov1alpha1.ReclaimableMetric{Resource: usage("3", "3G")}
	}
}

func ahead(forecasts ...*predict.Forecast) func(*NodeInput) {
	return func(in *NodeInput) { in.Ahead = forecasts }
}

// said is an outlook in one line: what is offered now and requested, the predictor, the steps, and how the note begins.
func said(o *diagnosticsv1alpha1.OfferOutlook) string {
	text := fmt.Sprintf("%s %d-%d %s", o.Resource[len("kubernetes.io/"):], o.Offered, o.Requested, o.Predictor)
	for _, step := range o.Steps {
		text += fmt.Sprintf(" %gh:%d", (time.Duration(step.WithinSeconds) * time.Second).Hours(), step.Offered)
	}
	note, _, _ := strings.Cut(o.Note, ";")
	note, _, _ = strings.Cut(note, " by profile")
	return text + " | " + note
}

// TestOutlook is about n1: services use 33 cores and 33G, so that batch is 65 - 7 - 33 cores.
func TestOutlook(t *testing.T) {
	tests := map[string]struct {
		in        NodeInput
		resources []string
		want      []string
	}{
		"services need more in the evening": {
			n1(ahead(hourly(30, 33, 40, 40, 58)...)), []string{"batch-cpu"},
			[]string{"batch-cpu 25000-0 balanced 2h:25000 4h:18000 5h:0 | pods above batch use 58 cores at most in the next 5h"},
		},
		"what was seen to be less once stays less": {
			n1(ahead(hourly(43, 33)...)), []string{"batch-cpu"},
			[]string{"batch-cpu 25000-0 balanced 2h:15000 | pods above batch use 33 cores at most in the next 2h"},
		},
		"the peak that the agent learned of prod pods, with what others use": {
			n1(classes(""), agentPeak("15", "21G")), []string{"batch-cpu", "batch-memory"},
			[]string{
				"batch-cpu 25000-0 koordlet 0h:21000 | pods above batch use 37 cores at the peak of prod pods that koordlet learned",
				"batch-memory 33000000000-0 koordlet 0h:23000000000 | pods above batch use 40Gi at the peak of prod pods that koordlet learned",
			},
		},
		"memory by request": {
			n1(with(memoryPolicy(configuration.CalculateByPodRequest)), ahead(hourly(80)...)), []string{"batch-memory"},
			[]string{"batch-memory 18000000000-0  0h:18000000000 | computed from requests, which usage does not change"},
		},
		"mid is predicted for a day, and has been observed for 20 hours": {
			n1(func(in *NodeInput) {
				in.Predictions.Mid = foreseen(1, 1, 3, 2)
				in.Predictions.Mid.Horizon = 24 * time.Hour
			}), []string{"mid-cpu"},
			[]string{"mid-cpu 2000-0 balanced 20h:2000 | computed for that time already: prod pods use 1 core at most in the next 24h"},
		},
		"mid by the agent": {
			n1(agentPeak("15", "21G")), []string{"mid-cpu"},
			[]string{"mid-cpu 3000-0 koordlet 0h:3000 | computed from the peak of prod pods that koordlet learned"},
		},
		"nothing predicts": {
			n1(), []string{"batch-cpu", "mid-cpu"},
			[]string{
				"batch-cpu 25000-0  | no predictor is chosen for the node, and koordlet reports no peak",
				"mid-cpu 0-0  | no predictor is chosen for the node, and koordlet reports no peak",
			},
		},
		"co-location is off": {
			n1(func(in *NodeInput) { in.Strategy.Strategy.Enable = new(false) }), []string{"batch-cpu"},
			[]string{"batch-cpu 0-0  | node colocation is disabled"},
		},
		"the pods could not be listed": {
			n1(func(in *NodeInput) {
				in.Unknown = unknown.Inputs{unknown.Pods: {Reason: diagnosticsv1alpha1.UnknownForbidden, Message: "cannot list pods"}}
			}), []string{"batch-cpu"},
			[]string{"batch-cpu 0-0  | no permission to read the pods"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			status := ExplainNode(test.in, diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "test-node", Resources: test.resources, Outlook: true})
			var got []string
			for i := range status.Outlook {
				o := &status.Outlook[i]
				got = append(got, said(o))
				switch last := len(o.Steps) - 1; {
				case last < 0 && o.Lowest != nil:
					t.Errorf("%s: nothing is predicted, and the lowest offer is %+v", o.Resource, o.Lowest)
				case last >= 0 && (o.Lowest == nil || o.Lowest.Result != o.Steps[last].Offered):
					t.Errorf("%s: the last step is %+v, and the lowest offer is %+v", o.Resource, o.Steps[last], o.Lowest)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("outlook (-want +got):\n%s", diff)
			}
			if now := ExplainNode(test.in, diagnosticsv1alpha1.NodeExplanationSpec{Resources: test.resources}); now.Outlook != nil || !cmp.Equal(now.Waterfalls, status.Waterfalls) {
				t.Errorf("the outlook changes what is offered now, or comes unasked: %+v", now.Outlook)
			}
		})
	}
}

// TestAnAgentsPeakLeavesExclusiveCPUsAlone: an LSE pod that requests 10 cores and uses 5 keeps them all, while the other one rises by 3.
func TestAnAgentsPeakLeavesExclusiveCPUsAlone(t *testing.T) {
	status := ExplainNode(n1(classes("LSE"), agentPeak("14", "11G")), diagnosticsv1alpha1.NodeExplanationSpec{Resources: []string{"batch-cpu"}, Outlook: true})
	if o := status.Outlook[0]; len(o.Steps) != 1 || o.Steps[0].Offered != o.Offered-3000 || o.Offered == 0 {
		t.Errorf("prod pods peak 3 cores above what they use, and the outlook is %+v", o)
	}
	if source := termNamed(t, []diagnosticsv1alpha1.Waterfall{*status.Outlook[0].Lowest}, 0, "predictedRise").Source; source.Kind != "NodeMetric" {
		t.Errorf("the rise comes from %+v", source)
	}
}
