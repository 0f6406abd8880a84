package configmerge

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
)

// TestSettingsKnowTheirDefault whichever layer they come from: the chart writes many values out that are the built-in ones.
func TestSettingsKnowTheirDefault(t *testing.T) {
	config, problems := Parse(map[string]string{configuration.ColocationConfigKey: `{"enable": true, "cpuReclaimThresholdPercent": 60, "memoryReclaimThresholdPercent": 70}`})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	strategy := config.Colocation(&corev1.Node{})
	want := map[string]struct {
		layer     string
		atDefault bool
	}{
		"enable": {LayerCluster, false}, "cpuReclaimThresholdPercent": {LayerCluster, true}, "memoryReclaimThresholdPercent": {LayerCluster, false},
		"degradeTimeMinutes": {LayerDefault, true},
	}
	for _, setting := range strategy.Settings {
		if w, found := want[setting.Key]; found {
			delete(want, setting.Key)
			if setting.Layer != w.layer || setting.AtDefault != w.atDefault {
				t.Errorf("%+v, want layer %s, at the default: %t", setting, w.layer, w.atDefault)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
}
