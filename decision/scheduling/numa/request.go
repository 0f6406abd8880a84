package numa

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Request is what a pod asks of CPUs and NUMA zones. It is read-only.
type Request struct {
	// Bind is true for a pod that gets exclusive CPUs on every node: QoS class LSE or LSR, prod band, and a bind policy
	// that binds. Nodes may bind other pods too.
	Bind bool
	// Amounts requested, overhead and init containers included.
	Amounts Amounts
	// Required and Preferred bind policy. Required is empty when nothing is required; Preferred never is.
	Required, Preferred extension.CPUBindPolicy
	// Exclusive is what the pod would not like to share.
	Exclusive extension.CPUExclusivePolicy
	// Policy of NUMA alignment that the pod asks for; empty leaves it to the node.
	Policy extension.NUMATopologyPolicy
	// ZoneExclusive keeps pods on one zone and pods across zones apart.
	ZoneExclusive extension.NumaTopologyExclusive
}

// MilliCPU is the plain cpu requested.
func (r *Request) MilliCPU() int64 { return r.Amounts[corev1.ResourceCPU] }

// Aligned is true when the pod asks for CPUs or alignment by itself, whatever the node.
func (r *Request) Aligned() bool { return r.Bind || r.Policy != extension.NUMATopologyPolicyNone }

// MayBind reports cheaply whether RequestOf can give a Request that is Aligned.
func MayBind(pod *corev1.Pod) bool {
	if class := extension.PodQoSClass(pod); class == extension.QoSLSE || class == extension.QoSLSR {
		return true
	}
	return pod.Annotations[extension.AnnotationNUMATopologySpec] != ""
}

// RequestOf reads what a pod asks for. The verdict refuses pods that no node can take: annotations that cannot be read,
// and fractions of CPUs to be bound.
func RequestOf(pod *corev1.Pod, args *Args) (*Request, Verdict) {
	request := &Request{Amounts: requestsOf(pod), Preferred: args.DefaultCPUBindPolicy}
	if err := request.readAlignment(pod); err != nil {
		return nil, Verdict{Code: finding.CPUSpecInvalid, Detail: err.Error()}
	}
	class := extension.PodQoSClass(pod)
	if class != extension.QoSLSE && class != extension.QoSLSR || extension.PodPriorityClassWithDefault(pod) != extension.PriorityProd {
		return request, Verdict{}
	}
	if err := request.readBinding(pod); err != nil {
		return nil, Verdict{Code: finding.CPUSpecInvalid, Detail: err.Error()}
	}
	request.Bind = binds(request.policy()) && request.MilliCPU() > 0
	if request.Bind && request.MilliCPU()%1000 != 0 {
		return nil, Verdict{Code: finding.CPUsNotInteger}
	}
	return request, Verdict{}
}

// requestsOf adds up all requests, resizes in flight at their larger side.
func requestsOf(pod *corev1.Pod) Amounts {
	if len(pod.Spec.Containers) == 0 {
		return Amounts{}
	}
	return amountsOf(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{
		UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true,
	}))
}

// PlainMilliCPU is the cpu that a pod requests, found without reading anything else.
func PlainMilliCPU(pod *corev1.Pod) int64 { return podrequest.Of(pod).Requests.Plain.MilliCPU }

func (r *Request) readAlignment(pod *corev1.Pod) error {
	spec, err := extension.GetNUMATopologySpec(pod.Annotations)
	if err != nil || spec == nil {
		return err
	}
	if r.Policy, err = extension.ParseNUMATopologyPolicy(string(spec.NUMATopologyPolicy)); err != nil {
		return fmt.Errorf("annotation %q: %w", extension.AnnotationNUMATopologySpec, err)
	}
	switch spec.SingleNUMANodeExclusive {
	case "", extension.NumaTopologyExclusivePreferred, extension.NumaTopologyExclusiveRequired:
		r.ZoneExclusive = spec.SingleNUMANodeExclusive
		return nil
	}
	return fmt.Errorf("annotation %q: unknown singleNUMANodeExclusive %.40q: must be Preferred or Required", extension.AnnotationNUMATopologySpec, spec.SingleNUMANodeExclusive)
}

func (r *Request) readBinding(pod *corev1.Pod) error {
	spec, err := extension.GetResourceSpec(pod.Annotations)
	if err != nil || spec == nil {
		return err
	}
	for _, policy := range []extension.CPUBindPolicy{spec.RequiredCPUBindPolicy, spec.PreferredCPUBindPolicy} {
		if !known(policy) {
			return fmt.Errorf("annotation %q: unknown CPU bind policy %.40q: must be Default, FullPCPUs, SpreadByPCPUs or ConstrainedBurst", extension.AnnotationResourceSpec, policy)
		}
	}
	if policy := spec.RequiredCPUBindPolicy; policy != extension.CPUBindPolicyDefault {
		r.Required = policy
	}
	if policy := spec.PreferredCPUBindPolicy; policy != "" && policy != extension.CPUBindPolicyDefault {
		r.Preferred = policy
	}
	switch spec.PreferredCPUExclusivePolicy {
	case "", extension.CPUExclusivePolicyNone, extension.CPUExclusivePolicyPCPULevel, extension.CPUExclusivePolicyNUMANodeLevel:
		r.Exclusive = spec.PreferredCPUExclusivePolicy
		return nil
	}
	return fmt.Errorf("annotation %q: unknown CPU exclusive policy %.40q: must be None, PCPULevel or NUMANodeLevel", extension.AnnotationResourceSpec, spec.PreferredCPUExclusivePolicy)
}

// policy is the one that counts where the node has none: required before preferred.
func (r *Request) policy() extension.CPUBindPolicy {
	if r.Required != "" {
		return r.Required
	}
	return r.Preferred
}

// binds is true for policies under which a pod owns its CPUs. Under ConstrainedBurst it runs on the shared ones.
func binds(policy extension.CPUBindPolicy) bool {
	return policy == extension.CPUBindPolicyFullPCPUs || policy == extension.CPUBindPolicySpreadByPCPUs
}

func known(policy extension.CPUBindPolicy) bool {
	switch policy {
	case "", extension.CPUBindPolicyDefault, extension.CPUBindPolicyConstrainedBurst:
		return true
	}
	return binds(policy)
}
