package groupidentity

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cfs"
)

// Bounds of an identity.
const (
	Least = -1
	Most  = 2
)

// Capability is what the kernel of a node has.
type Capability struct {
	// BVT is cpu.bvt_warp_ns.
	BVT bool
	// Idle is cpu.idle.
	Idle bool
}

// Source says where an identity comes from.
type Source string

// Sources of an identity.
const (
	FromClass      Source = "class"
	FromAnnotation Source = "annotation"
	// FromReset is 0, because the class is switched off.
	FromReset Source = "disabled"
	// FromCoreScheduling is 0, because core scheduling ranks pods instead.
	FromCoreScheduling Source = "coreSched"
	// FromGroup is 0 for the group of all pods and that of guaranteed ones, which would pass it on to every pod.
	FromGroup Source = "group"
)

// Identity of one group of processes.
type Identity struct {
	// Value from -1 to 2.
	Value  int64  `json:"value"`
	Source Source `json:"source"`
	// Problem says what of the pod's annotation could not be taken; empty when all could.
	Problem string `json:"problem,omitempty"`
}

// Pod is what the identity of a pod depends on.
type Pod struct {
	// QoS is the class in the pod's label, and KubeQOS its class in Kubernetes, which counts where there is no label.
	QoS         extension.QoSClass
	KubeQOS     corev1.PodQOSClass
	Annotations map[string]string
}

// OfPod is the identity of a pod and its containers: that of its class, or of its annotation cpuQOS, as long as any class is
// switched on. It is the one function for a pod that starts, a rule that changes and a value that is checked again.
func OfPod(strategy *slov1alpha1.ResourceQOSStrategy, pod Pod) Identity {
	if out, off := switchedOff(strategy); off {
		return out
	}
	out := ofClass(classOf(strategy, pod.QoS, pod.KubeQOS))
	config, err := slov1alpha1.PodCPUQOS(pod.Annotations)
	switch {
	case err != nil:
		out.Problem = err.Error()
	case config == nil || config.GroupIdentity == nil:
	case *config.GroupIdentity < Least || *config.GroupIdentity > Most:
		out.Problem = fmt.Sprintf("annotation %q: groupIdentity %d is not between %d and %d", extension.AnnotationPodCPUQOS, *config.GroupIdentity, Least, Most)
	default:
		out.Value, out.Source = *config.GroupIdentity, FromAnnotation
	}
	return out
}

// OfGroup is the identity of the group of pods of a class in Kubernetes. Guaranteed stands for the group of all pods.
func OfGroup(strategy *slov1alpha1.ResourceQOSStrategy, group corev1.PodQOSClass) Identity {
	if out, off := switchedOff(strategy); off {
		return out
	}
	switch group {
	case corev1.PodQOSBurstable:
		return ofClass(strategy.LSClass)
	case corev1.PodQOSBestEffort:
		return ofClass(strategy.BEClass)
	}
	return Identity{Source: FromGroup}
}

// OfHostApplication is the identity of an host application outside Kubernetes.
func OfHostApplication(strategy *slov1alpha1.ResourceQOSStrategy, class extension.QoSClass) Identity {
	return OfPod(strategy, Pod{QoS: class})
}

// switchedOff is the identity while no class is switched on, or another policy ranks pods.
func switchedOff(strategy *slov1alpha1.ResourceQOSStrategy) (Identity, bool) {
	if !SwitchedOn(strategy, extension.QoSLSR) && !SwitchedOn(strategy, extension.QoSLS) && !SwitchedOn(strategy, extension.QoSBE) {
		return Identity{Source: FromReset}, true
	}
	if policies := strategy.Policies; policies != nil && policies.CPUPolicy != nil && *policies.CPUPolicy == slov1alpha1.CPUQOSPolicyCoreSched {
		return Identity{Source: FromCoreScheduling}, true
	}
	return Identity{}, false
}

// SwitchedOn says whether a class has identities switched on. There are none for SYSTEM pods.
func SwitchedOn(strategy *slov1alpha1.ResourceQOSStrategy, class extension.QoSClass) bool {
	return class != extension.QoSSystem && enabled(strategy.OfClass(class))
}

func enabled(class *slov1alpha1.ResourceQOS) bool {
	return class != nil && class.CPUQOS != nil && class.CPUQOS.Enable != nil && *class.CPUQOS.Enable
}

// classOf finds the settings of a pod. Guaranteed pods without a label are LSR where that is switched on, and else LS.
func classOf(strategy *slov1alpha1.ResourceQOSStrategy, class extension.QoSClass, group corev1.PodQOSClass) *slov1alpha1.ResourceQOS {
	if class != extension.QoSNone {
		return strategy.OfClass(class)
	}
	switch group {
	case corev1.PodQOSGuaranteed:
		if enabled(strategy.LSRClass) {
			return strategy.LSRClass
		}
		return strategy.LSClass
	case corev1.PodQOSBurstable:
		return strategy.LSClass
	case corev1.PodQOSBestEffort:
		return strategy.BEClass
	}
	return nil
}

func ofClass(class *slov1alpha1.ResourceQOS) Identity {
	if !enabled(class) || class.CPUQOS.GroupIdentity == nil {
		return Identity{Source: FromReset}
	}
	return Identity{Value: min(max(*class.CPUQOS.GroupIdentity, Least), Most), Source: FromClass}
}

// Values are what is written for one group of processes. Nil is not written.
type Values struct {
	// BVT is cpu.bvt_warp_ns.
	BVT *int64 `json:"bvt,omitempty"`
	// Idle is cpu.idle.
	Idle *int64 `json:"idle,omitempty"`
	// Shares is cpu.shares.
	Shares *int64 `json:"shares,omitempty"`
	// LeaveShares is true for idle groups, of which the kernel takes no shares.
	LeaveShares bool `json:"leaveShares,omitempty"`
	// Note says what stands in for what the kernel does not have; empty when it has it.
	Note string `json:"note,omitempty"`
}

// PodValues are the values of a pod by what the kernel has.
func (i Identity) PodValues(kernel Capability) Values {
	yields := i.Value < 0
	switch {
	case kernel.BVT:
		return Values{BVT: new(i.Value)}
	case kernel.Idle && yields:
		return Values{Idle: new(int64(1)), LeaveShares: true, Note: "the kernel has no group identity: idle pods yield to all others"}
	case kernel.Idle:
		return Values{Idle: new(int64(0)), Note: note(i.Value)}
	case yields:
		return Values{Shares: new(cfs.LeastShares), LeaveShares: true, Note: "the kernel has neither group identity nor idle groups: the least weight yields most"}
	}
	return Values{Note: note(i.Value)}
}

// GroupValues are the values of a group of pods. Groups are never idle: the kubelet writes their shares when it starts, and
// fails when the kernel refuses them.
func (i Identity) GroupValues(kernel Capability) Values {
	if kernel.BVT {
		return Values{BVT: new(i.Value)}
	}
	return Values{Note: "the kernel has no group identity: pods are ranked one by one"}
}

func note(value int64) string {
	if value > 0 {
		return "the kernel has no group identity: nothing stands in for going first but that others yield"
	}
	return ""
}
