package podcache

import (
	"slices"
	"sync"
	"weak"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// firstSweep is how many workloads are known before those whose pods are gone are forgotten for the first time.
const firstSweep = 1024

// pointer to a cached pod that does not keep it.
type pointer = weak.Pointer[corev1.Pod]

// sharing knows one cached pod of each controller, whose parts its other pods share. It does not keep pods alive: when the pod that is
// known is gone, the next one takes its place, and the others keep what they share with each other.
type sharing struct {
	mu    sync.Mutex
	known map[types.UID]pointer
	// sweepAt is the number of controllers at which those without a pod are forgotten.
	sweepAt int
}

// NewTransform returns the transformation for one informer of pods. Managed fields are dropped from every other object that it gets.
// Conditions that are true for every pod that runs are dropped unless keepNormal is set. It may be called concurrently.
func NewTransform(keepNormal bool) cache.TransformFunc {
	s := &sharing{known: map[types.UID]pointer{}, sweepAt: firstSweep}
	return func(object any) (any, error) {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			if accessor, err := meta.Accessor(object); err == nil {
				accessor.SetManagedFields(nil)
			}
			return object, nil
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		trim(pod, keepNormal)
		s.join(pod)
		return pod, nil
	}
}

// join makes a pod share with the one that is known of its controller. It becomes known itself only when it is not written to any more,
// since others read it from then on.
func (s *sharing) join(pod *corev1.Pod) {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil {
		shareResources(pod)
		return
	}
	uid := controller.UID
	known := s.known[uid].Value()
	if known != nil {
		share(pod, known)
	}
	shareResources(pod)
	if known != nil {
		same(&pod.Status.InitContainerStatuses, known.Status.InitContainerStatuses)
		same(&pod.Status.ContainerStatuses, known.Status.ContainerStatuses)
	}
	if known == nil || known.UID == pod.UID {
		s.known[uid] = weak.Make(pod)
		s.sweep()
	}
}

// sweep forgets controllers without a known pod, each time that their number has doubled since.
func (s *sharing) sweep() {
	if len(s.known) < s.sweepAt {
		return
	}
	for uid, known := range s.known {
		if known.Value() == nil {
			delete(s.known, uid)
		}
	}
	s.sweepAt = max(firstSweep, 2*len(s.known))
}

// share lets a pod use the parts of another one that are equal to its own.
func share(pod, with *corev1.Pod) {
	sameText(&pod.Namespace, with.Namespace)
	sameText(&pod.GenerateName, with.GenerateName)
	same(&pod.Labels, with.Labels)
	same(&pod.Annotations, with.Annotations)
	same(&pod.OwnerReferences, with.OwnerReferences)
	spec, other := &pod.Spec, &with.Spec
	same(&spec.Volumes, other.Volumes)
	same(&spec.InitContainers, other.InitContainers)
	same(&spec.Containers, other.Containers)
	same(&spec.Tolerations, other.Tolerations)
	same(&spec.Affinity, other.Affinity)
	same(&spec.NodeSelector, other.NodeSelector)
	same(&spec.TopologySpreadConstraints, other.TopologySpreadConstraints)
	same(&spec.Overhead, other.Overhead)
	same(&spec.Resources, other.Resources)
	sameText(&spec.ServiceAccountName, other.ServiceAccountName)
	sameText(&spec.SchedulerName, other.SchedulerName)
	sameText(&spec.PriorityClassName, other.PriorityClassName)
	sameText(&spec.RestartPolicy, other.RestartPolicy)
	sameText(&spec.DNSPolicy, other.DNSPolicy)
	sameText(&pod.Status.Phase, with.Status.Phase)
	sameText(&pod.Status.QOSClass, with.Status.QOSClass)
	same(&spec.Priority, other.Priority)
	same(&spec.PreemptionPolicy, other.PreemptionPolicy)
	same(&spec.TerminationGracePeriodSeconds, other.TerminationGracePeriodSeconds)
	same(&spec.ActiveDeadlineSeconds, other.ActiveDeadlineSeconds)
	for i := range min(len(pod.Status.Conditions), len(with.Status.Conditions)) {
		condition, other := &pod.Status.Conditions[i], &with.Status.Conditions[i]
		sameText(&condition.Type, other.Type)
		sameText(&condition.Status, other.Status)
		sameText(&condition.Reason, other.Reason)
	}
}

// shareResources lets the resources in force be those of the specification, which they are except during a resize. The statuses that it is given
// may be those of another pod already.
func shareResources(pod *corev1.Pod) {
	pod.Status.ContainerStatuses = slices.Clone(pod.Status.ContainerStatuses)
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if i >= len(pod.Spec.Containers) || pod.Spec.Containers[i].Name != status.Name {
			continue
		}
		specified := &pod.Spec.Containers[i].Resources
		status.Name = pod.Spec.Containers[i].Name
		same(&status.AllocatedResources, specified.Requests)
		if status.Resources != nil {
			inForce := *status.Resources
			same(&inForce.Requests, specified.Requests)
			same(&inForce.Limits, specified.Limits)
			status.Resources = &inForce
		}
	}
}

// same replaces a value by another one that is equal, so that the memory of one of them is freed.
func same[T any](value *T, with T) {
	if equality.Semantic.DeepEqual(*value, with) {
		*value = with
	}
}

// sameText is same for strings.
func sameText[T ~string](value *T, with T) {
	if *value == with {
		*value = with
	}
}
