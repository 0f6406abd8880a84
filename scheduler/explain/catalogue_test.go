package explain

import (
	"strings"
	"testing"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
	"koordinator.sh/koord/scheduler/plugins/schedulinghint"
	"koordinator.sh/koord/scheduler/reason"
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

// handing is a plugin whose refusals NodeNUMAResource hands on.
type handing struct{}

func (handing) Name() string { return "Handing" }
func (handing) CodeOf(text string) finding.Code {
	if text == "no device" {
		return finding.DevicesInsufficient
	}
	return ""
}

func TestCodesOfTexts(t *testing.T) {
	hints, err := schedulinghint.New(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	handing := handing{}
	sim := &simulation{
		coders:  map[string]reason.Coder{"Wordy": wordy{}, "Handing": handing, schedulinghint.Name: hints.(reason.Coder), nodenumaresource.Name: &nodenumaresource.Plugin{}},
		relayed: map[string][]string{nodenumaresource.Name: {"Handing"}},
	}
	tests := []struct {
		name string
		sim  *simulation
		r    refusal
		want finding.Code
	}{
		{"a plugin of Kubernetes", nil, refusal{plugin: "NodeResourcesFit", reason: "Insufficient cpu"}, finding.InsufficientResources},
		{"a text that one plugin hands on for another", sim, refusal{plugin: nodenumaresource.Name, reason: "no device"}, finding.DevicesInsufficient},
		{"a text of the one that hands on", sim, refusal{plugin: nodenumaresource.Name, reason: "node(s) missing NUMA resources"}, finding.NUMAZonesMissing},
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
