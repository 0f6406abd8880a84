package recommend

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/core/podresize"
)

// MostContainers bounds the container names learned about for one target.
const MostContainers = 32

// Learned is what a Recommendation's checkpoint keeps.
type Learned struct {
	// Containers by name.
	Containers map[string]*Container
	// Applied is when pods were resized.
	Applied map[types.UID]time.Time
}

// ReadCheckpoint reads the checkpoint of a Recommendation. What was learned about another target is left out; resizes count whatever the
// target is. The errors name what could not be read.
func ReadCheckpoint(r *analysisv1alpha1.Recommendation) (Learned, []error) {
	out := Learned{Containers: map[string]*Container{}, Applied: map[types.UID]time.Time{}}
	checkpoint := r.Status.Checkpoint
	if checkpoint == nil {
		return out, nil
	}
	for _, applied := range checkpoint.Applied {
		out.Applied[applied.PodUID] = applied.Time.Time
	}
	if checkpoint.ObservedGeneration != r.Generation {
		return out, nil
	}
	var errs []error
	for _, each := range checkpoint.Containers {
		container, err := Restore(each)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(out.Containers) < MostContainers {
			out.Containers[each.ContainerName] = container
		}
	}
	return out, errs
}

// Advise derives the recommendations of all containers that something is known of, of which a pod has so many.
func (l *Learned) Advise(o Options, containers int, at time.Time) map[string]Recommendation {
	out := map[string]Recommendation{}
	for name, container := range l.Containers {
		if container.Known() {
			out[name] = container.Recommend(o, containers, at, nil)
		}
	}
	return out
}

// PerPod is the number of containers of the pod that has most, at least one.
func PerPod(pods []*corev1.Pod) int {
	most := 1
	for _, pod := range pods {
		most = max(most, len(podresize.Containers(pod)))
	}
	return most
}

// Requests of a container in the resources that it requests by: milli-cores and bytes; nil for one that it does not request.
func Requests(c *corev1.Container) (cpu, memory *int64) {
	names := NamesOf(c)
	if quantity, ok := c.Resources.Requests[names.CPU]; ok {
		cpu = new(value(quantity, names.CPU))
	}
	if quantity, ok := c.Resources.Requests[names.Memory]; ok {
		memory = new(value(quantity, names.Memory))
	}
	return cpu, memory
}
