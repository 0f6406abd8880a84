package device

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// ParseRequest reads what a pod asks of devices from its requests and annotations. It returns nil for a pod that asks for
// none, and a Refusal for one that no node can serve. Templates are those in force, nil when there are none.
func ParseRequest(pod *corev1.Pod, policy *Policy, templates Templates) (*Request, *Refusal) {
	request, err := parseRequest(pod)
	if err != nil || request == nil {
		return nil, invalid(err)
	}
	if demand := request.demand(gpu); demand != nil && demand.Shared && policy.templateMatched(&demand.Each) {
		request.byTemplate, request.templates = true, templates.matching(&demand.Each)
		if len(request.templates) == 0 {
			return nil, &refusals.noTemplate
		}
	}
	return request, nil
}

func parseRequest(pod *corev1.Pod) (*Request, error) {
	if !Concerns(pod) {
		return nil, nil
	}
	request := &Request{isolation: pod.Labels[extension.LabelGPUIsolationProvider]}
	for k, list := range asked(pod) {
		if list == nil {
			continue
		}
		demand, err := normalize(kind(k), list)
		if err != nil {
			return nil, err
		}
		request.Demands = append(request.Demands, demand)
	}
	if len(request.Demands) == 0 {
		return nil, nil
	}
	hints, err := extension.GetDeviceAllocateHints(pod.Annotations)
	if err != nil {
		return nil, err
	}
	for i := range request.Demands {
		if err := request.Demands[i].applyHint(hints[request.Demands[i].Type]); err != nil {
			return nil, err
		}
	}
	if err := request.readJoint(pod, hints); err != nil {
		return nil, err
	}
	return request, request.readPartition(pod)
}

// demand of a type, nil when there is none.
func (r *Request) demand(k kind) *Demand {
	for i := range r.Demands {
		if r.Demands[i].kind == k {
			return &r.Demands[i]
		}
	}
	return nil
}

// applyHint narrows a demand as the pod's hint says. Strategies are for types other than GPUs, and for requests that do
// not name several whole devices already.
func (d *Demand) applyHint(hint *extension.DeviceHint) error {
	if hint == nil {
		return nil
	}
	var err error
	if d.selector, err = selectorOf(hint.Selector); err != nil {
		return invalidf("Selector of DeviceHint, deviceType: %s, err: %v", d.Type, err)
	}
	if d.vfSelector, err = selectorOf(hint.VFSelector); err != nil {
		return invalidf("VFSelector of DeviceHint, deviceType: %s, err: %v", d.Type, err)
	}
	var known bool
	if d.scope, known = levelOf(hint.RequiredTopologyScope); !known {
		return invalidf("RequiredTopologyScope of DeviceHint, deviceType: %s, scope: %q", d.Type, hint.RequiredTopologyScope)
	}
	if d.exclusive, known = exclusivityOf(hint.ExclusivePolicy); !known {
		return invalidf("ExclusivePolicy of DeviceHint, deviceType: %s, policy: %q", d.Type, hint.ExclusivePolicy)
	}
	return d.applyStrategy(hint.AllocateStrategy)
}

func (d *Demand) applyStrategy(strategy extension.DeviceAllocateStrategy) error {
	if d.kind == gpu || d.Count > 1 {
		return nil
	}
	switch strategy {
	case "":
	case extension.DeviceAllocateStrategyApplyForAll:
		d.All = true
	case extension.DeviceAllocateStrategyRequestsAsCount:
		d.Count = int(d.Each[d.kind.first()])
		d.Each[d.kind.first()] = 1
		if d.exclusive == ownDevice {
			d.Each[d.kind.first()] = 100
		}
		d.Shared = d.Each[d.kind.first()] < 100
	default:
		return invalidf("AllocateStrategy of DeviceHint, deviceType: %s, strategy: %q", d.Type, strategy)
	}
	return nil
}

func selectorOf(selector *metav1.LabelSelector) (labels.Selector, error) {
	if selector == nil {
		return nil, nil
	}
	return metav1.LabelSelectorAsSelector(selector)
}

// readJoint keeps, of the types to allocate jointly, those that the pod requests a number of.
func (r *Request) readJoint(pod *corev1.Pod, hints extension.DeviceAllocateHints) error {
	joint, err := extension.GetDeviceJointAllocate(pod.Annotations)
	if err != nil || joint == nil {
		return err
	}
	switch joint.RequiredScope {
	case "":
	case extension.DeviceJointAllocateScopeSamePCIe:
		r.samePCIe = true
	default:
		return invalidf("RequiredScope of DeviceJointAllocate: %q", joint.RequiredScope)
	}
	for _, name := range joint.DeviceTypes {
		k, known := kindOf(name)
		if known && r.demand(k) != nil && !slices.Contains(r.joint, k) && !appliesForAll(hints, name) {
			r.joint = append(r.joint, k)
		}
	}
	if len(r.joint) < 2 {
		r.joint, r.samePCIe = nil, false
	}
	return nil
}

func appliesForAll(hints extension.DeviceAllocateHints, name schedulingv1alpha1.DeviceType) bool {
	hint := hints[name]
	return hint != nil && hint.AllocateStrategy == extension.DeviceAllocateStrategyApplyForAll
}

func (r *Request) readPartition(pod *corev1.Pod) error {
	spec, err := extension.GetGPUPartitionSpec(pod.Annotations)
	if err != nil || spec == nil {
		return err
	}
	r.partition.required = true
	switch spec.AllocatePolicy {
	case extension.GPUPartitionAllocatePolicyRestricted:
		r.partition.best = true
	case extension.GPUPartitionAllocatePolicyBestEffort:
	default:
		return invalidf("AllocatePolicy of GPUPartitionSpec: %q", spec.AllocatePolicy)
	}
	if spec.RingBusBandwidth != nil {
		r.partition.bandwidth = bounded(*spec.RingBusBandwidth)
	}
	return nil
}
