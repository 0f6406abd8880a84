package extension

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// LabelPodQoS holds the QoS class of a pod.
const LabelPodQoS = DomainPrefix + "qosClass"

// LabelUsageClass names the class of load that a pod serves. Pods of one class burst together, so the scheduler keeps them
// apart. Any valid label value is a class; the key is this project's own.
const LabelUsageClass = DomainPrefix + "usage-class"

// QoSClass says how a pod shares the node with others.
type QoSClass string

const (
	// QoSLSE is latency-sensitive with exclusive CPUs that are not shared.
	QoSLSE QoSClass = "LSE"
	// QoSLSR is latency-sensitive with reserved CPUs that best-effort pods may borrow.
	QoSLSR QoSClass = "LSR"
	// QoSLS is latency-sensitive on the shared pool of CPUs.
	QoSLS QoSClass = "LS"
	// QoSBE is best effort: it takes what the others leave.
	QoSBE QoSClass = "BE"
	// QoSSystem is for node agents.
	QoSSystem QoSClass = "SYSTEM"
	// QoSNone means that no class is given.
	QoSNone QoSClass = ""
)

// QoSClasses returns the classes, from the most to the least protected.
func QoSClasses() []QoSClass {
	return []QoSClass{QoSSystem, QoSLSE, QoSLSR, QoSLS, QoSBE}
}

// ParseQoSClass parses the name of a class. The empty string is QoSNone.
func ParseQoSClass(name string) (QoSClass, error) {
	switch class := QoSClass(name); class {
	case QoSLSE, QoSLSR, QoSLS, QoSBE, QoSSystem, QoSNone:
		return class, nil
	}
	return QoSNone, fmt.Errorf("unknown QoS class %.40q: must be LSE, LSR, LS, BE or SYSTEM", name)
}

// PodQoSClass returns the class in the pod's label, QoSNone when it is absent or unknown.
func PodQoSClass(pod *corev1.Pod) QoSClass {
	if pod == nil {
		return QoSNone
	}
	return LabelsQoSClass(pod.Labels)
}

// LabelsQoSClass returns the class in a set of labels, QoSNone when it is absent or unknown.
func LabelsQoSClass(labels map[string]string) QoSClass {
	class, err := ParseQoSClass(labels[LabelPodQoS])
	if err != nil {
		return QoSNone
	}
	return class
}

// PodQoSClassWithDefault is PodQoSClass, or the class that corresponds to the pod's Kubernetes QoS.
func PodQoSClassWithDefault(pod *corev1.Pod) QoSClass {
	if pod == nil {
		return QoSNone
	}
	if class := PodQoSClass(pod); class != QoSNone {
		return class
	}
	return QoSClassOfKubeQOS(KubeQOSClass(pod))
}

// QoSClassOfKubeQOS maps Guaranteed to LSR, Burstable to LS and BestEffort to BE.
func QoSClassOfKubeQOS(class corev1.PodQOSClass) QoSClass {
	switch class {
	case corev1.PodQOSGuaranteed:
		return QoSLSR
	case corev1.PodQOSBurstable:
		return QoSLS
	case corev1.PodQOSBestEffort:
		return QoSBE
	}
	return QoSNone
}
