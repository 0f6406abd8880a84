package nodenumaresource

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/recovery"
)

// Reserve allocates CPUs and zones, and asks for the annotations that tell the node agent.
func (p *Plugin) Reserve(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, nodeName string) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Reserve, pod, &status)
	c := cycleOf(state)
	if c == nil {
		return nil
	}
	info, err := p.handle.SnapshotSharedLister().NodeInfos().Get(nodeName)
	if err != nil {
		return fwk.AsStatus(fmt.Errorf("find node %s in the snapshot: %w", nodeName, err))
	}
	if info = frameworkext.NodeOf(state, info); !p.concerns(c, info) {
		return nil
	}
	in, _, status := p.evaluate(ctx, state, c, pod, info, nil)
	if !status.IsSuccess() {
		return status
	}
	hint, _ := Affinity(state, nodeName)
	allocation, verdict := numa.Allocate(in, hint, nil)
	if !verdict.Passed() {
		return statusOf(verdict)
	}
	if allocation.IsEmpty() {
		return nil
	}
	if err := annotate(state, pod, allocation); err != nil {
		return fwk.AsStatus(err)
	}
	p.state.Reserve(nodeName, pod, allocation)
	return nil
}

// Unreserve takes back Reserve.
func (p *Plugin) Unreserve(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ string) {
	defer recovery.Ignore(Name, recovery.Unreserve, pod)
	p.state.Unreserve(pod.UID)
}

// annotate asks for the allocation to be written, and for the bind policy when the pod does not name it itself.
func annotate(state fwk.CycleState, pod *corev1.Pod, allocation numa.Allocation) error {
	status, err := json.Marshal(allocation.Status())
	if err != nil {
		return fmt.Errorf("encode annotation %q: %w", extension.AnnotationResourceStatus, err)
	}
	defaultprebind.Annotate(state, extension.AnnotationResourceStatus, string(status))
	if allocation.CPUs.IsEmpty() {
		return nil
	}
	spec, err := extension.GetResourceSpec(pod.Annotations)
	if err != nil || spec == nil {
		spec = &extension.ResourceSpec{} // a pod whose annotation counted would have been refused
	}
	if names(spec.RequiredCPUBindPolicy) || names(spec.PreferredCPUBindPolicy) {
		return nil
	}
	spec.PreferredCPUBindPolicy = allocation.Policy
	encoded, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("encode annotation %q: %w", extension.AnnotationResourceSpec, err)
	}
	defaultprebind.Annotate(state, extension.AnnotationResourceSpec, string(encoded))
	return nil
}

// names is true for a policy that is said, and is not the default.
func names(policy extension.CPUBindPolicy) bool {
	return policy != "" && policy != extension.CPUBindPolicyDefault
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
