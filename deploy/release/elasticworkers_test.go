package release

import (
	"strings"
	"testing"
)

func TestTargetsOfElasticWorkersMayBeScaledWhereThatIsEnabled(t *testing.T) {
	other := []any{map[string]any{"apiGroup": "example.com", "resource": "trinoclusters"}}
	for name, test := range map[string]struct {
		values                 map[string]any
		wantScale, wantFurther bool
	}{
		"by default":              {nil, false, false},
		"enabled":                 {map[string]any{"enabled": true}, true, false},
		"with further targets":    {map[string]any{"enabled": true, "targets": other}, true, true},
		"off, whatever is listed": {map[string]any{"targets": other}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := renderForTest(t, map[string]any{"elasticWorkers": test.values})
			if got := strings.Contains(manifest, "resources: [deployments/scale, replicasets/scale, statefulsets/scale]"); got != test.wantScale {
				t.Errorf("may scale Deployments: %t, want %t", got, test.wantScale)
			}
			if got := strings.Contains(manifest, `resources: ["trinoclusters/scale"]`); got != test.wantFurther {
				t.Errorf("may scale further targets: %t, want %t", got, test.wantFurther)
			}
			if got := strings.Contains(manifest, "--elastic-workers=true"); got != test.wantScale {
				t.Errorf("the manager sizes workers: %t, want %t", got, test.wantScale)
			}
		})
	}
}
