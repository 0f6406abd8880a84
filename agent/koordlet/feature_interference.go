package koordlet

import (
	"fmt"
	"path/filepath"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/perf"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/qos/interference"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	decision "koordinator.sh/koord/decision/nodeqos/interference"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// cpiFeature finds disturbed services by cycles per instruction. Its reconciler does the work of two features.
func cpiFeature() FeatureSpec {
	return FeatureSpec{
		Spec: nodefeature.CPICollector,
		Reconciler: func(b *featureBuild) (qos.Reconciler, error) {
			made, err := interference.New(interference.Options{
				CPI: b.on(nodefeature.CPICollector), Pressure: b.on(nodefeature.PSICollector),
				Kernel: perf.Real{Root: perfCgroupRoot(b.options, b.layout)}, Limits: decision.DefaultLimits(),
			})
			if err != nil {
				return nil, err
			}
			return made, nil
		},
		Status:  interferenceStatusOf(nodefeature.CPICollector),
		Metrics: []diagnostics.Metric{{Name: "pod_cpi", Help: "Cycles per instruction of a pod, as last measured.", Labels: []string{"node", "pod_namespace", "pod_name"}}},
		Collect: (*explainer).collectCPI,
	}
}

// psiFeature finds disturbed services by the time that their processes wait.
func psiFeature() FeatureSpec {
	return FeatureSpec{
		Spec: nodefeature.PSICollector, With: nodefeature.CPICollector.Name, Status: interferenceStatusOf(nodefeature.PSICollector),
		Metrics: []diagnostics.Metric{{
			Name: "pod_psi", Help: "Percentage of the time in which tasks of a pod waited.",
			Labels: []string{"node", "pod_namespace", "pod_name", "pod_uid", "psi_resource_type", "psi_precision", "psi_degree"},
		}},
		Collect: (*explainer).collectPSI,
	}
}

func interferenceStatusOf(feature nodefeature.Spec) func(*explainer, bool) diagnostics.FeatureStatus {
	return func(e *explainer, on bool) diagnostics.FeatureStatus { return e.interferenceStatus(feature.Name, on) }
}

// interferenceStatus is of the detection of disturbed services: one reconciler does the work of two gates.
func (e *explainer) interferenceStatus(gate string, on bool) diagnostics.FeatureStatus {
	kernel := perf.Real{Root: perfCgroupRoot(e.options, e.enforcement.layout)}
	state := reconcilerOf[*interference.Reconciler](e.enforcement.reconcilers).State()
	out := diagnostics.FeatureStatus{Supported: yes(e.enforcement.proc.Exists("pressure/cpu")), Active: yes(on), Effective: yes(false)}
	if gate == nodefeature.CPICollector.Name {
		err := kernel.Supported()
		if out.Supported = yes(err == nil); err != nil {
			out.State = err.Error()
		}
	}
	if !on || state.At.IsZero() || out.Supported != diagnosticsv1alpha1.FeatureYes {
		out.Active = yes(false)
		return out
	}
	disturbed := 0
	for i := range state.Services {
		service := &state.Services[i]
		if service.State.Verdict == decision.Noisy {
			disturbed++
		}
		if gate == nodefeature.CPICollector.Name && service.CPI > 0 || gate == nodefeature.PSICollector.Name && !state.At.IsZero() {
			out.Effective = diagnosticsv1alpha1.FeatureYes
		}
	}
	out.State = fmt.Sprintf("%d services are watched, %d are disturbed", len(state.Services), disturbed)
	if keeps := state.Relief.Keeps(); keeps < 100 {
		out.State += fmt.Sprintf("; best-effort pods keep %d%% of their CPU: %s", keeps, state.Relief.Reason)
	}
	return out
}

// perfCgroupRoot is where the cgroups are that performance counters know.
func perfCgroupRoot(options *Options, layout cgroup.Layout) string {
	if layout.Version == cgroup.V2 {
		return options.Cgroup
	}
	return filepath.Join(options.Cgroup, "perf_event")
}

// collectCPI emits the cycles per instruction of services that were counted.
func (e *explainer) collectCPI(emit diagnostics.Emit) {
	for _, service := range reconcilerOf[*interference.Reconciler](e.enforcement.reconcilers).State().Services {
		if service.CPI > 0 {
			emit("pod_cpi", service.CPI, service.Namespace, service.Name)
		}
	}
}

// collectPSI emits the pressure on services.
func (e *explainer) collectPSI(emit diagnostics.Emit) {
	if !e.options.isOn(&nodefeature.PSICollector) {
		return
	}
	for _, service := range reconcilerOf[*interference.Reconciler](e.enforcement.reconcilers).State().Services {
		for _, pressure := range e.measurement.pressure(service.UID) {
			emit("pod_psi", pressure.Percent, service.Namespace, service.Name, string(service.UID), pressure.Resource, pressure.Precision(), pressure.Degree)
		}
	}
}
