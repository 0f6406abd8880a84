package elasticworkers

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podstate"
)

// hostOf is the address and the port of a pod of a Service: of those that are ready, the first by name. They are found by the selector, not by
// EndpointSlices, in which anybody who may write them can name any address.
func (a *asker) hostOf(ctx context.Context, namespace string, ref *schedulingv1alpha1.ElasticWorkersService) (string, error) {
	service := &corev1.Service{}
	if err := a.services.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, service); err != nil {
		return "", fmt.Errorf("read service %q: %w", ref.Name, err)
	}
	if len(service.Spec.Selector) == 0 || service.Spec.Type == corev1.ServiceTypeExternalName {
		return "", fmt.Errorf("service %q does not select pods", ref.Name)
	}
	at := slices.IndexFunc(service.Spec.Ports, func(p corev1.ServicePort) bool {
		return p.Port == ref.Port && (p.Protocol == corev1.ProtocolTCP || p.Protocol == "")
	})
	if at < 0 {
		return "", fmt.Errorf("service %q has no TCP port %d", ref.Name, ref.Port)
	}
	var pods corev1.PodList
	if err := a.pods.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels(service.Spec.Selector)); err != nil {
		return "", fmt.Errorf("list the pods of service %q: %w", ref.Name, err)
	}
	ready := slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil || !podstate.Ready(&pod) })
	if len(ready) == 0 {
		return "", fmt.Errorf("no pod of service %q is ready", ref.Name)
	}
	pod := slices.MinFunc(ready, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	address, err := a.addressOf(&pod)
	if err != nil {
		return "", fmt.Errorf("pod %q of service %q: %w", pod.Name, ref.Name, err)
	}
	port, err := targetPort(&pod, &service.Spec.Ports[at])
	if err != nil {
		return "", fmt.Errorf("pod %q of service %q: %w", pod.Name, ref.Name, err)
	}
	return net.JoinHostPort(address, strconv.Itoa(port)), nil
}

// targetPort is the port of a pod that a port of a Service leads to.
func targetPort(pod *corev1.Pod, port *corev1.ServicePort) (int, error) {
	if port.TargetPort.Type == intstr.Int {
		if number := port.TargetPort.IntValue(); number > 0 {
			return number, nil
		}
		return int(port.Port), nil
	}
	for i := range pod.Spec.Containers {
		for _, of := range pod.Spec.Containers[i].Ports {
			if of.Name == port.TargetPort.StrVal {
				return int(of.ContainerPort), nil
			}
		}
	}
	return 0, fmt.Errorf("no container has a port %q", port.TargetPort.StrVal)
}
