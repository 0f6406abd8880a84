package networkqos

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Terway is the configuration that Terway gets for a node, in bytes per second. LS is its first level and BE its second; 0 is none.
type Terway struct {
	Hardware int64
	LS, BE   TerwayLevel
	Problems []string
}

// TerwayLevel is what a level is guaranteed and bounded to.
type TerwayLevel struct {
	SendLeast, SendMost, ReceiveLeast, ReceiveMost int64
}

// TerwayOf is the configuration that Terway gets; false where the policy is another one. Percentages are of the total. All figures of
// the strategy are in bits and are converted to bytes.
func TerwayOf(strategy *slov1alpha1.ResourceQOSStrategy, total Rate) (Terway, bool) {
	if PolicyOf(strategy) != slov1alpha1.NETQOSPolicyTerwayQos {
		return Terway{}, false
	}
	out := Terway{Hardware: total.Bytes()}
	if total <= 0 {
		out.Problems = append(out.Problems, "the bandwidth of the node is not known: percentages of it count as not set")
	}
	for _, level := range []struct {
		class extension.QoSClass
		into  *TerwayLevel
	}{{extension.QoSLS, &out.LS}, {extension.QoSBE, &out.BE}} {
		config := configOf(strategy, level.class)
		if !on(config) {
			continue
		}
		bounds := OfClass(config, total)
		out.Problems = append(out.Problems, bounds.Problems...)
		*level.into = TerwayLevel{
			SendLeast: bounds.Egress.Request.Bytes(), SendMost: bounds.Egress.Limit.Bytes(),
			ReceiveLeast: bounds.Ingress.Request.Bytes(), ReceiveMost: bounds.Ingress.Limit.Bytes(),
		}
	}
	return out, true
}

// TerwayPriority is the one of a pod: 0 for the system, 1 for services, 2 for best effort.
func TerwayPriority(class extension.QoSClass, kubernetes corev1.PodQOSClass) int {
	switch class {
	case extension.QoSSystem:
		return 0
	case extension.QoSLSE, extension.QoSLSR, extension.QoSLS:
		return 1
	case extension.QoSBE:
		return 2
	}
	switch kubernetes {
	case corev1.PodQOSGuaranteed, corev1.PodQOSBurstable:
		return 1
	case corev1.PodQOSBestEffort:
		return 2
	}
	return 0
}
