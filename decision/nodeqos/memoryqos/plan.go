package memoryqos

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Input is everything the memory of one node's pods depends on. Nothing in it is modified.
type Input struct {
	Strategy *slov1alpha1.ResourceQOSStrategy
	// Allocatable memory of the node in bytes, for containers without a limit.
	Allocatable int64
	// PageSize in bytes; 4096 where it is 0.
	PageSize int64
	Pods     []Pod
}

// Pod is what is known of one pod that runs.
type Pod struct {
	Namespace string
	Name      string
	UID       string
	// QoS is the pod's class, and KubeQOS the group of pods it lies in.
	QoS     extension.QoSClass
	KubeQOS corev1.PodQOSClass
	Amounts
	Containers []Container
	// Config is the pod's annotation; nil without one that can be read.
	Config *slov1alpha1.PodMemoryQOSConfig
	// Problem says why the annotation could not be read; empty when it could.
	Problem string
}

// Container of a pod.
type Container struct {
	Name string
	Amounts
}

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

// PlanOf computes the values of a node.
func PlanOf(in Input) Plan {
	if in.PageSize <= 0 {
		in.PageSize = defaultPageSize
	}
	sums := map[corev1.PodQOSClass]*sum{corev1.PodQOSGuaranteed: {}, corev1.PodQOSBurstable: {}, corev1.PodQOSBestEffort: {}}
	var out Plan
	for i := range in.Pods {
		values := in.pod(&in.Pods[i])
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
func (in Input) pod(pod *Pod) PodValues {
	settings, source := SettingsOf(in.Strategy, pod.QoS, pod.Config)
	out := PodValues{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Source: source, Problem: pod.Problem, Values: static(settings)}
	out.Values.protect(settings, pod.Amounts)
	out.Values.boundCache(settings, pod.Amounts, in.PageSize)
	var inside sum
	for _, container := range pod.Containers {
		values := static(settings)
		values.protect(settings, container.Amounts)
		values.boundCache(settings, container.Amounts, in.PageSize)
		values.throttle(settings, container.Amounts, in.Allocatable, in.PageSize)
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

// PodOf reads a pod: its memory is that of the tier it consumes in. Its containers are those that run as long as it does, sidecars
// first.
func PodOf(pod *corev1.Pod) Pod {
	requests := podrequest.Of(pod)
	tier := requests.Tier()
	out := Pod{
		Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID), QoS: requests.QoS, KubeQOS: extension.KubeQOSClass(pod),
		Amounts: Amounts{Request: requests.Requests.Of(tier).Memory, Limit: podrequest.LimitsOf(pod).Of(tier).Memory},
	}
	for i := range pod.Spec.InitContainers {
		if sidecar := &pod.Spec.InitContainers[i]; sidecar.RestartPolicy != nil && *sidecar.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			out.Containers = append(out.Containers, containerOf(sidecar, tier))
		}
	}
	for i := range pod.Spec.Containers {
		out.Containers = append(out.Containers, containerOf(&pod.Spec.Containers[i], tier))
	}
	config, err := slov1alpha1.PodMemoryQOS(pod.Annotations)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	out.Config = config
	return out
}

func containerOf(container *corev1.Container, tier podrequest.Tier) Container {
	resources := &container.Resources
	return Container{Name: container.Name, Amounts: Amounts{Request: memoryOf(resources.Requests, tier), Limit: memoryOf(resources.Limits, tier)}}
}

// memoryOf is the memory of a tier in a list, in bytes.
func memoryOf(list corev1.ResourceList, tier podrequest.Tier) int64 {
	name := corev1.ResourceMemory
	switch tier {
	case podrequest.Batch:
		name = extension.BatchMemory
	case podrequest.Mid:
		name = extension.MidMemory
	}
	quantity := list[name]
	return max(quantity.Value(), 0)
}
