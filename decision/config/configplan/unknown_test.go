package configplan

import (
	"slices"
	"testing"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// unread takes away inputs as a source does that may not read them.
func unread(in Input, inputs ...unknown.Input) Input {
	in.Unknown = unknown.Inputs{}
	for _, input := range inputs {
		in.Unknown[input] = unknown.Cause{Reason: diagnosticsv1alpha1.UnknownForbidden}
		switch input {
		case unknown.Pods:
			in.Pods = nil
		case unknown.NodeMetrics:
			in.Metrics = nil
		case unknown.NodeSLOs:
			in.SLOs = nil
		case unknown.Quotas:
			in.Quotas = nil
		case unknown.Topologies:
			in.CPUs = nil
		}
	}
	return in
}

func TestAPlanCountsNothingThatCouldNotBeRead(t *testing.T) {
	change := func(key, before, after string) Input {
		in := large(t, 6, 4, parsed(t, map[string]string{configuration.ColocationConfigKey: `{"enable": true}`}))
		in.Old, in.New = parsed(t, map[string]string{configuration.ColocationConfigKey: `{"enable": true}`, key: before}), parsed(t, map[string]string{configuration.ColocationConfigKey: `{"enable": true}`, key: after})
		return in
	}
	reclaim := change(configuration.ColocationConfigKey, `{"enable": true}`, `{"enable": true, "cpuReclaimThresholdPercent": 40}`)
	normalize := change(configuration.CPUNormalizationConfigKey, `{"enable": false}`, `{"enable": true, "ratioModel": {"Xeon": {"baseRatio": 2}}}`)
	burst := change(configuration.CPUBurstConfigKey, `{"clusterStrategy": {"policy": "none"}}`, `{"clusterStrategy": {"policy": "auto"}}`)
	tests := map[string]struct {
		in Input
		// wantOffers and wantUnknown say of batch-cpu whether its sum is known to change, or is not known.
		wantOffers, wantUnknown bool
		// the counts that are known.
		wantPods, wantOvercommitted, wantQuotas, wantConverged bool
	}{
		"all was read":       {unread(reclaim), true, false, true, true, true, true},
		"no pods":            {unread(reclaim, unknown.Pods), false, true, false, false, false, true},
		"no NodeMetrics":     {unread(reclaim, unknown.NodeMetrics), false, true, false, false, false, true},
		"no NodeSLOs":        {unread(reclaim, unknown.NodeSLOs), true, false, true, true, true, false},
		"no quotas":          {unread(reclaim, unknown.Quotas), true, false, true, true, false, true},
		"no quota arguments": {unread(reclaim, unknown.SchedulerConfiguration), true, false, true, true, false, true},
		"no cpu models":      {unread(normalize, unknown.Topologies), false, true, false, false, false, true},
		"what changes no offer needs none of it": {unread(burst, unknown.Pods, unknown.NodeMetrics, unknown.Quotas, unknown.Topologies),
			false, false, true, true, true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plan := Of(tc.in)
			s := plan.Summary
			named := func(list []OfferChange) bool {
				return slices.ContainsFunc(list, func(c OfferChange) bool { return c.Resource == extension.BatchCPU })
			}
			if named(s.Offers) != tc.wantOffers || slices.Contains(s.OffersUnknown, extension.BatchCPU) != tc.wantUnknown {
				t.Errorf("offers %+v, unknown %v; want batch-cpu known %t, unknown %t", s.Offers, s.OffersUnknown, tc.wantOffers, tc.wantUnknown)
			}
			got := [4]bool{s.PodsSuppressed != nil, s.NodesOvercommitted != nil, s.Quotas != nil, s.NodesUnconverged != nil}
			if want := [4]bool{tc.wantPods, tc.wantOvercommitted, tc.wantQuotas, tc.wantConverged}; got != want {
				t.Errorf("pods, overcommitted, quotas and converged nodes are known: %v, want %v", got, want)
			}
			for _, bucket := range plan.Histogram {
				if (bucket.Label == bucketUnknown) != (tc.wantUnknown && slices.Contains(overcommit.Resources(), bucket.Resource)) {
					t.Errorf("histogram %+v", plan.Histogram)
				}
			}
			for _, node := range plan.Nodes {
				if slices.ContainsFunc(node.Offers, func(c OfferChange) bool { return c.Requested == nil && c.Resource == extension.BatchCPU }) {
					t.Errorf("node %+v has an offer that is compared with no requests", node)
				}
			}
		})
	}
}
