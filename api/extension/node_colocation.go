package extension

import (
	"fmt"
	"math"
	"strconv"
)

const (
	// AnnotationNodeColocationStrategy overrides fields of the colocation strategy on one node. Its payload is a type
	// of package configuration, which decodes it.
	AnnotationNodeColocationStrategy = NodeDomainPrefix + "colocation-strategy"
	// LabelCPUReclaimRatio overrides cpuReclaimThresholdPercent: 0.6 is 60 %.
	LabelCPUReclaimRatio = NodeDomainPrefix + "cpu-reclaim-ratio"
	// LabelMemoryReclaimRatio overrides memoryReclaimThresholdPercent: 0.65 is 65 %.
	LabelMemoryReclaimRatio = NodeDomainPrefix + "memory-reclaim-ratio"
	// LabelMidStaticCPUReservedRatio overrides midStaticCPUReservedPercent.
	LabelMidStaticCPUReservedRatio = NodeDomainPrefix + "mid-static-cpu-reserved-ratio"
	// LabelMidStaticMemoryReservedRatio overrides midStaticMemoryReservedPercent.
	LabelMidStaticMemoryReservedRatio = NodeDomainPrefix + "mid-static-memory-reserved-ratio"
)

// maxRatio bounds ratios far above any sensible value, so that arithmetic on them cannot overflow.
const maxRatio = 1000

// NodeRatioPercent parses one of the ratio labels and returns it in percent, rounded, nil when absent. Negative, infinite and
// absurd ratios, and NaN, are errors.
func NodeRatioPercent(labels map[string]string, key string) (*int64, error) {
	value, ok := labels[key]
	if !ok {
		return nil, nil
	}
	ratio, err := parseRatio(value)
	if err != nil {
		return nil, fmt.Errorf("parse label %q: %w", key, err)
	}
	return new(int64(math.Round(ratio * 100))), nil
}

// FormatRatio formats a ratio with two decimals.
func FormatRatio(ratio float64) string {
	return strconv.FormatFloat(ratio, 'f', 2, 64)
}

func parseRatio(value string) (float64, error) {
	ratio, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(ratio) || ratio < 0 || ratio > maxRatio {
		return 0, fmt.Errorf("%.40q is not a ratio between 0 and %d", value, maxRatio)
	}
	return ratio, nil
}
