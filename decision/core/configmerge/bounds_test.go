package configmerge

import (
	"slices"
	"strings"
	"testing"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/finding"
)

// TestEveryNumberHasBounds on both sides: a slip of the keyboard must not offer a node a thousand times, or empty it.
func TestEveryNumberHasBounds(t *testing.T) {
	numbers := 0
	for _, key := range configuration.Keys() {
		for _, field := range Fields(key) {
			if !slices.Contains([]string{"whole number", "number"}, field.Kind) {
				continue
			}
			numbers++
			low := strings.Contains(field.Range, "at least") || strings.Contains(field.Range, "greater than")
			if !low || !strings.Contains(field.Range, "at most") {
				t.Errorf("%s.%s: %q does not bound a %s on both sides", key, field.Path, field.Range, field.Kind)
			}
		}
	}
	if numbers < 50 {
		t.Errorf("%d numbers were looked at", numbers)
	}
}

func TestValuesThatNobodyMeansKeepTheLastGood(t *testing.T) {
	tests := map[string]struct {
		key, text string
		want      finding.Code
	}{
		"a thousand nodes of one":             {configuration.ColocationConfigKey, `{"enable": true, "cpuReclaimThresholdPercent": 100000}`, finding.ConfigOutOfRange},
		"a node a billion times as large":     {configuration.ResourceAmplificationConfigKey, `{"enable": true, "resourceAmplificationRatio": {"cpu": 1e9}}`, finding.ConfigOutOfRange},
		"every pod of every node":             {configuration.ResourceThresholdConfigKey, `{"clusterStrategy": {"enable": true, "memoryEvictThresholdPercent": 0}}`, finding.EvictionTooEarly},
		"every pod of the nodes of one group": {configuration.ResourceThresholdConfigKey, `{"nodeStrategies": [{"name": "a", "nodeSelector": {"matchLabels": {"x": "1"}}, "cpuEvictThresholdPercent": 9}]}`, finding.EvictionTooEarly},
		"more than all":                       {configuration.ResourceThresholdConfigKey, `{"clusterStrategy": {"memoryEvictThresholdPercent": 101}}`, finding.ConfigOutOfRange},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, problems := Parse(map[string]string{tc.key: tc.text})
			if len(problems) != 1 || problems[0].Code != tc.want || !problems[0].Rejects() {
				t.Errorf("problems %+v, want one of code %s that rejects the key", problems, tc.want)
			}
		})
	}
}
