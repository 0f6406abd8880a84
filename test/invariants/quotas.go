package invariants

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Tree is the quotas of a cluster and what they are about. It is not changed after its first method was called, and not for
// concurrent use.
type Tree struct {
	// Quotas in any order.
	Quotas []*schedulingsigsv1alpha1.ElasticQuota
	// Total is what all nodes can allocate.
	Total corev1.ResourceList
	// Pods that have not ended, bound or not.
	Pods []*corev1.Pod

	// named and listed are indexes of the quotas: by name, and by the namespaces that their annotation lists.
	named  map[string]*schedulingsigsv1alpha1.ElasticQuota
	listed map[string]string
}

// Limits are what a quota may use, by resource: thousandths of a CPU, whole units of the others.
type Limits map[corev1.ResourceName]float64

// Of names the quota of a pod: that of its label, that with the name of its namespace, that which lists the namespace.
// Without an existing one it is the default quota.
func (t *Tree) Of(pod *corev1.Pod) string {
	if name := pod.Labels[extension.LabelQuotaName]; name != "" {
		if t.quota(name) == nil {
			return extension.DefaultQuotaName
		}
		return name
	}
	if quota := t.quota(pod.Namespace); quota != nil && quota.Namespace == pod.Namespace {
		return quota.Name
	}
	if name := t.listed[pod.Namespace]; name != "" {
		return name
	}
	return extension.DefaultQuotaName
}

func (t *Tree) quota(name string) *schedulingsigsv1alpha1.ElasticQuota {
	if t.named == nil {
		t.index()
	}
	return t.named[name]
}

func (t *Tree) index() {
	t.named, t.listed = map[string]*schedulingsigsv1alpha1.ElasticQuota{}, map[string]string{}
	for _, quota := range t.Quotas {
		t.named[quota.Name] = quota
		namespaces, err := extension.GetQuotaNamespaces(quota.Annotations)
		if err != nil {
			continue
		}
		for _, namespace := range namespaces {
			t.listed[namespace] = quota.Name
		}
	}
}

// Used is what the bound pods of a quota request.
func (t *Tree) Used(quota string) Limits {
	used := Limits{}
	for _, pod := range t.Pods {
		if pod.Spec.NodeName != "" && t.Of(pod) == quota {
			used.add(requestsOf(pod))
		}
	}
	return used
}

// Limits returns what each quota may use: its max, and its runtime, which is what is left for it when all quotas get what
// they are guaranteed.
func (t *Tree) Limits() map[string]Limits {
	limits := map[string]Limits{}
	for _, quota := range t.Quotas {
		limits[quota.Name] = limitsOf(quota.Spec.Max)
	}
	for name, runtime := range t.runtimes(t.sums()) {
		for resource, value := range limits[name] {
			limits[name][resource] = math.Min(value, runtime[resource])
		}
	}
	return limits
}

// Exceeds compares what the bound pods of a pod's quota use with what it may use. The difference of what is shared in
// fractions here and in whole units by a scheduler is tolerated.
func Exceeds(quota string, used, limit, asks Limits) []Violation {
	const relative, absolute = 1e-6, 2
	out := &found{invariant: QuotaWithinRuntime, subject: "quota " + quota}
	for resource, value := range limit {
		if asks[resource] > 0 && used[resource] > value*(1+relative)+absolute {
			out.add("it uses %.0f of %s and may use %.0f", used[resource], resource, value)
		}
	}
	return out.sorted()
}

func limitsOf(list corev1.ResourceList) Limits {
	limits := Limits{}
	limits.add(list)
	return limits
}

func (l Limits) add(list corev1.ResourceList) {
	for name, quantity := range list {
		if name == corev1.ResourceCPU {
			l[name] += quantity.AsApproximateFloat64() * 1000
		} else {
			l[name] += quantity.AsApproximateFloat64()
		}
	}
}
