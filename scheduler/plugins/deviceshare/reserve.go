package deviceshare

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/device"
	"koordinator.sh/koord/scheduler/extender"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
)

// Reserve chooses the devices, and asks for the annotations that tell the node agent.
func (p *Plugin) Reserve(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodeName string) *fwk.Status {
	if cycleOf(state) == nil {
		return nil
	}
	info, err := p.handle.SnapshotSharedLister().NodeInfos().Get(nodeName)
	if err != nil {
		return fwk.AsStatus(fmt.Errorf("find node %s in the snapshot: %w", nodeName, err))
	}
	in, concerned := p.input(state, extender.NodeOf(state, info))
	if !concerned {
		return nil
	}
	in.Preferred = p.hooks.preferred(p.handle, state, nodeName)
	allocation, refusal := device.Allocate(in)
	if refusal != nil {
		return statusOf(refusal)
	}
	text, err := json.Marshal(allocation.Annotation())
	if err != nil {
		return fwk.AsStatus(fmt.Errorf("encode annotation %q: %w", extension.AnnotationDeviceAllocated, err))
	}
	defaultprebind.Annotate(state, extension.AnnotationDeviceAllocated, string(text))
	if minors := allocation.GPUMinors(); minors != "" {
		defaultprebind.Annotate(state, extension.AnnotationGPUMinors, minors)
	}
	p.state.Reserve(nodeName, pod, allocation)
	return nil
}

// Unreserve takes back Reserve.
func (p *Plugin) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	p.state.Unreserve(pod.UID)
}

// PreBindPreFlight skips every pod: DefaultPreBind writes the annotations. The plugin is one for PreBind because
// configurations enable it there.
func (p *Plugin) PreBindPreFlight(context.Context, fwk.CycleState, *corev1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, fwk.NewStatus(fwk.Skip)
}

// PreBind has nothing to do.
func (p *Plugin) PreBind(context.Context, fwk.CycleState, *corev1.Pod, string) *fwk.Status {
	return nil
}
