package install

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
)

var elasticQuotas = schedulingsigsv1alpha1.GroupVersion.WithResource("elasticquotas")

// collectQuotas looks for quotas that use more than their max, and for pods that a quota does not count.
func (c *collector) collectQuotas(ctx context.Context) error {
	listed, err := c.dynamic.Resource(elasticQuotas).List(ctx, metav1.ListOptions{ResourceVersion: "0"}) // from the API server's memory
	switch {
	case c.unseen(err) || apierrors.IsNotFound(err): // a definition that is missing is reported as such
		return nil
	case err != nil:
		return fmt.Errorf("list the quotas: %w", err)
	}
	quotas := make([]schedulingsigsv1alpha1.ElasticQuota, len(listed.Items))
	for i := range listed.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(listed.Items[i].Object, &quotas[i]); err != nil {
			return fmt.Errorf("read quota %q: %w", listed.Items[i].GetName(), err)
		}
	}
	if !slices.ContainsFunc(quotas, func(q schedulingsigsv1alpha1.ElasticQuota) bool { return !extension.IsBuiltInQuota(q.Name) }) {
		return nil
	}
	pods, err := c.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil && !c.unseen(err) {
		return fmt.Errorf("list the pods: %w", err)
	}
	var items []corev1.Pod
	if err == nil {
		items = pods.Items
	}
	c.status.Findings = append(c.status.Findings, quota.Review(quotas, items)...)
	return nil
}
