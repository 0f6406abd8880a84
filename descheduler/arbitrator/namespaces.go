package arbitrator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/descheduling/arbitration"
)

// namespaces are the pods and workloads of the namespaces of one round, each read once.
type namespaces struct {
	list   func(ctx context.Context, namespace string) ([]*corev1.Pod, error)
	owners *owners
	read   map[string]*namespace
	// controllers by UID, with the workload that each belongs to.
	controllers map[types.UID]owner
}

type namespace struct {
	pods int
	// byWorkload are the pods of each workload that have not ended.
	byWorkload map[types.UID][]arbitration.WorkloadPod
}

// workloadOf a pod. It is not found when the controller could not be read; the pod of none has no UID either.
type workloadOf struct {
	arbitration.Workload
	owner owner
	found bool
}

func newNamespaces(list func(context.Context, string) ([]*corev1.Pod, error), owners *owners) *namespaces {
	return &namespaces{list: list, owners: owners, read: map[string]*namespace{}, controllers: map[types.UID]owner{}}
}

// workload of a pod, with its replicas and pods.
func (n *namespaces) workload(ctx context.Context, pod *corev1.Pod) (workloadOf, error) {
	within, err := n.namespace(ctx, pod.Namespace)
	if err != nil {
		return workloadOf{}, err
	}
	owner, err := n.owner(ctx, pod)
	if err != nil || owner.uid == "" {
		return workloadOf{}, err
	}
	replicas, err := n.owners.replicas(ctx, pod.Namespace, owner)
	if err != nil {
		return workloadOf{}, err
	}
	return workloadOf{
		owner: owner, found: owner.found && replicas.found,
		Workload: arbitration.Workload{
			Kind: owner.kind, Name: owner.name, Replicas: replicas.count, Known: replicas.known, Together: owner.kind == "Job", Pods: within.byWorkload[owner.uid],
		},
	}, nil
}

// namespace reads the pods of a namespace.
func (n *namespaces) namespace(ctx context.Context, name string) (*namespace, error) {
	if found := n.read[name]; found != nil {
		return found, nil
	}
	pods, err := n.list(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("list pods of namespace %s: %w", name, err)
	}
	out := &namespace{byWorkload: map[types.UID][]arbitration.WorkloadPod{}}
	for _, pod := range pods {
		if podstate.Ended(pod) {
			continue
		}
		out.pods++
		owner, err := n.owner(ctx, pod)
		if err != nil {
			return nil, err
		}
		if owner.uid != "" {
			out.byWorkload[owner.uid] = append(out.byWorkload[owner.uid], arbitration.WorkloadPod{
				UID: pod.UID, Ready: pod.DeletionTimestamp == nil && podstate.Ready(pod), Pending: pod.Spec.NodeName == "", Leaving: pod.DeletionTimestamp != nil,
			})
		}
	}
	n.read[name] = out
	return out, nil
}

// owner is the workload that a pod belongs to, which its controller may belong to.
func (n *namespaces) owner(ctx context.Context, pod *corev1.Pod) (owner, error) {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil {
		return owner{}, nil
	}
	if found, asked := n.controllers[controller.UID]; asked {
		return found, nil
	}
	found, err := n.owners.of(ctx, pod.Namespace, controller)
	if err == nil {
		n.controllers[controller.UID] = found
	}
	return found, err
}

// counts are the pods of the namespaces that were read.
func (n *namespaces) counts() map[string]int {
	out := map[string]int{}
	for name, namespace := range n.read {
		out[name] = namespace.pods
	}
	return out
}

// list lists pods with a client.
func list(ctx context.Context, reader client.Reader, namespace string) ([]*corev1.Pod, error) {
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	out := make([]*corev1.Pod, len(pods.Items))
	for i := range pods.Items {
		out[i] = &pods.Items[i]
	}
	return out, nil
}
