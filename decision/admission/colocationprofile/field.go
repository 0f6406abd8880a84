package colocationprofile

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// Area is a part of a pod that steps write.
type Area string

// Areas. Labels and annotations have keys; the others are single values.
const (
	Labels            Area = "metadata.labels"
	Annotations       Area = "metadata.annotations"
	SchedulerName     Area = "spec.schedulerName"
	PriorityClassName Area = "spec.priorityClassName"
	Priority          Area = "spec.priority"
	PreemptionPolicy  Area = "spec.preemptionPolicy"
)

// Field is one value of a pod, as text.
type Field struct {
	Area Area
	// Key within the labels or annotations; empty otherwise.
	Key string
}

// String is the path of the field.
func (f Field) String() string {
	if f.Key == "" {
		return string(f.Area)
	}
	return fmt.Sprintf("%s[%s]", f.Area, f.Key)
}

// get returns the value of the field, and false when the pod does not have it.
func (f Field) get(pod *corev1.Pod) (string, bool) {
	switch f.Area {
	case Labels:
		value, ok := pod.Labels[f.Key]
		return value, ok
	case Annotations:
		value, ok := pod.Annotations[f.Key]
		return value, ok
	case SchedulerName:
		return pod.Spec.SchedulerName, pod.Spec.SchedulerName != ""
	case PriorityClassName:
		return pod.Spec.PriorityClassName, pod.Spec.PriorityClassName != ""
	case Priority:
		if pod.Spec.Priority == nil {
			return "", false
		}
		return strconv.FormatInt(int64(*pod.Spec.Priority), 10), true
	case PreemptionPolicy:
		if pod.Spec.PreemptionPolicy == nil {
			return "", false
		}
		return string(*pod.Spec.PreemptionPolicy), true
	}
	return "", false
}

// set writes the field. Only Priority can fail: its value must be a 32-bit integer.
func (f Field) set(pod *corev1.Pod, value string) error {
	switch f.Area {
	case Labels:
		pod.Labels = with(pod.Labels, f.Key, value)
	case Annotations:
		pod.Annotations = with(pod.Annotations, f.Key, value)
	case SchedulerName:
		pod.Spec.SchedulerName = value
	case PriorityClassName:
		pod.Spec.PriorityClassName = value
	case Priority:
		parsed, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return fmt.Errorf("parse priority %q: %w", value, err)
		}
		pod.Spec.Priority = new(int32(parsed))
	case PreemptionPolicy:
		pod.Spec.PreemptionPolicy = new(corev1.PreemptionPolicy(value))
	}
	return nil
}

// remove deletes a label or an annotation.
func (f Field) remove(pod *corev1.Pod) {
	switch f.Area {
	case Labels:
		delete(pod.Labels, f.Key)
	case Annotations:
		delete(pod.Annotations, f.Key)
	}
}

func with(values map[string]string, key, value string) map[string]string {
	if values == nil {
		values = map[string]string{}
	}
	values[key] = value
	return values
}
