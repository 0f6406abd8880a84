package quota

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

// Unlimited is the largest amount. Quantities beyond it count as this much.
const Unlimited = math.MaxInt64

// Boundless is an amount that no cluster has: it is set where nothing is to be limited.
const Boundless = Unlimited / 8

// Amount of one resource: thousandths for cpu, whole units for everything else.
type Amount struct {
	Resource corev1.ResourceName
	Value    int64
}

// Amounts of several resources, ordered by name, each name once.
type Amounts []Amount

// AmountsOf reads a resource list. Negative quantities count as zero, fractions of a unit as a whole one.
func AmountsOf(list corev1.ResourceList) Amounts {
	if len(list) == 0 {
		return nil
	}
	amounts := make(Amounts, 0, len(list))
	for name, quantity := range list {
		amounts = append(amounts, Amount{Resource: name, Value: valueOf(name, quantity)})
	}
	slices.SortFunc(amounts, byResource)
	return amounts
}

func byResource(a, b Amount) int { return strings.Compare(string(a.Resource), string(b.Resource)) }

// Get returns the amount of a resource, and whether there is one.
func (a Amounts) Get(name corev1.ResourceName) (int64, bool) {
	for i := range a {
		if a[i].Resource == name {
			return a[i].Value, true
		}
	}
	return 0, false
}

// With returns a copy in which the resource has the value.
func (a Amounts) With(name corev1.ResourceName, value int64) Amounts {
	changed := slices.Clone(a)
	for i := range changed {
		if changed[i].Resource == name {
			changed[i].Value = value
			return changed
		}
	}
	changed = append(changed, Amount{Resource: name, Value: value})
	slices.SortFunc(changed, byResource)
	return changed
}

// List is the resource list of the amounts.
func (a Amounts) List() corev1.ResourceList {
	list := make(corev1.ResourceList, len(a))
	for _, amount := range a {
		list[amount.Resource] = Quantity(amount.Resource, amount.Value)
	}
	return list
}

// Plus adds up two lists. Sums beyond Unlimited stay there.
func (a Amounts) Plus(b Amounts) Amounts { return merge(a, b, saturatedSum) }

// Minus subtracts b. Resources of b alone become negative.
func (a Amounts) Minus(b Amounts) Amounts {
	return merge(a, b, func(x, y int64) int64 { return x - y })
}

func merge(a, b Amounts, combine func(x, y int64) int64) Amounts {
	merged := make(Amounts, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Resource < b[0].Resource:
			merged, a = append(merged, Amount{a[0].Resource, combine(a[0].Value, 0)}), a[1:]
		case len(a) == 0 || b[0].Resource < a[0].Resource:
			merged, b = append(merged, Amount{b[0].Resource, combine(0, b[0].Value)}), b[1:]
		default:
			merged, a, b = append(merged, Amount{a[0].Resource, combine(a[0].Value, b[0].Value)}), a[1:], b[1:]
		}
	}
	return merged
}

// String is how upstream prints a resource list in reasons: cpu:1500m,memory:2Gi.
func (a Amounts) String() string {
	var b strings.Builder
	for i, amount := range a {
		if i > 0 {
			b.WriteByte(',')
		}
		quantity := Quantity(amount.Resource, amount.Value)
		b.WriteString(string(amount.Resource) + ":" + quantity.String())
	}
	return b.String()
}

var (
	largest    = *resource.NewQuantity(Unlimited, resource.DecimalSI)
	largestCPU = *resource.NewQuantity(Unlimited/1000, resource.DecimalSI)
)

func valueOf(name corev1.ResourceName, quantity resource.Quantity) int64 {
	switch {
	case quantity.Sign() <= 0:
		return 0
	case name == corev1.ResourceCPU:
		if quantity.Cmp(largestCPU) >= 0 {
			return Unlimited
		}
		return quantity.MilliValue()
	case quantity.Cmp(largest) >= 0:
		return Unlimited
	}
	return quantity.Value()
}

// Quantity of an amount, in the notation that is usual for the resource.
func Quantity(name corev1.ResourceName, value int64) resource.Quantity {
	switch unitOf(name) {
	case diagnosticsv1alpha1.MilliCPU:
		return *resource.NewMilliQuantity(value, resource.DecimalSI)
	case diagnosticsv1alpha1.Bytes:
		return *resource.NewQuantity(value, resource.BinarySI)
	}
	return *resource.NewQuantity(value, resource.DecimalSI)
}

func unitOf(name corev1.ResourceName) diagnosticsv1alpha1.Unit {
	switch name {
	case corev1.ResourceCPU:
		return diagnosticsv1alpha1.MilliCPU
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage, extension.BatchMemory, extension.MidMemory:
		return diagnosticsv1alpha1.Bytes
	}
	if strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
		return diagnosticsv1alpha1.Bytes
	}
	return diagnosticsv1alpha1.Count
}

func saturatedSum(a, b int64) int64 {
	if a > Unlimited-b {
		return Unlimited
	}
	return a + b
}
