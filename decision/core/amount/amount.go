package amount

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
)

// UnitOf says what the scheduler counts a resource in.
func UnitOf(name corev1.ResourceName) diagnosticsv1alpha1.Unit {
	switch name {
	case corev1.ResourceCPU, extension.BatchCPU, extension.MidCPU:
		return diagnosticsv1alpha1.MilliCPU
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage, extension.BatchMemory, extension.MidMemory:
		return diagnosticsv1alpha1.Bytes
	}
	if strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
		return diagnosticsv1alpha1.Bytes
	}
	return diagnosticsv1alpha1.Count
}

// Of is a quantity in the unit that the scheduler counts the resource in.
func Of(name corev1.ResourceName, quantity resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return quantity.MilliValue()
	}
	return quantity.Value()
}

// ShortName leaves out the prefix that every resource of its kind has: batch-cpu.
func ShortName(name corev1.ResourceName) string {
	return strings.TrimPrefix(string(name), extension.ResourceDomainPrefix)
}

// Sort puts cpu and memory first, then those of batch pods, then the others by name.
func Sort(names []corev1.ResourceName) {
	first := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, extension.BatchCPU, extension.BatchMemory}
	rank := func(name corev1.ResourceName) int {
		if at := slices.Index(first, name); at >= 0 {
			return at
		}
		return len(first)
	}
	slices.SortFunc(names, func(a, b corev1.ResourceName) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b)) })
}

// Format writes an amount for people: cpu in CPUs, memory in the largest binary unit. It is never more than the
// amount: cpu is exact, memory has at most two decimals, rounded down.
func Format(name corev1.ResourceName, amount int64) string {
	switch UnitOf(name) {
	case diagnosticsv1alpha1.MilliCPU:
		return decimals(amount, 1000, 3)
	case diagnosticsv1alpha1.Bytes:
		for i, suffix := range []string{"Pi", "Ti", "Gi", "Mi", "Ki"} {
			if unit := int64(1) << (50 - 10*i); amount >= unit {
				return decimals(amount, unit, 2) + suffix
			}
		}
	}
	return strconv.FormatInt(amount, 10)
}

// FormatPair writes two amounts that are compared, in full when they would look the same otherwise.
func FormatPair(name corev1.ResourceName, a, b int64) (string, string) {
	first, second := Format(name, a), Format(name, b)
	if first == second && a != b {
		return strconv.FormatInt(a, 10), strconv.FormatInt(b, 10)
	}
	return first, second
}

// decimals divides, rounded down to a number of digits after the point.
func decimals(amount, unit int64, digits int) string {
	whole, rest := amount/unit, amount%unit
	fraction := make([]byte, 0, digits)
	for range digits {
		rest *= 10
		fraction = append(fraction, byte('0'+rest/unit))
		rest %= unit
	}
	trimmed := strings.TrimRight(string(fraction), "0")
	if trimmed == "" {
		return strconv.FormatInt(whole, 10)
	}
	return strconv.FormatInt(whole, 10) + "." + trimmed
}
