package memoryqos

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Plan is the values of all groups, in the order of the hierarchy.
type Plan struct {
	// Groups of pods: that of all pods, then burstable and best effort ones. Guaranteed pods lie in the first directly.
	Groups []GroupValues `json:"groups"`
	// Pods by namespace and name.
	Pods []PodValues `json:"pods,omitempty"`
}

// GroupValues are the values of one group of pods.
type GroupValues struct {
	// Group is Guaranteed for the group of all pods, as Kubernetes' class of the pods that lie in it directly.
	Group  corev1.PodQOSClass `json:"group"`
	Values Values             `json:"values"`
}

// PodValues are the values of one pod and its containers.
type PodValues struct {
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	UID        string            `json:"uid,omitempty"`
	Source     Source            `json:"source"`
	Problem    string            `json:"problem,omitempty"`
	Values     Values            `json:"values"`
	Containers []ContainerValues `json:"containers,omitempty"`
}

// ContainerValues are the values of one container.
type ContainerValues struct {
	Name   string `json:"name"`
	Values Values `json:"values"`
}

// defaultPageSize in bytes.
const defaultPageSize = 4096

// PlanOf computes the values of a node. A nil trace records nothing.
func PlanOf(in Input, trace *Trace) Plan {
	trace.begin()
	if in.PageSize <= 0 {
		in.PageSize = defaultPageSize
	}
	sums := map[corev1.PodQOSClass]*sum{corev1.PodQOSGuaranteed: {}, corev1.PodQOSBurstable: {}, corev1.PodQOSBestEffort: {}}
	var out Plan
	for i := range in.Pods {
		values := in.pod(&in.Pods[i], trace)
		out.Pods = append(out.Pods, values)
		sums[corev1.PodQOSGuaranteed].add(values.Values)
		if group := in.Pods[i].KubeQOS; group == corev1.PodQOSBurstable || group == corev1.PodQOSBestEffort {
			sums[group].add(values.Values)
		}
	}
	slices.SortFunc(out.Pods, func(a, b PodValues) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	for _, group := range []corev1.PodQOSClass{corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort} {
		settings, _ := ClassSettings(in.Strategy, extension.QoSClassOfKubeQOS(group))
		out.Groups = append(out.Groups, GroupValues{Group: group, Values: Values{
			Min: sums[group].min, Low: sums[group].low,
			// OomKillGroup stays with pods and containers: the kernel would kill every pod of the group when the node is out of memory.
			UsePriorityOOM: settings.PriorityEnable, Priority: settings.Priority,
		}})
	}
	return out
}

// sum of what pods protect; nil while no pod says anything.
type sum struct{ min, low *int64 }

func (s *sum) add(values Values) {
	for _, part := range []struct {
		total **int64
		value *int64
	}{{&s.min, values.Min}, {&s.low, values.Low}} {
		if part.value == nil {
			continue
		}
		if *part.total == nil {
			*part.total = new(int64)
		}
		**part.total = waterfall.Add(**part.total, *part.value)
	}
}

// pod computes one pod. A pod protects at least what its containers protect together.
func (in Input) pod(pod *Pod, trace *Trace) PodValues {
	settings, source := SettingsOf(in.Strategy, pod.QoS, pod.Config)
	out := PodValues{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Source: source, Problem: pod.Problem, Values: static(settings)}
	out.Values.protect(settings, pod.Amounts)
	out.Values.boundCache(settings, pod.Amounts, in.PageSize)
	var inside sum
	for _, container := range pod.Containers {
		values := static(settings)
		values.protect(settings, container.Amounts)
		values.boundCache(settings, container.Amounts, in.PageSize)
		steps := trace.steps()
		values.throttle(settings, container.Amounts, in.Allocatable, in.PageSize, &steps)
		trace.throttled(pod, container.Name, &steps)
		inside.add(values)
		out.Containers = append(out.Containers, ContainerValues{Name: container.Name, Values: values})
	}
	out.Values.Min, out.Values.Low = larger(out.Values.Min, inside.min), larger(out.Values.Low, inside.low)
	return out
}

func larger(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}
