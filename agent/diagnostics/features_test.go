package diagnostics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

var then = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// target is wanted by an owner; held is what was last seen.
func target(owner, value, held string, outranked ...string) executor.Target {
	out := executor.Target{Setting: "cpuset.cpus", Of: "kubepods", Owner: owner, Value: value, Observed: held, Outranked: outranked}
	if held != "" {
		out.Verified = then
	}
	return out
}

// states of a feature in the order gate, configured, supported, active, effective.
type states struct {
	Gate                                     bool
	Configured, Supported, Active, Effective diagnosticsv1alpha1.FeatureState
}

func TestStatesOfFeatures(t *testing.T) {
	const yes, no, partly, unknown = diagnosticsv1alpha1.FeatureYes, diagnosticsv1alpha1.FeatureNo, diagnosticsv1alpha1.FeaturePartly, diagnosticsv1alpha1.FeatureUnknown
	enabled := &slov1alpha1.NodeSLOSpec{ResourceUsedThresholdWithBE: &slov1alpha1.ResourceThresholdStrategy{Enable: new(true)}}
	only := func(settings ...cgroup.Setting) func(cgroup.Setting) bool {
		return func(s cgroup.Setting) bool {
			for _, has := range settings {
				if has.Name == s.Name {
					return true
				}
			}
			return false
		}
	}
	kernel := func(feature string) ([]cgroup.Setting, bool) {
		return map[string][]cgroup.Setting{"BECPUSuppress": {cgroup.CPUSet, cgroup.CPUQuota}, "GroupIdentity": {cgroup.CPUBvt, cgroup.CPUIdle}}[feature], feature == "SystemConfig"
	}
	tests := map[string]struct {
		owner string
		on    bool
		slo   *slov1alpha1.NodeSLOSpec
		wants []executor.Target
		has   func(cgroup.Setting) bool
		want  states
	}{
		"all is in force":                  {"BECPUSuppress", true, enabled, []executor.Target{target("BECPUSuppress", "0-1", "0-1")}, nil, states{true, yes, yes, yes, yes}},
		"some is not":                      {"BECPUSuppress", true, enabled, []executor.Target{target("BECPUSuppress", "0-1", "0-1"), target("BECPUSuppress", "0-1", "0-3")}, nil, states{true, yes, yes, yes, partly}},
		"nothing was looked at yet":        {"BECPUSuppress", true, enabled, []executor.Target{target("BECPUSuppress", "0-1", "")}, only(cgroup.CPUSet), states{true, yes, yes, yes, no}},
		"another goes before":              {"BECPUSuppress", true, enabled, []executor.Target{target("other", "0", "0", "BECPUSuppress")}, only(cgroup.CPUSet), states{true, yes, yes, yes, no}},
		"nobody asks for it":               {"BECPUSuppress", true, nil, nil, only(cgroup.CPUQuota), states{true, no, yes, no, no}},
		"the kernel has none":              {"GroupIdentity", true, nil, nil, only(cgroup.CPUSet), states{true, no, no, no, no}},
		"the kernel has something like it": {"GroupIdentity", true, nil, nil, only(cgroup.CPUIdle), states{true, no, yes, no, no}},
		"the gate is off":                  {"GroupIdentity", false, nil, nil, only(), states{false, no, no, no, no}},
		"files that every kernel has":      {"SystemConfig", true, nil, nil, only(), states{true, no, yes, no, no}},
		"a feature that is not known":      {"Other", true, nil, nil, only(), states{true, unknown, unknown, no, no}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := CgroupFeatures(FeatureInput{Owners: []string{tc.owner}, Kernel: kernel, On: func(string) bool { return tc.on }, SLO: tc.slo, Targets: tc.wants, Supports: tc.has})[0]
			if diff := cmp.Diff(tc.want, states{got.Gate, got.Configured, got.Supported, got.Active, got.Effective}); diff != "" {
				t.Errorf("unexpected states (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailuresAreTold(t *testing.T) {
	got := CgroupFeatures(FeatureInput{
		Owners: []string{"first", "second"}, Kernel: func(string) ([]cgroup.Setting, bool) { return nil, true }, On: func(string) bool { return true }, Failures: map[string]Failure{"second": {then, "device or resource busy"}},
	})
	if got[0].LastError != "" || got[1].LastError != "device or resource busy" || !got[1].LastErrorAt.Time.Equal(then) || got[1].Rank != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestStatesOfFeaturesThatEvict(t *testing.T) {
	triggers := []diagnosticsv1alpha1.EvictionTrigger{
		{Feature: "CPUEvict", State: "calm", Reason: "60% is used"}, {Feature: "MemoryEvict", State: "triggered", Reason: "too much", Held: "the budget is spent"},
		{Feature: "BEMemoryEvict", State: "unset", Reason: "no threshold is set"}, {Feature: "BECPUEvict", State: "unknown", Reason: "nothing was measured"},
	}
	tests := map[string]struct {
		on                bool
		active, effective diagnosticsv1alpha1.FeatureState
		wantReason        string
	}{
		"CPUEvict":      {on: true, active: "Yes", effective: "No", wantReason: "60% is used"},
		"MemoryEvict":   {on: true, active: "Yes", effective: "Partly", wantReason: "the budget is spent"},
		"BEMemoryEvict": {on: true, active: "No", effective: "No", wantReason: "no threshold is set"},
		"BECPUEvict":    {on: false, active: "Unknown", effective: "No", wantReason: "its feature gate is off"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := EvictionFeature(name, tc.on, nil, triggers, nil)
			if got.Active != tc.active || got.Effective != tc.effective || got.Reason != tc.wantReason {
				t.Errorf("active %s, effective %s, %q", got.Active, got.Effective, got.Reason)
			}
		})
	}
}

func TestSettingsOfAPod(t *testing.T) {
	place := Place{Pod: "kubepods/besteffort/pod1", Above: []string{"kubepods/besteffort"}, Containers: map[string]string{"kubepods/besteffort/pod1/c": "main"}}
	targets := []executor.Target{
		{Of: "kubepods/besteffort", Setting: "cpu.cfs_quota_us", Value: "1000", Effective: "1000"},
		{Of: "kubepods/besteffort/pod1/c", Setting: "cpuset.cpus", Value: "0-1", Effective: "0-3", Outranked: []string{"CPUSetAllocator"}},
		{Of: "kubepods/besteffort/pod10", Setting: "cpuset.cpus", Value: "0-1", Effective: "0-1"},
		{Of: "kubepods", Setting: "cpu.shares", Value: "2"},
	}
	var got []string
	for _, setting := range place.Settings(targets) {
		got = append(got, setting.Container+" "+setting.Cgroup+" "+map[bool]string{true: "matches", false: "differs"}[setting.Matches])
	}
	want := []string{" kubepods/besteffort matches", "main kubepods/besteffort/pod1/c differs"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected settings (-want +got):\n%s", diff)
	}
}
