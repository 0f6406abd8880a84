package nodevalidation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// Finding is one thing that is wrong with a node.
type Finding struct {
	// Code is ConfigMalformed, ConfigOutOfRange or ConfigConflict.
	Code finding.Code `json:"code"`
	// Keys of the labels or annotations that are wrong, the first of them to blame.
	Keys []string `json:"keys"`
	// Message says what is wrong.
	Message string `json:"message"`
}

// Text is the finding as Kubernetes words it, with the code.
func (f Finding) Text() string {
	return fmt.Sprintf("%s: %s (%s)", strings.Join(f.Keys, ", "), f.Message, f.Code)
}

// Validate returns everything that is wrong, in a fixed order; nothing when the node is fine. Of an update only that counts
// which concerns a label or an annotation whose value it changes.
func Validate(in Input) []Finding {
	v := &validation{node: in.Node}
	for _, check := range checks {
		check(v)
	}
	if in.Old == nil {
		return v.findings
	}
	return slices.DeleteFunc(v.findings, func(f Finding) bool {
		return !slices.ContainsFunc(f.Keys, func(key string) bool { return changed(in.Old, in.Node, key) })
	})
}

// changed says whether a label or an annotation has another value than before.
func changed(old, node *corev1.Node, key string) bool {
	differs := func(before, after map[string]string) bool {
		x, had := before[key]
		y, has := after[key]
		return had != has || x != y
	}
	return differs(old.Labels, node.Labels) || differs(old.Annotations, node.Annotations)
}

// Keys are the labels and annotations that are looked at, in order.
func Keys() (labels, annotations []string) {
	labels = append(slices.Sorted(maps.Keys(words)), extension.LabelCPUNormalizationEnabled, extension.LabelCPUReclaimRatio, extension.LabelMemoryReclaimRatio,
		extension.LabelMidStaticCPUReservedRatio, extension.LabelMidStaticMemoryReservedRatio)
	annotations = []string{extension.AnnotationNodeColocationStrategy, extension.AnnotationNodeReservation, extension.AnnotationNodeResourceAmplificationRatio,
		extension.AnnotationNodeRawAllocatable, extension.AnnotationCPUNormalizationRatio, extension.AnnotationSystemQOSResource,
		extension.AnnotationNodeThirdPartyAllocations, extension.AnnotationCustomUsageThresholds}
	return labels, annotations
}

type validation struct {
	node     *corev1.Node
	findings []Finding
}

func (v *validation) add(code finding.Code, message string, keys ...string) {
	v.findings = append(v.findings, Finding{Code: code, Keys: keys, Message: message})
}

// checks in the order of the findings.
var checks = []func(*validation){
	(*validation).labelWords, (*validation).colocation, (*validation).reservation, (*validation).amplification, (*validation).raw,
	(*validation).normalization, (*validation).system, (*validation).thirdParty, (*validation).thresholds,
}

// malformed adds what keeps an annotation from being read, without the name that stands before it anyway.
func (v *validation) malformed(key string, err error) bool {
	if err == nil {
		return false
	}
	message := strings.TrimPrefix(err.Error(), fmt.Sprintf("decode annotation %q: ", key))
	v.add(finding.ConfigMalformed, strings.TrimPrefix(message, fmt.Sprintf("annotation %q: ", key)), key)
	return true
}

// mostAmplification is the largest ratio that the configuration allows, of a node whose cpus are worth the most.
const mostAmplification = 10 * largestNormalization

func (v *validation) amplification() {
	const key = extension.AnnotationNodeResourceAmplificationRatio
	ratios, err := extension.GetNodeAmplificationRatios(v.node.Annotations)
	if v.malformed(key, err) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(ratios)) {
		switch ratio := ratios[name]; {
		case ratio < 1:
			v.add(finding.ConfigOutOfRange, fmt.Sprintf("the ratio of %s must be at least 1, is %v", name, float64(ratio)), key)
		case ratio > mostAmplification:
			v.add(finding.ConfigOutOfRange, fmt.Sprintf("the ratio of %s must be at most %d, is %v", name, mostAmplification, float64(ratio)), key)
		case name != corev1.ResourceCPU && name != corev1.ResourceMemory:
			v.add(finding.ConfigConflict, fmt.Sprintf("%s cannot be amplified, only cpu and memory can", name), key)
		}
	}
}

