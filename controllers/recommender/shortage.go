package recommender

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/core/podresize"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

// heedFailed is how long ago a pod that failed may have run out of memory. What is learned of it has halved twice by then.
const heedFailed = 3 * recommend.HalfLife

// shortage is a container that was killed because it ran out of so many bytes.
type shortage struct {
	container string
	at        time.Time
	bytes     float64
}

// learnShortages adds what containers ran out of to what is known, in the order in which they did. What is known already
// is not learned again, in whichever pass and by whichever manager.
func (w *workload) learnShortages(shortages []shortage) {
	slices.SortFunc(shortages, func(a, b shortage) int { return a.at.Compare(b.at) })
	for _, s := range shortages {
		if container := w.container(s.container); container != nil && container.AddOOM(s.at, s.bytes) {
			w.dirty = true
		}
	}
}

// shortagesOf looks for containers that ran out of memory after a time.
func shortagesOf(pods []*corev1.Pod, after time.Time) []shortage {
	var out []shortage
	for _, pod := range pods {
		statuses := slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses)
		for _, c := range podresize.Containers(pod) {
			for i := range statuses {
				if statuses[i].Name != c.Name {
					continue
				}
				for _, ended := range []*corev1.ContainerStateTerminated{statuses[i].LastTerminationState.Terminated, statuses[i].State.Terminated} {
					if ended != nil && ended.Reason == "OOMKilled" && ended.FinishedAt.After(after) {
						out = append(out, shortage{container: c.Name, at: ended.FinishedAt.Time, bytes: memoryOf(c, &statuses[i])})
					}
				}
			}
		}
	}
	return out
}

// memoryOf is how much memory a container had when it ran out of it: its limit, or else its request.
func memoryOf(c *corev1.Container, status *corev1.ContainerStatus) float64 {
	resources := c.Resources
	if status.Resources != nil {
		resources = *status.Resources
	}
	name := recommend.NamesOf(c).Memory
	for _, list := range []corev1.ResourceList{resources.Limits, resources.Requests, c.Resources.Limits, c.Resources.Requests} {
		if quantity, ok := list[name]; ok && quantity.Sign() > 0 {
			return float64(quantity.Value())
		}
	}
	return 0
}
