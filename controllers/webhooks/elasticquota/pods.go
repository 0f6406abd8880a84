package elasticquota

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/admission/quotaadmission"
)

// PodQuotaIndex finds pods by the quota that their label names.
const PodQuotaIndex = "labels.quota"

// IndexPods adds PodQuotaIndex to a cache.
func IndexPods(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &corev1.Pod{}, PodQuotaIndex, podQuota); err != nil {
		return fmt.Errorf("index pods by quota: %w", err)
	}
	return nil
}

func podQuota(object client.Object) []string {
	if name := object.GetLabels()[extension.LabelQuotaName]; name != "" {
		return []string{name}
	}
	return nil
}

// Pods looks up pods of quotas.
type Pods struct {
	// Cached reads pods that occupy a node from a cache with PodQuotaIndex.
	Cached client.Reader
	// Live reads pods that wait for a node, which the cache does not have, from the API server; nil leaves them out.
	Live client.Reader
}

// Of returns a pod that belongs to the quota, as namespace/name; "" when there is none.
func (p Pods) Of(ctx context.Context, quota *quotaadmission.Quota) (string, error) {
	found, err := first(ctx, p.Cached, nil, client.MatchingFields{PodQuotaIndex: quota.Name}, client.UnsafeDisableDeepCopy)
	if found != "" || err != nil {
		return found, err
	}
	namespaces := append([]string{quota.Namespace}, quota.Namespaces...)
	if quota.Namespace != quota.Name {
		namespaces = quota.Namespaces
	}
	for _, namespace := range namespaces {
		found, err := first(ctx, p.Cached, unlabelled, client.InNamespace(namespace), client.UnsafeDisableDeepCopy)
		if found != "" || err != nil {
			return found, err
		}
	}
	return p.waiting(ctx, quota, namespaces)
}

// waiting looks for pods without a node, by a field that the API server indexes.
func (p Pods) waiting(ctx context.Context, quota *quotaadmission.Quota, namespaces []string) (string, error) {
	if p.Live == nil {
		return "", nil
	}
	pending := client.MatchingFieldsSelector{Selector: fields.AndSelectors(
		fields.OneTermEqualSelector("spec.nodeName", ""),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
	)}
	found, err := first(ctx, p.Live, nil, client.MatchingLabels{extension.LabelQuotaName: quota.Name}, pending, client.Limit(1))
	for i := 0; i < len(namespaces) && found == "" && err == nil; i++ {
		found, err = first(ctx, p.Live, unlabelled, client.InNamespace(namespaces[i]), pending)
	}
	return found, err
}

func unlabelled(pod *corev1.Pod) bool { return pod.Labels[extension.LabelQuotaName] == "" }

// first returns the first pod of a list that is wanted; every one is when wanted is nil.
func first(ctx context.Context, reader client.Reader, wanted func(*corev1.Pod) bool, options ...client.ListOption) (string, error) {
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, options...); err != nil {
		return "", fmt.Errorf("list pods of a quota: %w", err)
	}
	for i := range pods.Items {
		if wanted == nil || wanted(&pods.Items[i]) {
			return pods.Items[i].Namespace + "/" + pods.Items[i].Name, nil
		}
	}
	return "", nil
}
