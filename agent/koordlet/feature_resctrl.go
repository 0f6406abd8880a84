package koordlet

import (
	"fmt"
	"path/filepath"
	"strings"

	"koordinator.sh/koord/agent/diagnostics"
	hostresctrl "koordinator.sh/koord/agent/host/resctrl"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/qos/resctrl"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// rdtResctrlFeature divides the cache and the memory bandwidth by class. Its reconciler does the work of three features.
func rdtResctrlFeature() FeatureSpec {
	return FeatureSpec{
		Spec: nodefeature.RdtResctrl,
		Reconciler: func(b *featureBuild) (qos.Reconciler, error) {
			return orEmpty(resctrl.New(resctrl.Options{
				Classes: b.on(nodefeature.RdtResctrl), Pods: b.on(nodefeature.Resctrl), Counters: b.on(nodefeature.ResctrlCollector),
				Proc: b.trees.proc, Originals: b.store("resctrl"), Audit: b.audit, Clock: b.options.Clock,
				Open: func() (hostresctrl.Tree, error) {
					return hostresctrl.Open(filepath.Join(b.options.Sys, "fs", "resctrl"))
				},
			}))
		},
		Status: resctrlStatusOf(nodefeature.RdtResctrl),
	}
}

// podResctrlFeature divides both for single pods.
func podResctrlFeature() FeatureSpec {
	return FeatureSpec{Spec: nodefeature.Resctrl, With: nodefeature.RdtResctrl.Name, Status: resctrlStatusOf(nodefeature.Resctrl)}
}

// resctrlCollectorFeature measures both.
func resctrlCollectorFeature() FeatureSpec {
	return FeatureSpec{
		Spec: nodefeature.ResctrlCollector, With: nodefeature.RdtResctrl.Name, Status: resctrlStatusOf(nodefeature.ResctrlCollector),
		Metrics: []diagnostics.Metric{
			{Name: "resctrl_llc_occupancy", Help: "Bytes of the last-level cache that a group has filled.", Labels: []string{"node", "group"}},
			{Name: "resctrl_memory_bandwidth", Help: "Bytes per second between the cache and memory, of a group.", Labels: []string{"node", "group", "type"}},
		},
		Collect: (*explainer).collectResctrl,
	}
}

func resctrlStatusOf(feature nodefeature.Spec) func(*explainer, bool) diagnostics.FeatureStatus {
	return func(e *explainer, on bool) diagnostics.FeatureStatus { return e.resctrlStatus(feature.Name, on) }
}

// resctrlStatus is of shares of the cache and of memory bandwidth: one reconciler does the work of three gates.
func (e *explainer) resctrlStatus(gate string, on bool) diagnostics.FeatureStatus {
	state := reconcilerOf[*resctrl.Reconciler](e.enforcement.reconcilers).State()
	out := diagnostics.FeatureStatus{Supported: yes(e.enforcement.sys.Exists("fs/resctrl/schemata")), Active: yes(false), Effective: yes(false)}
	if !on || state.At.IsZero() {
		return out
	}
	out.Supported, out.State, out.Problems = yes(state.Unavailable == ""), state.Unavailable, state.Problems
	if state.Unavailable != "" {
		return out
	}
	own, monitored := []string{}, 0
	for _, group := range state.Groups {
		if group.Monitored {
			monitored++
		}
		if group.Own {
			own = append(own, groupName(&group)+" "+group.Schemata)
		}
	}
	switch gate {
	case nodefeature.RdtResctrl.Name:
		out.Active, out.Effective, out.State = yes(len(own) > 0), yes(len(own) > 0), fmt.Sprintf("%d groups, %d of them set by koordlet", len(state.Groups), len(own))
		if len(own) > 0 {
			out.State += ": " + strings.Join(own, "; ")
		}
	case nodefeature.Resctrl.Name:
		out.Active, out.Effective, out.State = yes(len(state.Pods) > 0), yes(len(state.Pods) > 0), fmt.Sprintf("%d pods are in a resctrl group", len(state.Pods))
	case nodefeature.ResctrlCollector.Name:
		out.Supported, out.Active, out.Effective = yes(monitored > 0), yes(monitored > 0), yes(monitored > 0)
		out.State, out.Problems = fmt.Sprintf("%d of %d groups are monitored", monitored, len(state.Groups)), nil
	}
	if len(out.Problems) > 0 && out.Effective == diagnosticsv1alpha1.FeatureYes {
		out.Effective = diagnosticsv1alpha1.FeaturePartly
	}
	return out
}

// groupName is that of a group, with a name for the root group.
func groupName(group *resctrl.GroupState) string {
	if group.Name == "" {
		return "root"
	}
	return group.Name
}

// collectResctrl emits what each monitored group uses.
func (e *explainer) collectResctrl(emit diagnostics.Emit) {
	state := reconcilerOf[*resctrl.Reconciler](e.enforcement.reconcilers).State()
	for i := range state.Groups {
		group := &state.Groups[i]
		if !group.Monitored {
			continue
		}
		emit("resctrl_llc_occupancy", float64(group.Counters.Occupancy), groupName(group))
		if group.Measured {
			emit("resctrl_memory_bandwidth", group.TotalBandwidth, groupName(group), "total")
			emit("resctrl_memory_bandwidth", group.LocalBandwidth, groupName(group), "local")
		}
	}
}
