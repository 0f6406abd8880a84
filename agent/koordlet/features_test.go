package koordlet

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/qos"
)

// TestFeaturesThatAreOnByDefault are those that an imitated agent has, in the same order.
func TestFeaturesThatAreOnByDefault(t *testing.T) {
	tests := map[string]struct {
		gates map[string]bool
		want  []string
	}{
		"no gate is named": {nil, qos.Owners(qos.Defaults(nil, nil))},
		"gates are named": {
			map[string]bool{"BECPUSuppress": false, "CPUBurst": true, "CPUNormalization": true},
			[]string{"CPUSetAllocator", "GroupIdentity", "BatchResource", "CPUBurst", "CPUNormalization"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			options := NewOptions()
			options.FeatureGates = test.gates
			if diff := cmp.Diff(test.want, qos.Owners(options.enabled(&featureBuild{suppression: &qos.Suppression{}, reconcilers: &reconcilers{}}))); diff != "" {
				t.Errorf("features (-want +got):\n%s", diff)
			}
		})
	}
}
