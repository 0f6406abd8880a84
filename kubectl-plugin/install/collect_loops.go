package install

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/source/objects"
)

var migrationJobs = schedulingv1alpha1.GroupVersion.WithResource("podmigrationjobs")

// collectLoops looks for workloads that PodMigrationJobs moved back to a node that they had been moved off. How often a workload may move
// depends on its replicas, which are not read here.
func (c *collector) collectLoops(ctx context.Context) error {
	listed, err := c.dynamic.Resource(migrationJobs).List(ctx, metav1.ListOptions{ResourceVersion: "0"}) // from the API server's memory
	switch {
	case c.unseen(err) || apierrors.IsNotFound(err): // a definition that is missing is reported as such
		return nil
	case err != nil:
		return fmt.Errorf("list the migration jobs: %w", err)
	}
	jobs := make([]schedulingv1alpha1.PodMigrationJob, len(listed.Items))
	for i := range listed.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(listed.Items[i].Object, &jobs[i]); err != nil {
			return fmt.Errorf("read migration job %q: %w", listed.Items[i].GetName(), err)
		}
	}
	moves := loopguard.MovesOf(jobs)
	if len(moves) == 0 {
		return nil
	}
	window, stops := c.historyWindow(ctx)
	for _, loop := range loopguard.Detect(loopguard.History{Moves: moves, Now: c.clock.Now(), Window: window}) {
		text := loop.Message
		if stops {
			text += "; plugins of koord-descheduler do not move it until " + loop.Until.UTC().Format(time.RFC3339)
		}
		c.find(loop.Code, text, "koordctl config lint")
	}
	return nil
}

// historyWindow is how long moves count, and whether koord-descheduler is configured, none of whose plugins moves workloads that go in
// circles. Where the configuration cannot be read, the default counts.
func (c *collector) historyWindow(ctx context.Context) (window time.Duration, stops bool) {
	object, err := c.client.CoreV1().ConfigMaps(c.status.Namespace).Get(ctx, objects.DeschedulerConfigMap, metav1.GetOptions{})
	if err != nil {
		return rebalance.LongestHistory(nil), false
	}
	read, err := objects.ReadDescheduler(object.Data)
	if err != nil {
		return rebalance.LongestHistory(nil), false
	}
	return read.HistoryWindow(), true
}
