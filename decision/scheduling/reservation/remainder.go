package reservation

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
)

// User is a pod that uses a reservation.
type User struct {
	UID             types.UID
	Namespace, Name string
	// Requests of the pod.
	Requests Amounts
	// Annotations that say what else it was allocated: CPUs, NUMA nodes, devices.
	Annotations map[string]string
}

// NewUser reads a pod with the allocations that annotations say, which are the pod's own once they are written.
func NewUser(pod *corev1.Pod, annotations map[string]string) User {
	user := User{UID: pod.UID, Namespace: pod.Namespace, Name: pod.Name, Requests: RequestsOf(pod)}
	for _, key := range []string{extension.AnnotationResourceStatus, extension.AnnotationDeviceAllocated} {
		if value := annotations[key]; value != "" {
			if user.Annotations == nil {
				user.Annotations = map[string]string{}
			}
			user.Annotations[key] = value
		}
	}
	return user
}

// UseOf adds up what users take of a reservation. The sum of each resource is at most what is reserved: what users have beyond
// it, they have from the node. It does not depend on the order in which they came.
func UseOf(r *Reservation, users map[types.UID]User) Use {
	use := Use{Users: len(users)}
	if len(users) == 0 {
		return use
	}
	use.Taken = make(Amounts, len(r.Allocatable))
	for name, held := range r.Allocatable {
		var sum int64
		for _, user := range users {
			sum = plus(sum, user.Requests[name])
		}
		if taken := min(sum, held); taken > 0 {
			use.Taken[name] = taken
		}
	}
	return use
}

// Remainder returns the reserve pod as it stands on the node while others use the reservation: it requests what is left, and
// its CPUs, shares of NUMA nodes and devices are those that no user was given. It is nil when nothing is left. What the user
// of a reservation for one user leaves over is held until that ends: were it free before, the user could go and give back more
// than the node still has. base is the reserve pod made from the Reservation; it is not changed.
func Remainder(r *Reservation, base *corev1.Pod, users map[types.UID]User) *corev1.Pod {
	left := r.Left(UseOf(r, users))
	maps.DeleteFunc(left, func(_ corev1.ResourceName, value int64) bool { return value == 0 })
	if len(left) == 0 && len(users) > 0 {
		return nil
	}
	pod := base.DeepCopy()
	pod.Spec.NodeName = r.Node
	pod.Spec.Overhead, pod.Spec.Resources, pod.Spec.InitContainers = nil, nil, nil
	pod.Spec.Containers = []corev1.Container{{
		Name: "reserved", Ports: hostPorts(base), Resources: corev1.ResourceRequirements{Requests: left.List(), Limits: limits(base, left)},
	}}
	for _, user := range users {
		subtract(pod, user.Annotations)
	}
	return pod
}

// hostPorts keeps the ports that are taken on the node.
func hostPorts(base *corev1.Pod) []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	for i := range base.Spec.Containers {
		for _, port := range base.Spec.Containers[i].Ports {
			if port.HostPort > 0 {
				ports = append(ports, port)
			}
		}
	}
	return ports
}

// limits keep the reserve pod's class: equal to the requests where the template limits the resource.
func limits(base *corev1.Pod, left Amounts) corev1.ResourceList {
	kept := corev1.ResourceList{}
	for i := range base.Spec.Containers {
		for name := range base.Spec.Containers[i].Resources.Limits {
			if value := left[name]; value > 0 {
				kept[name] = quantityOf(name, value)
			}
		}
	}
	return kept
}