func (v *validation) raw() {
	const key = extension.AnnotationNodeRawAllocatable
	raw, err := extension.GetNodeRawAllocatable(v.node.Annotations)
	if v.malformed(key, err) {
		return
	}
	v.amounts(key, raw)
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if quantity, capacity := raw[name], v.node.Status.Capacity[name]; exceeds(quantity, capacity) {
			v.add(finding.ConfigConflict, fmt.Sprintf("%s of %s is more than the node's capacity of %s", quantity.String(), name, capacity.String()), key)
		}
	}
}

// mostAmount is more than any node has of anything: an exbibyte.
var mostAmount = resource.MustParse("1Ei")

// amounts are whole units, thousandths of cpu, and no more than a node can have.
func (v *validation) amounts(key string, list corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity, least := list[name], resource.MustParse("1")
		if name == corev1.ResourceCPU {
			least = resource.MustParse("1m")
		}
		switch {
		case quantity.Sign() < 0:
			v.add(finding.ConfigOutOfRange, fmt.Sprintf("%s must not be negative, is %s", name, quantity.String()), key)
		case quantity.Sign() > 0 && quantity.Cmp(least) < 0:
			v.add(finding.ConfigOutOfRange, fmt.Sprintf("%s must be 0 or at least %s, is %s", name, least.String(), quantity.String()), key)
		case quantity.Cmp(mostAmount) > 0:
			v.add(finding.ConfigOutOfRange, fmt.Sprintf("%s must be at most %s, is %s", name, mostAmount.String(), quantity.String()), key)
		}
	}
}

// largestNormalization is the most one cpu can be worth.
const largestNormalization = 5

func (v *validation) normalization() {
	const key = extension.AnnotationCPUNormalizationRatio
	ratio, err := extension.CPUNormalizationRatio(v.node.Annotations)
	if !v.malformed(key, err) && ratio != nil && (*ratio < 1 || *ratio > largestNormalization) {
		v.add(finding.ConfigOutOfRange, fmt.Sprintf("must be at least 1 and at most %d, is %v", largestNormalization, *ratio), key)
	}
}

func (v *validation) thirdParty() {
	const key = extension.AnnotationNodeThirdPartyAllocations
	allocations, err := extension.GetThirdPartyAllocations(v.node.Annotations)
	if v.malformed(key, err) || allocations == nil {
		return
	}
	for _, allocation := range allocations.Allocations {
		v.amounts(key, allocation.Resources)
	}
}

func (v *validation) thresholds() {
	const key = extension.AnnotationCustomUsageThresholds
	thresholds, err := extension.GetCustomUsageThresholds(v.node.Annotations)
	if v.malformed(key, err) || thresholds == nil {
		return
	}
	all := map[string]map[corev1.ResourceName]int64{"usageThresholds": thresholds.UsageThresholds, "prodUsageThresholds": thresholds.ProdUsageThresholds}
	if thresholds.AggregatedUsage != nil {
		all["aggregatedUsage.usageThresholds"] = thresholds.AggregatedUsage.UsageThresholds
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		for _, name := range slices.Sorted(maps.Keys(all[path])) {
			if percent := all[path][name]; percent < 0 || percent > 100 {
				v.add(finding.ConfigOutOfRange, fmt.Sprintf("%s.%s must be at least 0 and at most 100, is %d", path, name, percent), key)
			}
		}
	}
}

// exceeds says whether a quantity is more than another; unknown ones are not exceeded.
func exceeds(quantity, most resource.Quantity) bool { return !most.IsZero() && quantity.Cmp(most) > 0 }
