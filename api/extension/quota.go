package extension

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Quotas that always exist.
const (
	RootQuotaName    = "koordinator-root-quota"
	SystemQuotaName  = "koordinator-system-quota"
	DefaultQuotaName = "koordinator-default-quota"
)

// Labels of elastic quotas, and of pods.
const (
	// LabelQuotaName names the quota of a pod, or of a namespace.
	LabelQuotaName = QuotaDomainPrefix + "name"
	// LabelQuotaPreemptible set to "false" makes a pod count against min and never a victim.
	LabelQuotaPreemptible = QuotaDomainPrefix + "preemptible"
	// LabelQuotaTreeID names the tree a quota, or a pod, belongs to.
	LabelQuotaTreeID = QuotaDomainPrefix + "tree-id"
	// LabelQuotaIsParent marks a quota that has children and no pods.
	LabelQuotaIsParent = QuotaDomainPrefix + "is-parent"
	// LabelQuotaParent names the quota above; the root by default.
	LabelQuotaParent = QuotaDomainPrefix + "parent"
	// LabelQuotaAllowLentResource lends unused min to siblings unless it is "false".
	LabelQuotaAllowLentResource = QuotaDomainPrefix + "allow-lent-resource"
	// LabelQuotaProfile names the ElasticQuotaProfile that made the quota.
	LabelQuotaProfile = QuotaDomainPrefix + "profile"
	// LabelQuotaIsRoot marks the root of a tree.
	LabelQuotaIsRoot = QuotaDomainPrefix + "is-root"
	// LabelQuotaIgnoreDefaultTree leaves the nodes of a tree out of the default tree.
	LabelQuotaIgnoreDefaultTree = QuotaDomainPrefix + "ignore-default-tree"
	// LabelQuotaAllowForceUpdate skips the checks of sums of min.
	LabelQuotaAllowForceUpdate = QuotaDomainPrefix + "allow-force-update"
)

// Annotations of elastic quotas. All but the keys, the namespaces and the strict keys are resource lists.
const (
	AnnotationQuotaSharedWeight          = QuotaDomainPrefix + "shared-weight"
	AnnotationQuotaRuntime               = QuotaDomainPrefix + "runtime"
	AnnotationQuotaRequest               = QuotaDomainPrefix + "request"
	AnnotationQuotaChildRequest          = QuotaDomainPrefix + "child-request"
	AnnotationQuotaTotalResource         = QuotaDomainPrefix + "total-resource"
	AnnotationQuotaUnschedulableResource = QuotaDomainPrefix + "unschedulable-resource"
	AnnotationQuotaGuaranteed            = QuotaDomainPrefix + "guaranteed"
	AnnotationQuotaAllocated             = QuotaDomainPrefix + "allocated"
	AnnotationQuotaNonPreemptibleRequest = QuotaDomainPrefix + "non-preemptible-request"
	AnnotationQuotaNonPreemptibleUsed    = QuotaDomainPrefix + "non-preemptible-used"
	// AnnotationQuotaAdmission is for upstream's quota admission. No component reads it yet.
	AnnotationQuotaAdmission = QuotaDomainPrefix + "admission"
	// AnnotationQuotaResourceKeys is a JSON list of the resources a profile shares out.
	AnnotationQuotaResourceKeys = QuotaDomainPrefix + "resource-keys"
	// AnnotationQuotaNamespaces is a JSON list of namespaces whose pods belong to the quota.
	AnnotationQuotaNamespaces = QuotaDomainPrefix + "namespaces"
	// AnnotationQuotaMaxStrictCheckResourceKeys is a JSON list of resources whose max may not fall below what is used.
	AnnotationQuotaMaxStrictCheckResourceKeys = QuotaDomainPrefix + "max-strict-check-resource-keys"
)

// QuotaParent returns the name of the quota above, "" for the root itself.
func QuotaParent(quota metav1.Object) string {
	parent := quota.GetLabels()[LabelQuotaParent]
	if parent == "" && quota.GetName() != RootQuotaName {
		return RootQuotaName
	}
	return parent
}

// IsQuotaParent reports whether the quota has children.
func IsQuotaParent(quota metav1.Object) bool {
	return quota.GetLabels()[LabelQuotaIsParent] == "true"
}

// IsQuotaTreeRoot reports whether the quota is the root of a tree.
func IsQuotaTreeRoot(quota metav1.Object) bool {
	return quota.GetLabels()[LabelQuotaIsRoot] == "true"
}

// IsQuotaLendingAllowed reports whether unused min is lent to siblings.
func IsQuotaLendingAllowed(quota metav1.Object) bool {
	return quota.GetLabels()[LabelQuotaAllowLentResource] != "false"
}

// IsQuotaForceUpdateAllowed reports whether the checks of sums of min are skipped.
func IsQuotaForceUpdateAllowed(quota metav1.Object) bool {
	return quota.GetLabels()[LabelQuotaAllowForceUpdate] == "true"
}

// IsBuiltInQuota reports whether the name is one of the quotas that always exist.
func IsBuiltInQuota(name string) bool {
	return name == RootQuotaName || name == SystemQuotaName || name == DefaultQuotaName
}

// IsPodNonPreemptible reports whether the pod counts against min and is never a victim.
func IsPodNonPreemptible(labels map[string]string) bool {
	return labels[LabelQuotaPreemptible] == "false"
}

// GetQuotaResources decodes one of the annotations that hold a resource list, nil when absent.
func GetQuotaResources(annotations map[string]string, key string) (corev1.ResourceList, error) {
	return decodeOr[corev1.ResourceList](annotations, key)
}

// SetQuotaResources writes one of the annotations that hold a resource list; nil removes it.
func SetQuotaResources(obj metav1.Object, key string, resources corev1.ResourceList) error {
	if resources == nil {
		removeAnnotation(obj, key)
		return nil
	}
	return EncodeAnnotation(obj, key, &resources)
}

// QuotaSharedWeight decodes AnnotationQuotaSharedWeight; a copy of max when it is absent, invalid or all zero.
func QuotaSharedWeight(annotations map[string]string, max corev1.ResourceList) corev1.ResourceList {
	weights, err := GetQuotaResources(annotations, AnnotationQuotaSharedWeight)
	if err != nil {
		return max.DeepCopy()
	}
	for _, weight := range weights {
		if !weight.IsZero() {
			return weights
		}
	}
	return max.DeepCopy()
}

// GetQuotaNamespaces decodes AnnotationQuotaNamespaces.
func GetQuotaNamespaces(annotations map[string]string) ([]string, error) {
	return decodeOr[[]string](annotations, AnnotationQuotaNamespaces)
}

// GetQuotaResourceKeys decodes AnnotationQuotaResourceKeys; cpu and memory when absent.
func GetQuotaResourceKeys(annotations map[string]string) ([]corev1.ResourceName, error) {
	keys, err := decodeOr[[]corev1.ResourceName](annotations, AnnotationQuotaResourceKeys)
	if keys == nil && err == nil {
		return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}, nil
	}
	return keys, err
}

// GetQuotaMaxStrictCheckResourceKeys decodes AnnotationQuotaMaxStrictCheckResourceKeys.
func GetQuotaMaxStrictCheckResourceKeys(annotations map[string]string) ([]corev1.ResourceName, error) {
	return decodeOr[[]corev1.ResourceName](annotations, AnnotationQuotaMaxStrictCheckResourceKeys)
}
