package koordlet

import (
	"fmt"

	"github.com/vishvananda/netlink"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/qos/network"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// tcNetworkFeature divides what the node sends by class. It sets queues of the device, and net_cls.classid.
func tcNetworkFeature() FeatureSpec {
	return FeatureSpec{
		Spec:   nodefeature.TCNetworkQoS,
		Kernel: []cgroup.Setting{cgroup.NetworkClass},
		Values: func(b *featureBuild) qos.Feature { return reconcilerOf[*network.Reconciler](b.reconcilers) },
		Reconciler: func(b *featureBuild) (qos.Reconciler, error) {
			return orEmpty(network.New(network.Options{
				Control: &netlink.Handle{}, Proc: b.trees.proc, Sys: b.trees.sys, Device: b.store("network"), Audit: b.audit, Clock: b.options.Clock,
			}))
		},
		Status: func(e *explainer, _ bool) diagnostics.FeatureStatus {
			return networkStatus(reconcilerOf[*network.Reconciler](e.enforcement.reconcilers).State())
		},
	}
}

// networkStatus is of the queues of the node's device.
func networkStatus(state network.State) diagnostics.FeatureStatus {
	out := diagnostics.FeatureStatus{Supported: yes(state.Unsupported == ""), Problems: state.Problems}
	if state.At.IsZero() {
		out.State = "no queue was created yet, so it is not known whether the kernel supports it"
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
