package koordlet

import (
	"fmt"

	"koordinator.sh/koord/agent/diagnostics"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// deviceReportStatus is of devices that are reported in the node's Device.
func (e *explainer) deviceReportStatus(gate, missing string, on bool) diagnostics.FeatureStatus {
	out := e.idleStatus(missing)
	report, read := e.measurement.devices.reported(gate)
	switch {
	case !on || out.State != "":
	case !read:
		out.State = "the devices have not been read yet"
	default:
		out.State, out.Active, out.Effective = fmt.Sprintf("%d devices are reported", report.found), yes(report.found > 0), yes(report.found > 0)
	}
	if on && report.problem != nil {
		out.Problems = []string{report.problem.Error()}
		if out.Effective == diagnosticsv1alpha1.FeatureYes {
			out.Effective = diagnosticsv1alpha1.FeaturePartly
		}
	}
	return out
}

// deviceInjectStatus is of devices that containers are given when they are made. What containers have that were made before the agent was
// started is not known.
func (e *explainer) deviceInjectStatus(gate string, kind schedulingv1alpha1.DeviceType, missing string, on bool) diagnostics.FeatureStatus {
	out := e.idleStatus(missing)
	if !on {
		return out
	}
	pods, given := e.allocated(kind), int64(0)
	if e.enforcement.advisor != nil {
		given = e.enforcement.advisor.Injected(gate)
	}
	out.Active, out.Effective = yes(pods > 0), yes(given > 0)
	if pods > 0 && given == 0 {
		out.Effective = diagnosticsv1alpha1.FeatureUnknown
	}
	if out.State == "" {
		out.State = fmt.Sprintf("%d pods have devices allocated; injected into %d containers since koordlet started", pods, given)
	}
	return out
}

// allocated counts the node's pods that the scheduler gave devices of a kind to.
func (e *explainer) allocated(kind schedulingv1alpha1.DeviceType) int {
	pods := 0
	for _, pod := range e.cluster.Pods() {
		if allocated, err := extension.GetDeviceAllocations(pod.Object.Annotations); err == nil && len(allocated[kind]) > 0 {
			pods++
		}
	}
	return pods
}

// idleStatus is the status of a feature that does nothing; lacks is empty where the node has all that the feature needs.
func (*explainer) idleStatus(lacks string) diagnostics.FeatureStatus {
	return diagnostics.FeatureStatus{Supported: yes(lacks == ""), Active: yes(false), Effective: yes(false), State: lacks}
}
