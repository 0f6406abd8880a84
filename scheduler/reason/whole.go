package reason

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// WholePreemptor is a PostFilter plugin that makes room for several pods at once, in the place of plugins that make room for one.
type WholePreemptor interface {
	fwk.Plugin
	// ForesightOf repeats the decision of PostFilter on whom to evict for the pod and those that belong to it, on the nodes that
	// the plugin's handle shows. It returns nil for a pod for which others may make room. Refusals are without their codes.
	ForesightOf(ctx context.Context, pod *corev1.Pod) (*diagnosticsv1alpha1.Preemption, error)
}
