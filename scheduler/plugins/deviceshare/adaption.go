package deviceshare

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
)

// DevicePluginAdaption is the feature gate with which allocations are also written as the device plugins of vendors read
// them. It is off by default: with it, the vendors' plugins hand out devices instead of koordlet.
const DevicePluginAdaption featuregate.Feature = "DevicePluginAdaption"

func init() {
	utilruntime.Must(utilfeature.DefaultMutableFeatureGate.Add(map[featuregate.Feature]featuregate.FeatureSpec{
		DevicePluginAdaption: {Default: false, PreRelease: featuregate.Alpha},
	}))
}

// adapt asks for what the vendor's device plugin reads of an allocation, nil for none, and remembers whether the node must
// be locked for it. Annotations of that kind that the pod came with are emptied. A pod that stands for a reservation starts
// no container, and no device plugin sees it.
func (p *Plugin) adapt(state fwk.CycleState, pod *corev1.Pod, allocation *device.Allocation, ledger *device.Ledger) error {
	if !p.adapts || reservation.IsReservePod(pod) {
		return nil
	}
	for _, key := range device.AdaptedAnnotations() {
		if pod.Annotations[key] != "" {
			defaultprebind.Annotate(state, key, "")
		}
	}
	if allocation == nil {
		return nil
	}
	adaption, err := device.Adapt(allocation, ledger, pod.Labels[extension.LabelGPUIsolationProvider])
	if err != nil {
		return err
	}
	for key, value := range adaption.Annotations {
		defaultprebind.Annotate(state, key, value)
	}
	for _, key := range adaption.Stamps {
		defaultprebind.Stamp(state, key)
	}
	for key, value := range adaption.Labels {
		defaultprebind.Label(state, key, value)
	}
	if adaption.LockKey != "" {
		state.Write(lockKey, &locking{key: adaption.LockKey})
	}
	return nil
}

// devicePlugin is what Filter must know of the device plugin of a node, nil when allocations are not adapted to it. A lock
// that is over, is for the pod itself, or is for a pod that is gone does not count.
func (p *Plugin) devicePlugin(c *cycle, ledger *device.Ledger, node *corev1.Node) *device.DevicePlugin {
	if !p.adapts {
		return nil
	}
	plugin := &device.DevicePlugin{}
	if key := ledger.LockKey(); key != "" && p.lockedFor(node.Annotations[key], c.namespace, c.name) {
		plugin.Lock = node.Annotations[key]
	}
	return plugin
}

// lockedFor is true when a lock keeps a pod from a node. A lock that cannot be read does until somebody removes it: it is
// not known when it ends.
func (p *Plugin) lockedFor(text, namespace, name string) bool {
	if text == "" {
		return false
	}
	lock, err := device.ParseLock(text)
	if err != nil {
		return true
	}
	if lock.Over(p.now()) || lock.Namespace == namespace && lock.Pod == name {
		return false
	}
	_, err = p.pods.Pods(lock.Namespace).Get(lock.Pod)
	return err == nil
}

// errLocked is about a node that another pod locked between Filter and PreBind.
func errLocked(node, text string) error { return fmt.Errorf("node %q has been locked: %s", node, text) }
