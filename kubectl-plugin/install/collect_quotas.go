package install

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

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
	var failed error
	found := quota.Review(quotas, c.allPods(ctx, &failed))
	if failed != nil {
		if !c.unseen(failed) {
			return fmt.Errorf("list the pods: %w", failed)
		}
		found = quota.Review(quotas, quota.Pods(nil)) // a part of them says nothing
	}
	c.status.Findings = append(c.status.Findings, found...)
	return nil
}

// podsPage is how many pods are in memory at once, of what may be all of a large cluster.
const podsPage = 1000

// allPods reads pods while they are ranged over, page by page. failed is set to the error that ended them early.
func (c *collector) allPods(ctx context.Context, failed *error) iter.Seq[*corev1.Pod] {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return c.client.CoreV1().Pods("").List(ctx, options)
	})
	pages.PageSize, pages.PageBufferSize = podsPage, 0
	return func(yield func(*corev1.Pod) bool) {
		stopped := false
		err := pages.EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
			pod, ok := object.(*corev1.Pod)
			if stopped = ok && !yield(pod); stopped {
				return io.EOF
			}
			return nil
		})
		if !stopped {
			*failed = err
		}
	}
}
