package install

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/nodeqos/evictionbudget"
)

// collectEvictions reports when node agents evicted as much as the cluster's budget allows. A record that cannot be read is started again by
// the manager, and means nothing.
func (c *collector) collectEvictions(ctx context.Context) error {
	object, err := c.client.CoreV1().ConfigMaps(c.status.Namespace).Get(ctx, configuration.EvictionsConfigMapName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) || c.unseen(err):
		return nil
	case err != nil:
		return fmt.Errorf("get configmap %q in namespace %q: %w", configuration.EvictionsConfigMapName, c.status.Namespace, err)
	}
	record, err := evictionbudget.ParseRecord(object.Data)
	if err != nil {
		return nil
	}
	if used, usedUp := record.Used(c.clock.Now()); usedUp {
		text := fmt.Sprintf("node agents evicted %d pods within %d minutes, as many as the cluster's budget allows: the next ones stay for now",
			used, int(evictionbudget.Window.Minutes()))
		c.find(finding.EvictionBudgetCluster, text, "koordctl forecast evictions")
	}
	return nil
}
