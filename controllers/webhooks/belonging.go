package webhooks

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Indexes of quotas in the cache: by their name, and by the namespaces that they claim.
const (
	quotaNameIndex  = "metadata.name"
	quotaClaimIndex = "claims"
)

// quotaIndexes are the functions of the indexes.
func quotaIndexes() map[string]client.IndexerFunc {
	return map[string]client.IndexerFunc{
		quotaNameIndex: func(object client.Object) []string { return []string{object.GetName()} },
		quotaClaimIndex: func(object client.Object) []string {
			if q, ok := object.(*schedulingsigsv1alpha1.ElasticQuota); ok {
				return quota.Claims(q)
			}
			return nil
		},
	}
}

// readNamed looks up the quota that a pod asks for, as the scheduler does: its name and the quotas that have it; "" when the
// pod asks for none.
func readNamed(ctx context.Context, reader client.Reader, pod *corev1.Pod) (string, quota.Namesakes, error) {
	var specs []*quota.Spec
	if pod.Labels[extension.LabelQuotaName] == "" {
		claiming, err := readQuotas(ctx, reader, client.MatchingFields{quotaClaimIndex: pod.Namespace})
		if err != nil {
			return "", nil, fmt.Errorf("list quotas of namespace %q: %w", pod.Namespace, err)
		}
		specs = claiming.Specs()
	}
	name := quota.BelongingTo(specs).Name(pod)
	if name == "" {
		return "", nil, nil
	}
	named, err := readQuotas(ctx, reader, client.MatchingFields{quotaNameIndex: name})
	if err != nil {
		return "", nil, fmt.Errorf("list quotas named %q: %w", name, err)
	}
	return name, named, nil
}

func readQuotas(ctx context.Context, reader client.Reader, options ...client.ListOption) (quota.Namesakes, error) {
	var list schedulingsigsv1alpha1.ElasticQuotaList
	if err := reader.List(ctx, &list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, err
	}
	out := make(quota.Namesakes, len(list.Items))
	for i := range list.Items {
		out[i] = &list.Items[i]
	}
	return out, nil
}

// quotaNamespaces are namespaces about whose pods quotas say something although they name none, sorted.
type quotaNamespaces struct {
	// parents are those that belong to a quota that is a parent, trees those that belong to a tree with an ID.
	parents, trees []string
}

// readQuotaNamespaces finds them among all quotas.
func readQuotaNamespaces(ctx context.Context, reader client.Reader) (quotaNamespaces, error) {
	all, err := readQuotas(ctx, reader)
	if err != nil {
		return quotaNamespaces{}, fmt.Errorf("list quotas: %w", err)
	}
	named, claimed := map[string]quota.Namesakes{}, map[string]bool{}
	var claiming quota.Namesakes
	for _, q := range all {
		named[q.Name] = append(named[q.Name], q)
		claims := quota.Claims(q)
		for _, namespace := range claims {
			claimed[namespace] = true
		}
		if len(claims) > 0 {
			claiming = append(claiming, q)
		}
	}
	belonging, out := quota.BelongingTo(claiming.Specs()), quotaNamespaces{}
	for namespace := range claimed {
		quotas := named[belonging.OfNamespace(namespace)]
		if quotas.Parent() {
			out.parents = append(out.parents, namespace)
		}
		if quotas.Tree() != "" {
			out.trees = append(out.trees, namespace)
		}
	}
	slices.Sort(out.parents)
	slices.Sort(out.trees)
	return out, nil
}

// mostNamespaces bounds the names in a selector of namespaces, which an API server goes through for every pod and stores
// with the webhooks: 63 bytes each at most.
const mostNamespaces = 4096

// selecting is a selector of namespaces without the exempt ones; nil when none is left, and all others when there are too
// many to name.
func selecting(namespaces, exempt []string) *metav1.LabelSelector {
	left := slices.DeleteFunc(slices.Clone(namespaces), func(namespace string) bool { return slices.Contains(exempt, namespace) })
	switch {
	case len(left) == 0:
		return nil
	case len(left) > mostNamespaces:
		return policy.OutsideOf(exempt)
	}
	return within(left...)
}

// claimsChange passes what may change quotaNamespaces; the status of a quota, written every few seconds, does not.
func claimsChange() predicate.Predicate {
	claims := func(object client.Object) bool {
		q, ok := object.(*schedulingsigsv1alpha1.ElasticQuota)
		return ok && len(quota.Claims(q)) > 0
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return claims(e.Object) },
		DeleteFunc: func(e event.DeleteEvent) bool { return claims(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			differ := e.ObjectOld.GetAnnotations()[extension.AnnotationQuotaNamespaces] != e.ObjectNew.GetAnnotations()[extension.AnnotationQuotaNamespaces]
			for _, key := range []string{extension.LabelQuotaIsParent, extension.LabelQuotaTreeID} {
				differ = differ || e.ObjectOld.GetLabels()[key] != e.ObjectNew.GetLabels()[key]
			}
			return differ && (claims(e.ObjectOld) || claims(e.ObjectNew))
		},
	}
}
