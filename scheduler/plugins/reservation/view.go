package reservation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// view is what explanations suppose of the reservations.
type view struct{ *reservations.Supposition }

var _ part.PodRemover = &view{}

// shown is the State of the plugin in explanations.
type shown struct{ *reservations.Supposition }

// WithoutPod implements part.PodRemover: what the pod used of a reservation is reserved again.
func (v *view) WithoutPod(pod *corev1.Pod, node fwk.NodeInfo) (part.View, error) {
	edited, held := v.Without(pod)
	if err := replaceHeld(node, held); err != nil {
		return nil, fmt.Errorf("give the room of pod %s/%s on node %s back to its reservation: %w", pod.Namespace, pod.Name, node.Node().Name, err)
	}
	return &view{edited}, nil
}

// replaceHeld puts the pod that holds the room of a reservation in the place of what it was before.
func replaceHeld(node fwk.NodeInfo, held reservations.Held) error {
	if held.Before == held.After {
		return nil
	}
	if held.Before != nil {
		if err := node.RemovePod(klog.Background(), held.Before); err != nil {
			return err
		}
	}
	if held.After == nil {
		return nil
	}
	info, err := framework.NewPodInfo(held.After)
	if err != nil {
		return err
	}
	node.AddPodInfo(info)
	return nil
}
