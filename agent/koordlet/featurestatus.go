package koordlet

import (
	"fmt"
	"strings"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/hooks"
	hostcoresched "koordinator.sh/koord/agent/host/coresched"
	"koordinator.sh/koord/agent/host/perf"
	"koordinator.sh/koord/agent/qos/network"
	"koordinator.sh/koord/agent/qos/resctrl"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	decision "koordinator.sh/koord/decision/nodeqos/interference"
)

// statusOf is what a feature reports of itself, by the name of its gate.
func (e *explainer) statusOf(gate string, on bool) diagnostics.FeatureStatus {
	switch gate {
	case gateResctrl, gatePodResctrl, gateCounters:
		return e.resctrlStatus(gate, on)
	case "CoreSched":
		return e.coreSchedStatus()
	case "TCNetworkQoS":
		return networkStatus(e.enforcement.reconcilers.network.State())
	case "BlkIOReconcile":
		return diagnostics.FeatureStatus{Problems: e.enforcement.results.blockIOProblems()}
	case "CPUBurst":
		return e.burstStatus()
	case gateCPI, gateInterference:
		return e.interferenceStatus(gate, on)
	case gateTerway:
		return e.terwayStatus(on)
	case hugePageReport:
		return e.hugePageStatus(on)
	case accelerators, rdmaDevices:
		return e.deviceReportStatus(gate, on)
	case hooks.GPUEnvInject, hooks.RDMADeviceInject:
		return e.deviceInjectStatus(gate, on)
	}
	return diagnostics.FeatureStatus{}
}

func yes(is bool) diagnosticsv1alpha1.FeatureState {
	if is {
		return diagnosticsv1alpha1.FeatureYes
	}
	return diagnosticsv1alpha1.FeatureNo
}

// resctrlStatus is of shares of the cache and of memory bandwidth: one reconciler does the work of three gates.
func (e *explainer) resctrlStatus(gate string, on bool) diagnostics.FeatureStatus {
	state := e.enforcement.reconcilers.resctrl.State()
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
	case gateResctrl:
		out.Active, out.Effective, out.State = yes(len(own) > 0), yes(len(own) > 0), fmt.Sprintf("%d groups, of which it set %d", len(state.Groups), len(own))
		if len(own) > 0 {
			out.State += ": " + strings.Join(own, "; ")
		}
	case gatePodResctrl:
		out.Active, out.Effective, out.State = yes(len(state.Pods) > 0), yes(len(state.Pods) > 0), fmt.Sprintf("%d pods are in a group", len(state.Pods))
	case gateCounters:
		out.Supported, out.Active, out.Effective = yes(monitored > 0), yes(monitored > 0), yes(monitored > 0)
		out.State, out.Problems = fmt.Sprintf("%d of %d groups are counted", monitored, len(state.Groups)), nil
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

func (e *explainer) coreSchedStatus() diagnostics.FeatureStatus {
	state := e.enforcement.reconcilers.coresched.State()
	if state.At.IsZero() {
		err := hostcoresched.Supported(hostcoresched.Real{Proc: e.enforcement.proc})
		out := diagnostics.FeatureStatus{Supported: yes(err == nil)}
		if err != nil {
			out.State = err.Error()
		}
		return out
	}
	out := diagnostics.FeatureStatus{Supported: yes(state.Unavailable == ""), State: state.Unavailable, Active: yes(len(state.Pods) > 0), Effective: yes(len(state.Cookies) > 0)}
	if state.Unavailable == "" {
		out.State = fmt.Sprintf("%d pods, %d cookies", len(state.Pods), len(state.Cookies))
		if len(state.Own) > 0 {
			out.State += fmt.Sprintf("; %d threads keep a cookie of their own", len(state.Own))
		}
	}
	return out
}

// networkStatus is of the queues of the node's device.
func networkStatus(state network.State) diagnostics.FeatureStatus {
	out := diagnostics.FeatureStatus{Supported: yes(state.Unsupported == ""), Problems: state.Problems}
	if state.At.IsZero() {
		out.State = "it has queued nothing yet: whether the kernel can shows when it has to"
		return out
	}
	out.Active, out.Effective, out.State = yes(state.Device != ""), yes(state.Device != ""), state.Unavailable
	if state.Device != "" {
		out.State = fmt.Sprintf("%s: %d Mbit/s by %s, %d classes, %d addresses", state.Device, state.Total.Bits()/1e6, state.TotalSource, len(state.Classes), len(state.Addresses))
	}
	if len(out.Problems) > 0 && out.Effective == diagnosticsv1alpha1.FeatureYes {
		out.Effective = diagnosticsv1alpha1.FeaturePartly
	}
	return out
}

func (e *explainer) burstStatus() diagnostics.FeatureStatus {
	bursts := e.enforcement.results.decidedBursts()
	if len(bursts) == 0 {
		return diagnostics.FeatureStatus{}
	}
	above := 0
	for _, pod := range bursts {
		for i := range pod.Containers {
			if c := &pod.Containers[i]; c.Base > 0 && c.Quota > c.Base {
				above++
			}
		}
	}
	return diagnostics.FeatureStatus{State: fmt.Sprintf("%d pods may burst; %d containers have more than their limit", len(bursts), above)}
}

// interferenceStatus is of the detection of disturbed services: one reconciler does the work of two gates.
func (e *explainer) interferenceStatus(gate string, on bool) diagnostics.FeatureStatus {
	kernel := perf.Real{Root: perfCgroupRoot(e.options, e.enforcement.layout)}
	state := e.enforcement.reconcilers.interference.State()
	out := diagnostics.FeatureStatus{Supported: yes(e.enforcement.proc.Exists("pressure/cpu")), Active: yes(on), Effective: yes(false)}
	if gate == gateCPI {
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
		if gate == gateCPI && service.CPI > 0 || gate == gateInterference && !state.At.IsZero() {
			out.Effective = diagnosticsv1alpha1.FeatureYes
		}
	}
	out.State = fmt.Sprintf("%d services are watched, %d are disturbed", len(state.Services), disturbed)
	if keeps := state.Relief.Keeps(); keeps < 100 {
		out.State += fmt.Sprintf("; best effort keeps %d%%: %s", keeps, state.Relief.Reason)
	}
	return out
}
