package explain

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// preemptWhole says what a plugin would do that makes room for several pods at once, which no other then does for one of them;
// nil for a pod that is none of their concern.
func (s *simulation) preemptWhole(ctx context.Context, w *clusterView, pod *corev1.Pod) (*diagnosticsv1alpha1.Preemption, error) {
	s.simulated.show(w)
	for _, plugin := range s.whole {
		answer, err := plugin.ForesightOf(ctx, pod)
		if err != nil {
			return nil, err
		}
		if answer == nil {
			continue
		}
		for i := range answer.Refusals {
			if r := &answer.Refusals[i]; r.Plugin != "" {
				r.Code = string(s.codeOf(refusal{plugin: r.Plugin, reason: r.Reason}))
			}
		}
		return answer, nil
	}
	return nil, nil
}
