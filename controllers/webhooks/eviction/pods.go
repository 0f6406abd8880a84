package eviction

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
)

// colocated is how many pods run that node agents may evict, as counted not long ago.
func (b *Budget) colocated(ctx context.Context) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := b.Clock.Now(); b.counted.IsZero() || now.Sub(b.counted) >= countEvery || now.Before(b.counted) {
		var pods corev1.PodList
		if err := b.Client.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
			return 0, fmt.Errorf("count the co-located pods: %w", err)
		}
		b.pods, b.counted = 0, now
		for i := range pods.Items {
			if isColocated(&pods.Items[i]) {
				b.pods++
			}
		}
	}
	return b.pods, nil
}

// isColocated is true for best-effort pods, and for those of all priority bands below prod.
func isColocated(pod *corev1.Pod) bool {
	switch extension.PodPriorityClassWithDefault(pod) {
	case extension.PriorityMid, extension.PriorityBatch, extension.PriorityFree:
		return true
	}
	return extension.PodQoSClassWithDefault(pod) == extension.QoSBE
}
