package deviceshare

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/recovery"
)

// Reserve chooses the devices, and asks for the annotations that tell the node agent.
func (p *Plugin) Reserve(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodeName string) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Reserve, pod, &status)
	if cycleOf(state) == nil {
		return fwk.AsStatus(p.adapt(state, pod, nil, nil))
	}
	info, err := p.handle.SnapshotSharedLister().NodeInfos().Get(nodeName)
	if err != nil {
		return fwk.AsStatus(fmt.Errorf("find node %s in the snapshot: %w", nodeName, err))
	}
	in, concerned := p.input(state, frameworkext.NodeOf(state, info))
	if !concerned {
		return fwk.AsStatus(p.adapt(state, pod, nil, nil))
	}
	in.Preferred = p.hooks.preferred(p.handle, state, nodeName)
	allocation, refusal := device.Allocate(in, nil)
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
	if err := p.adapt(state, pod, &allocation, in.Ledger); err != nil {
		return fwk.NewStatus(fwk.Unschedulable, err.Error())
	}
	p.state.Reserve(nodeName, pod, allocation)
	return nil
}

// Unreserve takes back Reserve, and PreBind.
func (p *Plugin) Unreserve(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string) {
	defer recovery.Ignore(Name, recovery.Unreserve, pod)
	p.state.Unreserve(pod.UID)
	p.unlock(ctx, state, pod, node)
}
