package nodevalidation

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// numbers are the values of labels and annotations with a number, with N in its place.
var numbers = map[string][]string{
	"cpu-reclaim-ratio": {"N"}, "memory-reclaim-ratio": {"N"}, "mid-static-cpu-reserved-ratio": {"N"}, "mid-static-memory-reserved-ratio": {"N"},
	"@resource-amplification-ratio": {`{"cpu":N}`, `{"memory":N}`}, "@cpu-normalization-ratio": {"N"},
	"@raw-allocatable": {`{"cpu":"N"}`, `{"memory":"N"}`}, "@reservation": {`{"resources":{"cpu":"N"}}`, `{"resources":{"memory":"N"}}`},
	"@thirdPartyAllocations":                      {`{"allocations":[{"name":"x","priority":"koord-batch","resources":{"kubernetes.io/batch-cpu":"N"}}]}`},
	"@scheduling.koordinator.sh/usage-thresholds": {`{"usageThresholds":{"cpu":N}}`, `{"prodUsageThresholds":{"memory":N}}`},
	"@colocation-strategy":                        {`{"cpuReclaimThresholdPercent":N}`, `{"memoryReclaimThresholdPercent":N}`},
}

// TestEveryNumberHasBounds on both sides, of every label and annotation of a node that is read.
func TestEveryNumberHasBounds(t *testing.T) {
	labels, annotations := Keys()
	without := append([]string{extension.LabelCPUNormalizationEnabled, extension.AnnotationSystemQOSResource}, slices.Collect(maps.Keys(words))...)
	for _, key := range append(labels, annotations...) {
		covered := slices.Contains(without, key)
		for name := range numbers {
			covered = covered || full(strings.TrimPrefix(name, "@")) == key
		}
		if !covered {
			t.Errorf("%s has numbers that are not tried", key)
		}
	}
	refusals := []finding.Code{finding.ConfigMalformed, finding.ConfigOutOfRange, finding.ConfigConflict}
	for key, templates := range numbers {
		for _, template := range templates {
			for _, number := range []string{"-1", "1e400", "9223372036854775807", "100000000000000000000", "NaN", "-1e400"} {
				findings := Validate(Input{Node: node(key, strings.ReplaceAll(template, "N", number))})
				if number == "NaN" {
					findings = Validate(Input{Node: node(key, strings.Replace(template, "N", number, 1))})
				}
				if len(findings) == 0 || !slices.Contains(refusals, findings[0].Code) {
					t.Errorf("%s=%s is admitted: %v", key, strings.ReplaceAll(template, "N", number), findings)
				}
			}
		}
	}
	for _, key := range []string{"@raw-allocatable", "@reservation"} {
		for _, tiny := range []string{"1e-400", "1n", "1u"} {
			for _, template := range numbers[key] {
				if findings := Validate(Input{Node: node(key, strings.ReplaceAll(template, "N", tiny))}); len(findings) == 0 {
					t.Errorf("%s=%s is admitted", key, strings.ReplaceAll(template, "N", tiny))
				}
			}
		}
	}
}
