package nodenumaresource

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/kubectl"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/reason"
)

// Advise proposes to relax what the pod requires, to ask for as much as the node can give, or to move a pod that holds
// what is missing.
func (p *Plugin) Advise(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, _ []string) []reason.Change {
	c := cycleOf(state)
	if c == nil {
		return p.adviseWhole(pod, info)
	}
	if !p.concerns(c, info) {
		return nil
	}
	in, verdict, _ := p.evaluate(ctx, state, c, pod, info, &numa.Trace{})
	var changes []reason.Change
	switch verdict.Code {
	case "":
		return nil
	case finding.CPUBindPolicyConflict, finding.CPUsNotWholeCores, finding.CPUBindPolicyUnsatisfied:
		changes = append(changes, relaxBinding(pod, info)...)
	case finding.NUMAPolicyMismatch, finding.NUMAUnaligned, finding.NUMAResourceInsufficient, finding.NUMAZonesInsufficient, finding.NUMAZonesMissing:
		changes = append(changes, relaxAlignment(pod, info)...)
	case finding.CPUsNotInteger:
		return p.adviseWhole(pod, info)
	}
	changes = append(changes, reduce(in, pod, info)...)
	return append(changes, evict(in, verdict, info)...)
}

// adviseWhole proposes the next whole number of CPUs below what the pod asks for.
func (p *Plugin) adviseWhole(pod *corev1.Pod, info fwk.NodeInfo) []reason.Change {
	cpu := numa.PlainMilliCPU(pod)
	if cpu%1000 == 0 || cpu < 1000 {
		return nil
	}
	return reduction(pod, info, cpu, cpu/1000*1000)
}

func relaxBinding(pod *corev1.Pod, info fwk.NodeInfo) []reason.Change {
	spec, err := extension.GetResourceSpec(pod.Annotations)
	if err != nil || spec == nil || spec.RequiredCPUBindPolicy == "" {
		return nil
	}
	edited := pod.DeepCopy()
	relaxed := *spec
	relaxed.RequiredCPUBindPolicy, relaxed.PreferredCPUBindPolicy = "", spec.RequiredCPUBindPolicy
	if err := extension.SetResourceSpec(edited, &relaxed); err != nil {
		return nil
	}
	return []reason.Change{{Cost: reason.CostRelax, Pod: edited, Fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixPod, Kind: "relaxBindPolicy", Node: info.Node().Name,
		Description: fmt.Sprintf("prefer CPU bind policy %s instead of requiring it", spec.RequiredCPUBindPolicy),
		Steps: []diagnosticsv1alpha1.FixStep{kubectl.Annotate(kubectl.Pod(pod.Namespace, pod.Name), map[string]*string{
			extension.AnnotationResourceSpec: kubectl.Value(edited.Annotations[extension.AnnotationResourceSpec]),
		})},
	}}}
}

func relaxAlignment(pod *corev1.Pod, info fwk.NodeInfo) []reason.Change {
	spec, err := extension.GetNUMATopologySpec(pod.Annotations)
	if err != nil || spec == nil || spec.NUMATopologyPolicy == extension.NUMATopologyPolicyNone {
		return nil
	}
	edited := pod.DeepCopy()
	delete(edited.Annotations, extension.AnnotationNUMATopologySpec)
	return []reason.Change{{Cost: reason.CostRelax, Pod: edited, Fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixPod, Kind: "relaxNUMAPolicy", Node: info.Node().Name,
		Description: fmt.Sprintf("remove the NUMA topology policy %s", spec.NUMATopologyPolicy),
		Steps: []diagnosticsv1alpha1.FixStep{kubectl.Annotate(kubectl.Pod(pod.Namespace, pod.Name), map[string]*string{
			extension.AnnotationNUMATopologySpec: kubectl.Remove,
		})},
	}}}
}

// reduce proposes the most CPUs with which the node would pass.
func reduce(in numa.Input, pod *corev1.Pod, info fwk.NodeInfo) []reason.Change {
	asked := in.Request.MilliCPU()
	if possible := numa.Reduced(in); possible > 0 && possible < asked {
		return reduction(pod, info, asked, possible)
	}
	return nil
}

// reduction scales the cpu of the container that asks for the most down by what is too much.
func reduction(pod *corev1.Pod, info fwk.NodeInfo, asked, possible int64) []reason.Change {
	edited := pod.DeepCopy()
	largest := largestContainer(edited)
	if largest < 0 {
		return nil
	}
	resources := &edited.Spec.Containers[largest].Resources
	before := resources.Requests.Cpu().MilliValue()
	after := before - (asked - possible)
	if after <= 0 {
		return nil
	}
	limit, limited := resources.Limits[corev1.ResourceCPU]
	resources.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(after, resource.DecimalSI)
	if limited && limit.MilliValue() == before {
		resources.Limits[corev1.ResourceCPU] = *resource.NewMilliQuantity(after, resource.DecimalSI)
	}
	return []reason.Change{{Cost: reason.CostOfReduction(float64(asked-possible) / float64(asked)), Pod: edited, Fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixPod, Kind: "reduceRequest", Node: info.Node().Name,
		Description: fmt.Sprintf("reduce the cpu request of container %s from %s to %s", edited.Spec.Containers[largest].Name, cpuText(before), cpuText(after)),
	}}}
}

// largestContainer is the container that requests most cpu, the first among equals; -1 when there is none.
func largestContainer(pod *corev1.Pod) int {
	largest := -1
	for i := range pod.Spec.Containers {
		if largest < 0 || pod.Spec.Containers[i].Resources.Requests.Cpu().Cmp(*pod.Spec.Containers[largest].Resources.Requests.Cpu()) > 0 {
			largest = i
		}
	}
	return largest
}

// evict proposes, for refusals that pods cause, each single holder without which the node would pass.
func evict(in numa.Input, verdict numa.Verdict, info fwk.NodeInfo) []reason.Change {
	if verdict.Unresolvable() {
		return nil
	}
	var changes []reason.Change
	for _, i := range numa.Blockers(in) {
		holder := in.Ledger.Holders[i]
		for _, podInfo := range info.GetPods() {
			victim := podInfo.GetPod()
			if victim.Namespace != holder.Namespace || victim.Name != holder.Name {
				continue
			}
			changes = append(changes, reason.Change{Cost: reason.CostEvict, Evict: []*corev1.Pod{victim}, Fix: diagnosticsv1alpha1.Fix{
				Target: diagnosticsv1alpha1.FixCluster, Kind: "evictPod", Node: info.Node().Name,
				Description: fmt.Sprintf("evict %s, which holds CPUs or NUMA zones that the pod needs", reason.Called(victim)),
				Steps:       []diagnosticsv1alpha1.FixStep{reason.Eviction(victim)},
			}})
		}
	}
	return changes
}
