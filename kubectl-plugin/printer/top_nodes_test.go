package printer

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// TestUseIsOfWhatANodeHas: use is physical, and amplification shows more than can be used.
func TestUseIsOfWhatANodeHas(t *testing.T) {
	plain := diagnosticsv1alpha1.ResourceOverview{Capacity: 16_000, Allocatable: 15_000, Used: new(int64(12_000))}
	amplified := plain
	amplified.Allocatable, amplified.RawAllocatable = 22_500, new(int64(15_000))
	for name, row := range map[string]diagnosticsv1alpha1.ResourceOverview{"plain": plain, "amplified": amplified} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			list := &diagnosticsv1alpha1.NodeOverviewList{Items: []diagnosticsv1alpha1.NodeOverview{{ObjectMeta: metav1.ObjectMeta{Name: name}, CPU: row}}}
			if err := NodeOverviews(&out, list, Options{}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "12/15 ") {
				t.Errorf("want 12/15 as the use of cpu in\n%s", out.String())
			}
		})
	}
}
