package explain

import (
	"strings"
	"testing"

	"koordinator.sh/koord/api/finding"
)

// wordy is a plugin that knows its own texts.
type wordy struct{}

func (wordy) Name() string { return "Wordy" }
func (wordy) CodeOf(reason string) finding.Code {
	if strings.HasPrefix(reason, "full: ") {
		return finding.QuotaMaxExceeded
	}
	return ""
}

func TestCodesOfTexts(t *testing.T) {
	sim := &simulation{coders: map[string]Coder{"Wordy": wordy{}}}
	tests := []struct {
		name string
		sim  *simulation
		r    refusal
		want finding.Code
	}{
		{"a plugin of Kubernetes", nil, refusal{plugin: "NodeResourcesFit", reason: "Insufficient cpu"}, finding.InsufficientResources},
		{"load-aware scheduling", nil, refusal{plugin: "LoadAwareScheduling", reason: "node(s) nodeMetric expired"}, finding.LoadMetricExpired},
		{"a text that the plugin knows", sim, refusal{plugin: "Wordy", reason: "full: a"}, finding.QuotaMaxExceeded},
		{"a text that the plugin does not know", sim, refusal{plugin: "Wordy", reason: "?"}, finding.OtherPlugin},
		{"a plugin that nobody knows", sim, refusal{plugin: "Foreign", reason: "full: a"}, finding.OtherPlugin},
		{"nodes that one PreFilter left out", sim, refusal{reason: "node(s) didn't satisfy plugin(s) [SchedulingHint]"}, finding.SchedulingHintMismatch},
		{"all nodes left out by one PreFilter", nil, refusal{reason: "node(s) didn't satisfy plugin NodeAffinity"}, finding.NodeAffinityMismatch},
		{"nodes that two left out", sim, refusal{reason: "node(s) didn't satisfy plugin(s) [NodeAffinity SchedulingHint]"}, finding.OtherPlugin},
		{"all nodes left out by two", sim, refusal{reason: "node(s) didn't satisfy plugin(s) [NodeAffinity SchedulingHint] simultaneously"}, finding.OtherPlugin},
		{"no text", sim, refusal{}, finding.OtherPlugin},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.sim.codeOf(test.r); got != test.want {
				t.Errorf("code %s, want %s", got, test.want)
			}
		})
	}
}
