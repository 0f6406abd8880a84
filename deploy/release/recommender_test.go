package release

import (
	"maps"
	"strings"
	"testing"
)

func TestOnlyARecommenderThatAppliesMayResizePods(t *testing.T) {
	for name, test := range map[string]struct {
		values         map[string]any
		wantRecommend  bool
		wantResizePods bool
	}{
		"by default":        {nil, true, false},
		"applying":          {map[string]any{"recommender": map[string]any{"apply": true}}, true, true},
		"off, and applying": {map[string]any{"recommender": map[string]any{"enabled": false, "apply": true}}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			values := map[string]any{"descheduler": map[string]any{"enabled": false}} // which resizes pods, too
			maps.Copy(values, test.values)
			manifest := renderForTest(t, values)
			if got := strings.Contains(manifest, "resources: [recommendations/status]"); got != test.wantRecommend {
				t.Errorf("may write recommendations: %t, want %t", got, test.wantRecommend)
			}
			if got := strings.Contains(manifest, "resources: [pods/resize]"); got != test.wantResizePods {
				t.Errorf("may resize pods: %t, want %t", got, test.wantResizePods)
			}
		})
	}
}
