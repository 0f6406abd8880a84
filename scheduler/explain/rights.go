package explain

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/core/disclosure"
)

// withinRights looks for another change where the caller may not make the smallest one. Of that one, the permissions it requires are reported.
func (r *response) withinRights(ctx context.Context, w *clusterView, e *evaluation) error {
	if r.status.Fix == nil || r.may == nil {
		return nil
	}
	missing := disclosure.Missing(r.status.Fix, e.pod.Namespace, r.may)
	if len(missing) == 0 {
		return nil
	}
	r.status.FixBeyondRights, r.status.Fix = disclosure.BeyondRights(r.status.Fix, missing), nil
	r.rights = r.may
	defer func() { r.rights = nil }()
	var err error
	r.status.Fix, err = r.search(ctx, w, e)
	return err
}

// permitted keeps the changes that the caller may make, as they would be made of the pod.
func (s *simulation) permitted(pod *corev1.Pod, list []candidate) []candidate {
	if s.rights == nil {
		return list
	}
	return slices.DeleteFunc(list, func(c candidate) bool {
		c.recreated(pod, s.workloads)
		return len(disclosure.Missing(&c.fix, pod.Namespace, s.rights)) > 0
	})
}

// mayEvict says whether the caller may.
func (s *simulation) mayEvict(pod *corev1.Pod) bool {
	if s.rights == nil {
		return true
	}
	evicted := eviction("", pod)
	return len(disclosure.Missing(&evicted.fix, pod.Namespace, s.rights)) == 0
}
