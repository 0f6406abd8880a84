package configuration

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// The paths of the agent's thresholds.
const (
	cpuSuppressPath = "cpuSuppressThresholdPercent"
	cpuEvictPath    = "cpuEvictThresholdPercent"
	memoryEvictPath = "memoryEvictThresholdPercent"
)

// loops reports thresholds of the agent, the scheduler and the descheduler of which one component undoes what another does, once for
// all the groups of nodes on which they do.
func (v *validation) loops() {
	seen := map[string]int{}
	for _, s := range v.scopes {
		for _, d := range v.deschedulers(s) {
			in := loopguard.Input{Agent: s.agentThresholds(), Descheduler: d, Scheduler: v.schedulerThresholds()}
			for _, violation := range loopguard.Check(in) {
				v.addLoop(s, &violation, seen)
			}
		}
	}
}

// deschedulers are the thresholds that are for any node of a scope; one that is disabled where there are none.
func (v *validation) deschedulers(s *scope) []loopguard.Descheduler {
	var out []loopguard.Descheduler
	for _, d := range v.in.Descheduler {
		if d.Selects == nil || len(v.in.Nodes) == 0 || slices.ContainsFunc(s.members, d.Selects) {
			out = append(out, d.Descheduler)
		}
	}
	if len(out) == 0 {
		return make([]loopguard.Descheduler, 1)
	}
	return out
}

// agentThresholds are those in force in a scope. A feature of the agent that is known to be off has none.
func (s *scope) agentThresholds() loopguard.Agent {
	out := loopguard.Agent{Enabled: s.on(thresholdKey, "enable"), UsualCPUEvict: s.v.usual(cpuEvictPath), UsualMemoryEvict: s.v.usual(memoryEvictPath)}
	if s.v.runs(nodefeature.BECPUSuppress) {
		out.CPUSuppress = s.threshold(cpuSuppressPath)
	}
	if _, set := s.get(thresholdKey, "evictEnabledPriorityThreshold"); set && s.v.runs(nodefeature.CPUEvict) {
		out.CPUEvict = s.threshold(cpuEvictPath)
	}
	if s.v.runs(nodefeature.BEMemoryEvict, nodefeature.MemoryEvict) {
		out.MemoryEvict = s.threshold(memoryEvictPath)
	}
	return out
}

// runs says whether one of the features is on, or not known to be off.
func (v *validation) runs(features ...nodefeature.Spec) bool {
	return v.in.Features == nil || slices.ContainsFunc(features, func(feature nodefeature.Spec) bool { return feature.On(v.in.Features) })
}

// threshold of the agent; nil for one that is not set.
func (s *scope) threshold(path string) *float64 {
	percent, set := s.number(thresholdKey, path)
	if !set {
		return nil
	}
	return &percent
}

// usual is the built-in default of a threshold; nil for one without.
func (v *validation) usual(path string) *float64 {
	percent, err := strconv.ParseFloat(v.defaults[ref{thresholdKey, path}], 64)
	if err != nil {
		return nil
	}
	return &percent
}

func (v *validation) schedulerThresholds() loopguard.Scheduler {
	out := loopguard.Scheduler{Enabled: true, Usage: percents(v.load.UsageThresholds), Prod: percents(v.load.ProdUsageThresholds)}
	if v.load.Aggregated != nil {
		out.Aggregated = percents(v.load.Aggregated.UsageThresholds)
	}
	return out
}

func percents(thresholds map[corev1.ResourceName]int64) map[corev1.ResourceName]float64 {
	out := make(map[corev1.ResourceName]float64, len(thresholds))
	for name, percent := range thresholds {
		out[name] = float64(percent)
	}
	return out
}

// addLoop makes a finding of a violation. It stands at the setting of the agent, if there is one among the two that somebody chose, else
// at that of the descheduler.
func (v *validation) addLoop(s *scope, violation *loopguard.Violation, seen map[string]int) {
	f := Finding{Code: violation.Code, Nodes: s.nodes, Message: violation.Message, Cause: violation.Cause, Fix: violation.Fix}
	var refs []ref
	for _, place := range violation.Places {
		value := number(place.Percent)
		switch place.Owner {
		case loopguard.OwnerAgent:
			r := ref{thresholdKey, place.Path}
			refs = append(refs, r)
			f.Key, f.Path = r.key, s.place(r)
			f.Evidence = append(f.Evidence, s.evidence(r)...)
		case loopguard.OwnerScheduler:
			f.Evidence = append(f.Evidence, Evidence{Key: schedulerKey, Path: place.Path, Value: value})
		case loopguard.OwnerDescheduler:
			f.Evidence = append(f.Evidence, Evidence{Key: configuration.DeschedulerConfigMapName, Path: place.Path, Value: value})
		}
	}
	if f.Key == "" || f.Path == "" {
		// The agent's threshold is a default, or the finding is not about the agent.
		last := f.Evidence[len(f.Evidence)-1]
		for _, e := range f.Evidence {
			if e.Key == configuration.DeschedulerConfigMapName {
				last = e
			}
		}
		f.Key, f.Path = last.Key, last.Path
	}
	if len(refs) > 0 {
		f.Layers = []string{s.layer(refs...)}
	}
	v.merge(f, strings.Join([]string{f.Message, f.Key, f.Path}, "\x00"), seen)
}

// merge adds a finding, or its nodes and layers to the one with the same id.
func (v *validation) merge(f Finding, id string, seen map[string]int) {
	if index, again := seen[id]; again {
		before := &v.found[index]
		before.Nodes += f.Nodes
		for _, layer := range f.Layers {
			if !contains(before.Layers, layer) {
				before.Layers = append(before.Layers, layer)
			}
		}
		return
	}
	before := len(v.found)
	v.add(f)
	if len(v.found) > before {
		seen[id] = before
	}
}
