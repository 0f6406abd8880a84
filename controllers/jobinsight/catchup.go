package jobinsight

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/decision/core/jobinsight"
)

// catchUp learns from pods that ended while nobody collected, in the order in which they did: how long they ran. What they used is
// not known any more.
func (c *collector) catchUp(ctx context.Context) error {
	since := c.store.Last()
	var missed []jobinsight.Run
	for _, phase := range []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed} {
		var pods corev1.PodList
		watched := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}
		if err := c.live.List(ctx, &pods, watched, client.MatchingFields{"status.phase": string(phase)}); err != nil {
			return fmt.Errorf("list pods that ended as %s: %w", phase, err)
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			kind, isJob := jobinsight.KindOf(pod)
			at, _, ended := jobinsight.EndOf(pod)
			if !isJob || !ended || !at.After(since) {
				continue
			}
			if run, ok := runOf(&running{pod: pod, kind: kind, leftAt: at}, pod); ok {
				missed = append(missed, run)
			}
		}
	}
	slices.SortStableFunc(missed, func(a, b jobinsight.Run) int {
		return cmp.Or(a.Ended.Compare(b.Ended), cmp.Compare(a.Kind.String(), b.Kind.String()))
	})
	for _, run := range missed {
		c.store.Observe(run)
		c.dirty = true
		count(run.Outcome)
	}
	return nil
}
