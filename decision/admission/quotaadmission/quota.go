package quotaadmission

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Quota is what admission needs to know of one ElasticQuota. Its lists and slices are shared with the object it was read
// from and must not be modified.
type Quota struct {
	Namespace, Name string
	// Parent is the name of the quota above, koordinator-root-quota by default, "" for the root itself.
	Parent string
	// TreeID of the label; "" is the default tree.
	TreeID string
	// IsParent has children and no pods.
	IsParent bool
	// TreeRoot is true for the root of a separate tree; its min follows the nodes, and so may fall below that of its children.
	TreeRoot bool
	// IgnoreDefaultTree leaves what the tree has to the default tree, too.
	IgnoreDefaultTree bool
	// Total is what a TreeRoot brings into its tree.
	Total corev1.ResourceList
	// Forced skips the checks of sums of min.
	Forced bool
	// Created orders quotas of one name: the oldest counts. Seconds since 1970.
	Created int64
	// Min, Max and Used of spec and status, and what the scheduler says is Guaranteed and Allocated.
	Min, Max, Used, Guaranteed, Allocated corev1.ResourceList
	// Weight is the annotation's, nil without one.
	Weight corev1.ResourceList
	// StrictKeys are resources whose max may not be below what is used.
	StrictKeys []corev1.ResourceName
	// Namespaces whose pods belong to the quota, sorted, each once.
	Namespaces []string
}

// Read takes a quota from its object. Annotations that cannot be decoded count as absent and are returned as errors.
func Read(object *schedulingsigsv1alpha1.ElasticQuota) (Quota, []error) {
	q := Quota{
		Namespace: object.Namespace, Name: object.Name, Created: object.CreationTimestamp.Unix(),
		Parent: extension.QuotaParent(object), TreeID: object.Labels[extension.LabelQuotaTreeID],
		IsParent: extension.IsQuotaParent(object), TreeRoot: extension.IsQuotaTreeRoot(object), Forced: extension.IsQuotaForceUpdateAllowed(object),
		IgnoreDefaultTree: object.Labels[extension.LabelQuotaIgnoreDefaultTree] == "true",
		Min:               object.Spec.Min, Max: object.Spec.Max, Used: object.Status.Used,
	}
	var errs []error
	for _, list := range []struct {
		into *corev1.ResourceList
		key  string
	}{
		{&q.Weight, extension.AnnotationQuotaSharedWeight},
		{&q.Guaranteed, extension.AnnotationQuotaGuaranteed},
		{&q.Allocated, extension.AnnotationQuotaAllocated},
		{&q.Total, extension.AnnotationQuotaTotalResource},
	} {
		decoded, err := extension.GetQuotaResources(object.Annotations, list.key)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		*list.into = decoded
	}
	namespaces, err := extension.GetQuotaNamespaces(object.Annotations)
	if err != nil {
		errs, namespaces = append(errs, err), nil
	}
	slices.Sort(namespaces)
	q.Namespaces = slices.Compact(namespaces)
	if q.StrictKeys, err = extension.GetQuotaMaxStrictCheckResourceKeys(object.Annotations); err != nil {
		errs, q.StrictKeys = append(errs, err), nil
	}
	return q, errs
}

// SameRequest reports whether two versions of a quota ask for the same, whatever their status is.
func (q *Quota) SameRequest(other *Quota) bool {
	return q.Parent == other.Parent && q.TreeID == other.TreeID && q.IsParent == other.IsParent && q.TreeRoot == other.TreeRoot &&
		q.IgnoreDefaultTree == other.IgnoreDefaultTree && sameList(q.Total, other.Total) &&
		q.Forced == other.Forced && q.Created == other.Created && sameList(q.Min, other.Min) && sameList(q.Max, other.Max) &&
		sameList(q.Weight, other.Weight) && slices.Equal(q.StrictKeys, other.StrictKeys) && slices.Equal(q.Namespaces, other.Namespaces)
}

func (q *Quota) builtIn() bool { return extension.IsBuiltInQuota(q.Name) }

// belowRoot is true for a quota that no other bounds.
func (q *Quota) belowRoot() bool { return q.Parent == "" || q.Parent == extension.RootQuotaName }

// rootsTree is true for the root of a separate tree, which declares what the tree has.
func (q *Quota) rootsTree() bool { return q.TreeRoot && q.TreeID != "" && !q.builtIn() }

// older orders quotas of one name: the one that counts first.
func older(a, b *Quota) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.Namespace, b.Namespace))
}

// keys of a list in order.
func keys(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func sameKeys(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if _, found := b[name]; !found {
			return false
		}
	}
	return true
}

func sameList(a, b corev1.ResourceList) bool {
	if !sameKeys(a, b) {
		return false
	}
	for name, quantity := range a {
		if quantity.Cmp(b[name]) != 0 {
			return false
		}
	}
	return true
}
