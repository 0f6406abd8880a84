package cpulimit

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podresize"
)

// Change is what to do to a pod.
type Change struct {
	// Containers get new limits.
	Containers []podresize.Container
	// Lowered is to be written to the pod before them; nil to be removed after them.
	Lowered *extension.LoweredCPULimits
}

// InForce is what was taken from the limits of a pod; nil when nothing was, when it cannot be read, and when somebody else has changed a
// limit since then.
func InForce(pod *corev1.Pod) *extension.LoweredCPULimits {
	lowered, err := extension.GetLoweredCPULimits(pod.Annotations)
	if err != nil || lowered == nil || len(lowered.Containers) == 0 {
		return nil
	}
	found := 0
	for _, c := range podresize.Containers(pod) {
		one, named := lowered.Containers[c.Name]
		if !named {
			continue
		}
		limit := c.Resources.Limits[corev1.ResourceCPU]
		if limit.Cmp(one.After) != 0 || one.Before.Cmp(one.After) < 0 {
			return nil
		}
		found++
	}
	if found != len(lowered.Containers) {
		return nil
	}
	return lowered
}

// Lower the sum of the limits of a pod, which is predicted to use so much, to a number of milli-cores within its Range. Each container
// loses the same share of what it has above its requests.
func Lower(pod *corev1.Pod, to, usage int64, now time.Time) Change {
	r := Of(pod)
	to = min(max(to, r.Least), r.Limit)
	out := Change{Lowered: &extension.LoweredCPULimits{
		Time: metav1.NewTime(now.UTC().Truncate(time.Second)), Usage: *resource.NewMilliQuantity(usage, resource.DecimalSI), Containers: map[string]extension.LoweredCPULimit{},
	}}
	if before := InForce(pod); before != nil {
		out.Lowered.Time, out.Lowered.Usage = before.Time, before.Usage
		for name, one := range before.Containers {
			out.Lowered.Containers[name] = one
		}
	}
	room, left := r.Limit-r.Least, to-r.Least
	sidecars := podresize.Sidecars(pod)
	for i, c := range podresize.Containers(pod) {
		request, limit := c.Resources.Requests[corev1.ResourceCPU], c.Resources.Limits[corev1.ResourceCPU]
		floor := least(request.MilliValue(), limit.MilliValue())
		own := limit.MilliValue() - floor
		if own <= 0 {
			continue
		}
		kept := share(own, left, room)
		room, left = room-own, left-kept
		after := *resource.NewMilliQuantity(floor+kept, resource.DecimalSI)
		if after.Cmp(limit) == 0 {
			continue
		}
		one, again := out.Lowered.Containers[c.Name]
		if !again {
			one.Before = limit
		}
		one.After = after
		out.Lowered.Containers[c.Name] = one
		out.Containers = append(out.Containers, limited(c.Name, i < sidecars, after))
	}
	return out
}

// share is own x left / room, which is at most own. What the division leaves goes to the containers behind.
func share(own, left, room int64) int64 {
	switch {
	case left >= room:
		return own
	case own == room:
		return left
	}
	return int64(float64(own) * (float64(left) / float64(room)))
}

// Restore the limits of a pod. Those that somebody else has changed stay as they are.
func Restore(pod *corev1.Pod) Change {
	var out Change
	lowered := InForce(pod)
	if lowered == nil {
		return out
	}
	sidecars := podresize.Sidecars(pod)
	for i, c := range podresize.Containers(pod) {
		if one, named := lowered.Containers[c.Name]; named {
			out.Containers = append(out.Containers, limited(c.Name, i < sidecars, one.Before))
		}
	}
	return out
}

// Apply returns the pod as it is after a change.
func (c Change) Apply(pod *corev1.Pod) (*corev1.Pod, error) {
	out := pod.DeepCopy()
	if err := extension.SetLoweredCPULimits(out, c.Lowered); err != nil {
		return nil, err
	}
	for _, changed := range c.Containers {
		for _, container := range podresize.Containers(out) {
			if container.Name == changed.Name {
				container.Resources.Limits[corev1.ResourceCPU] = changed.Limits[corev1.ResourceCPU]
			}
		}
	}
	return out, nil
}

func limited(name string, sidecar bool, limit resource.Quantity) podresize.Container {
	return podresize.Container{Name: name, Sidecar: sidecar, Limits: corev1.ResourceList{corev1.ResourceCPU: limit}}
}
