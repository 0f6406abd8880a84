package jobinsight

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// report of a node agent about a pod.
type report struct {
	at            time.Time
	cores, memory float64
}

// reportsOf are the reports about pods by their nodes. One from another node is of an older pod of the same name.
func reportsOf(metrics []slov1alpha1.NodeMetric, nodes map[types.NamespacedName]string) map[types.NamespacedName]report {
	out := map[types.NamespacedName]report{}
	for i := range metrics {
		status := &metrics[i].Status
		if status.UpdateTime == nil {
			continue
		}
		for _, pod := range status.PodsMetric {
			if pod == nil {
				continue
			}
			at := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
			cpu, measured := pod.PodUsage.ResourceList[corev1.ResourceCPU]
			if node, followed := nodes[at]; !followed || node != metrics[i].Name || !measured {
				continue
			}
			memory := pod.PodUsage.ResourceList[corev1.ResourceMemory]
			out[at] = report{at: status.UpdateTime.Time, cores: cpu.AsApproximateFloat64(), memory: memory.AsApproximateFloat64()}
		}
	}
	return out
}

// usage of a pod as far as it was followed.
type usage struct {
	first, last time.Time
	samples     int
	// peak of the memory in bytes, and the sum of CPU samples in cores.
	peak, cores float64
}

// add a report once. One from before the pod started is of an older pod of the same name.
func (u *usage) add(r report, start time.Time) {
	if !r.at.After(u.last) || start.IsZero() || r.at.Before(start) {
		return
	}
	if u.samples == 0 {
		u.first = r.at
	}
	u.last = r.at
	u.samples++
	u.peak = max(u.peak, r.memory)
	u.cores += r.cores
}

// of a run: its peak memory and mean CPU; 0 where it was not followed from about its start, as after a restart of koord-manager.
func (u *usage) of(start time.Time, duration time.Duration) (memory, cores float64) {
	if u.samples == 0 || u.first.Sub(start) > max(seenFrom, duration/10) {
		return 0, 0
	}
	return u.peak, u.cores / float64(u.samples)
}

// memoryLimit of a pod is what its containers may use together; 0 if one of them has no limit.
func memoryLimit(pod *corev1.Pod) float64 {
	sum := 0.0
	for i := range pod.Spec.Containers {
		limits := pod.Spec.Containers[i].Resources.Limits
		limit, limited := limits[corev1.ResourceMemory]
		if !limited {
			if limit, limited = limits[extension.BatchMemory]; !limited {
				return 0
			}
		}
		sum += limit.AsApproximateFloat64()
	}
	return sum
}
