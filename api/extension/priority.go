package extension

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

const (
	// LabelPodPriority orders pods within their priority class: a decimal 64-bit integer.
	LabelPodPriority = DomainPrefix + "priority"
	// LabelPodPriorityClass overrides the class that spec.priority gives, for pods that were running before the
	// system was installed.
	LabelPodPriorityClass = DomainPrefix + "priority-class"
)

// PriorityClass is the band a pod's priority lies in; it decides which resources the pod consumes.
type PriorityClass string

const (
	// PriorityProd pods consume cpu and memory.
	PriorityProd PriorityClass = "koord-prod"
	// PriorityMid pods consume mid-cpu and mid-memory: predicted to stay unused for long.
	PriorityMid PriorityClass = "koord-mid"
	// PriorityBatch pods consume batch-cpu and batch-memory: unused right now.
	PriorityBatch PriorityClass = "koord-batch"
	// PriorityFree pods are guaranteed nothing.
	PriorityFree PriorityClass = "koord-free"
	// PriorityNone means that the priority lies in no band.
	PriorityNone PriorityClass = ""
)

// PriorityBand is the range of spec.priority that belongs to a class.
type PriorityBand struct {
	Class PriorityClass `json:"class"`
	// Min and Max are inclusive.
	Min int32 `json:"min"`
	Max int32 `json:"max"`
	// Default is the value of the PriorityClass object of the same name.
	Default int32 `json:"default"`
}

// PriorityBands returns the bands, highest first.
func PriorityBands() []PriorityBand {
	return []PriorityBand{
		{Class: PriorityProd, Min: 9000, Max: 9999, Default: 9500},
		{Class: PriorityMid, Min: 7000, Max: 7999, Default: 7500},
		{Class: PriorityBatch, Min: 5000, Max: 5999, Default: 5500},
		{Class: PriorityFree, Min: 3000, Max: 3999, Default: 3500},
	}
}

// Band returns the band of the class; ok is false for PriorityNone and unknown classes.
func (c PriorityClass) Band() (band PriorityBand, ok bool) {
	for _, band := range PriorityBands() {
		if band.Class == c {
			return band, true
		}
	}
	return PriorityBand{}, false
}

// ParsePriorityClass parses the name of a class. The empty string is PriorityNone.
func ParsePriorityClass(name string) (PriorityClass, error) {
	switch class := PriorityClass(name); class {
	case PriorityProd, PriorityMid, PriorityBatch, PriorityFree, PriorityNone:
		return class, nil
	}
	return PriorityNone, fmt.Errorf("unknown priority class %.40q: must be koord-prod, koord-mid, koord-batch or koord-free", name)
}

// PriorityClassOfValue returns the class a priority lies in, PriorityNone outside of all bands.
func PriorityClassOfValue(priority int32) PriorityClass {
	switch {
	case priority >= 9000 && priority <= 9999:
		return PriorityProd
	case priority >= 7000 && priority <= 7999:
		return PriorityMid
	case priority >= 5000 && priority <= 5999:
		return PriorityBatch
	case priority >= 3000 && priority <= 3999:
		return PriorityFree
	}
	return PriorityNone
}

// PodPriorityClass returns the class of a pod: from LabelPodPriorityClass, else from spec.priority, else, when the
// priority is not resolved yet, from spec.priorityClassName.
func PodPriorityClass(pod *corev1.Pod) PriorityClass {
	if pod == nil {
		return PriorityNone
	}
	if name, ok := pod.Labels[LabelPodPriorityClass]; ok {
		return priorityClassOrNone(name)
	}
	if pod.Spec.Priority != nil {
		return PriorityClassOfValue(*pod.Spec.Priority)
	}
	return priorityClassOrNone(pod.Spec.PriorityClassName)
}

// PodPriorityClassWithDefault is PodPriorityClass, or the class that goes with the pod's QoS class.
func PodPriorityClassWithDefault(pod *corev1.Pod) PriorityClass {
	if class := PodPriorityClass(pod); class != PriorityNone {
		return class
	}
	return PriorityClassOfQoS(PodQoSClassWithDefault(pod))
}

// PriorityClassOfQoS returns the class of pods that only state a QoS class: batch for BE, prod for the others.
func PriorityClassOfQoS(class QoSClass) PriorityClass {
	switch class {
	case QoSSystem, QoSLSE, QoSLSR, QoSLS:
		return PriorityProd
	case QoSBE:
		return PriorityBatch
	}
	return PriorityNone
}

// PodSubPriority returns the order of a pod within its class, 0 when the label is absent.
func PodSubPriority(labels map[string]string) (int64, error) {
	value, ok := labels[LabelPodPriority]
	if !ok || value == "" {
		return 0, nil
	}
	priority, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse label %q: %.40q is not a 64-bit integer", LabelPodPriority, value)
	}
	return priority, nil
}

// FormatSubPriority formats the value of LabelPodPriority.
func FormatSubPriority(priority int64) string {
	return strconv.FormatInt(priority, 10)
}

func priorityClassOrNone(name string) PriorityClass {
	class, err := ParsePriorityClass(name)
	if err != nil {
		return PriorityNone
	}
	return class
}
