package koordlet

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/qos/network"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/agentview"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// every gate on.
func allOn(options *Options) {
	options.FeatureGates = map[string]bool{}
	for _, gate := range gates() {
		options.FeatureGates[gate] = true
	}
}

func explained(r *rig) []diagnosticsv1alpha1.AgentFeature {
	r.Helper()
	e := newExplainer(r.options, r.cluster, r.measurement, r.enforcement, r.standing)
	answer, err := e.Explain(r.ctx, nodeName, &diagnosticsv1alpha1.AgentQuestion{Sections: []diagnosticsv1alpha1.AgentSection{diagnosticsv1alpha1.SectionFeatures}})
	if err != nil {
		r.Fatal(err)
	}
	return answer.Features
}

func TestEveryGateIsExplained(t *testing.T) {
	for name, change := range map[string]func(*Options){"by default": nil, "all on": allOn} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, change)
				defer r.stop()
				r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
				r.after(5 * time.Second)
				features := explained(r)
				for _, gate := range gates() {
					at := slices.IndexFunc(features, func(f diagnosticsv1alpha1.AgentFeature) bool { return f.Name == gate })
					if at < 0 {
						t.Errorf("nothing is told of %s", gate)
						continue
					}
					f := features[at]
					for what, state := range map[string]diagnosticsv1alpha1.FeatureState{"configured": f.Configured, "supported": f.Supported, "effective": f.Effective} {
						if state == diagnosticsv1alpha1.FeatureUnknown || state == "" {
							t.Errorf("whether %s is %s is not known", gate, what)
						}
					}
					if f.Reason == "" {
						t.Errorf("nothing says why %s is as it is", gate)
					}
				}
			})
		})
	}
}

func TestEveryGateIsConfiguredOrNot(t *testing.T) {
	for _, gate := range gates() {
		for _, slo := range []*slov1alpha1.NodeSLOSpec{nil, {}} {
			if state, reason := agentview.Configured(gate, slo); state == diagnosticsv1alpha1.FeatureUnknown || reason == "" {
				t.Errorf("%s of a NodeSLO that asks for nothing is %s: %q", gate, state, reason)
			}
		}
	}
}

func TestWhatKeepersSayIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, allOn)
		defer r.stop()
		r.group.Go(func() { r.measurement.run(r.ctx, r.enforcement) })
		r.after(5 * time.Second)
		at := time.Now()
		r.enforcement.results.recordFailure("TerwayQoS", errors.New("no space left on device"), at)
		told := map[string]diagnosticsv1alpha1.AgentFeature{}
		for _, feature := range explained(r) {
			told[feature.Name] = feature
		}
		if f := told["TerwayQoS"]; f.LastError != "no space left on device" || !f.LastErrorAt.Time.Equal(at) {
			t.Errorf("got %+v", f)
		}
		for _, gate := range []string{nodefeature.RdtResctrl.Name, nodefeature.ResctrlCollector.Name, "CoreSched", "TCNetworkQoS", nodefeature.CPICollector.Name} {
			if f := told[gate]; f.State == "" && len(f.Problems) == 0 && f.LastError == "" {
				t.Errorf("%s says nothing of itself: %+v", gate, f)
			}
		}
		if f := told[nodefeature.RdtResctrl.Name]; f.Supported != diagnosticsv1alpha1.FeatureNo {
			t.Errorf("resctrl is not there, and supported is %s", f.Supported)
		}
	})
}

func TestWhatTheKernelCannotQueueIsSaid(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	const yes, no, partly = diagnosticsv1alpha1.FeatureYes, diagnosticsv1alpha1.FeatureNo, diagnosticsv1alpha1.FeaturePartly
	tests := map[string]struct {
		state network.State
		want  diagnostics.FeatureStatus
	}{
		"it was not tried": {network.State{}, diagnostics.FeatureStatus{Supported: yes, State: "no queue was created yet, so it is not known whether the kernel supports it"}},
		"the kernel cannot": {
			network.State{At: at, Unavailable: "no token buckets", Unsupported: "no token buckets"},
			diagnostics.FeatureStatus{Supported: no, Active: no, Effective: no, State: "no token buckets"},
		},
		"nobody wants it of a kernel that cannot": {
			network.State{At: at, Unavailable: "no class is on", Unsupported: "no token buckets"},
			diagnostics.FeatureStatus{Supported: no, Active: no, Effective: no, State: "no class is on"},
		},
		"all of it": {
			network.State{At: at, Device: "eth0", Total: 2e9, TotalSource: "speed"},
			diagnostics.FeatureStatus{Supported: yes, Active: yes, Effective: yes, State: "eth0: 2000 Mbit/s by speed, 0 classes, 0 addresses"},
		},
		"some of it": {
			network.State{At: at, Device: "eth0", Total: 2e9, TotalSource: "speed", Problems: []string{"a filter"}},
			diagnostics.FeatureStatus{Supported: yes, Active: yes, Effective: partly, State: "eth0: 2000 Mbit/s by speed, 0 classes, 0 addresses", Problems: []string{"a filter"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, networkStatus(tc.state)); diff != "" {
				t.Errorf("note (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotesCountBesideValues(t *testing.T) {
	status := diagnostics.FeatureStatus{Supported: "Yes", Active: "Yes", Effective: "Partly", State: "2 groups", Problems: []string{"too many"}}
	got := diagnostics.OtherFeature(nodefeature.RdtResctrl.Name, true, nil, status, nil)
	if got.Supported != "Yes" || got.Active != "Yes" || got.Effective != "Partly" || got.State != "2 groups" || len(got.Problems) != 1 {
		t.Errorf("got %+v", got)
	}
	if off := diagnostics.OtherFeature(nodefeature.RdtResctrl.Name, false, nil, diagnostics.FeatureStatus{}, nil); off.Reason != "its feature gate is off" || off.Active != "No" {
		t.Errorf("got %+v", off)
	}
}
