package quota

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Spec is what one ElasticQuota asks for.
type Spec struct {
	Namespace, Name string
	// Parent is the name of the quota above, the root's when it is not given.
	Parent string
	// TreeID as it stands on the quota; without one it belongs to the tree of its parent.
	TreeID string
	// IsParent has children and, normally, no pods.
	IsParent bool
	// TreeRoot brings Total into its tree.
	TreeRoot bool
	// IgnoreDefaultTree leaves the default tree's total alone: otherwise Total is taken from it.
	IgnoreDefaultTree bool
	// Lends what it does not ask for of its min.
	Lends bool
	// FixedMin exempts min from scaling.
	FixedMin bool
	// Min is guaranteed, Max the most there can be, Weight the share of what is left over.
	Min, Max, Weight Amounts
	// Total of a tree root.
	Total Amounts
	// Namespaces whose pods belong to the quota.
	Namespaces []string
	// Created orders quotas of one name: the oldest counts. Seconds since 1970.
	Created int64
}

// Equal is true when nothing that matters differs.
func (s *Spec) Equal(other *Spec) bool {
	return s.Namespace == other.Namespace && s.Name == other.Name && s.Parent == other.Parent && s.TreeID == other.TreeID &&
		s.IsParent == other.IsParent && s.TreeRoot == other.TreeRoot && s.IgnoreDefaultTree == other.IgnoreDefaultTree &&
		s.Lends == other.Lends && s.FixedMin == other.FixedMin && s.Created == other.Created &&
		slices.Equal(s.Min, other.Min) && slices.Equal(s.Max, other.Max) && slices.Equal(s.Weight, other.Weight) &&
		slices.Equal(s.Total, other.Total) && slices.Equal(s.Namespaces, other.Namespaces)
}

// Problem is something wrong with a quota. The quota still takes part, as the message says.
type Problem struct {
	Code finding.Code `json:"code"`
	// Namespace of the quota, which distinguishes two of one name.
	Namespace string `json:"namespace"`
	Quota     string `json:"quota"`
	Message   string `json:"message"`
}

// Decode reads an ElasticQuota. What cannot be read is left at its default and reported.
func Decode(object *schedulingsigsv1alpha1.ElasticQuota) (Spec, []Problem) {
	d := decoder{spec: Spec{
		Namespace: object.Namespace, Name: object.Name, Created: object.CreationTimestamp.Unix(),
		Parent: extension.QuotaParent(object), TreeID: object.Labels[extension.LabelQuotaTreeID],
		IsParent: extension.IsQuotaParent(object), TreeRoot: extension.IsQuotaTreeRoot(object),
		IgnoreDefaultTree: object.Labels[extension.LabelQuotaIgnoreDefaultTree] == "true",
		Lends:             extension.IsQuotaLendingAllowed(object),
		Min:               AmountsOf(object.Spec.Min), Max: AmountsOf(object.Spec.Max),
	}}
	d.negatives("min", object.Spec.Min)
	d.negatives("max", object.Spec.Max)
	d.capMin()
	d.weight(object)
	if d.spec.TreeRoot {
		d.spec.Total = d.list(object, extension.AnnotationQuotaTotalResource)
	}
	d.namespaces(object)
	return d.spec, d.problems
}

type decoder struct {
	spec     Spec
	problems []Problem
}

func (d *decoder) report(format string, args ...any) {
	d.problems = append(d.problems, Problem{Code: finding.QuotaInvalid, Namespace: d.spec.Namespace, Quota: d.spec.Name, Message: fmt.Sprintf(format, args...)})
}

func (d *decoder) negatives(field string, list corev1.ResourceList) {
	for _, amount := range AmountsOf(list) {
		if quantity := list[amount.Resource]; quantity.Sign() < 0 {
			d.report("%s of %s is %s; it counts as 0", field, amount.Resource, quantity.String())
		}
	}
}

// capMin keeps a guarantee from exceeding the limit.
func (d *decoder) capMin() {
	for i := range d.spec.Min {
		amount := &d.spec.Min[i]
		if limit, limited := d.spec.Max.Get(amount.Resource); limited && amount.Value > limit {
			d.report("min of %s exceeds max; max counts for both", amount.Resource)
			amount.Value = limit
		}
	}
}

func (d *decoder) weight(object *schedulingsigsv1alpha1.ElasticQuota) {
	given, err := extension.GetQuotaResources(object.Annotations, extension.AnnotationQuotaSharedWeight)
	if err != nil {
		d.report("%v; max counts as the weight", err)
	}
	d.negatives("the weight", given)
	d.spec.Weight = AmountsOf(extension.QuotaSharedWeight(object.Annotations, object.Spec.Max))
}

func (d *decoder) list(object *schedulingsigsv1alpha1.ElasticQuota, key string) Amounts {
	list, err := extension.GetQuotaResources(object.Annotations, key)
	if err != nil {
		d.report("%v; it is ignored", err)
		return nil
	}
	return AmountsOf(list)
}

func (d *decoder) namespaces(object *schedulingsigsv1alpha1.ElasticQuota) {
	namespaces, err := extension.GetQuotaNamespaces(object.Annotations)
	if err != nil {
		d.report("%v; it is ignored", err)
		return
	}
	slices.Sort(namespaces)
	d.spec.Namespaces = slices.Compact(namespaces)
}

// compareAge orders specs of one name: the one that counts first.
func compareAge(a, b *Spec) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.Namespace, b.Namespace))
}
