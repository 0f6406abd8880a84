package printer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestNextCommandsSayWhyNodesAreInTheirState(t *testing.T) {
	node := func(name string, state diagnosticsv1alpha1.LoadState, message string) diagnosticsv1alpha1.NodeOverview {
		return diagnosticsv1alpha1.NodeOverview{ObjectMeta: metav1.ObjectMeta{Name: name}, Load: diagnosticsv1alpha1.LoadOverview{State: state, Message: message}}
	}
	list := &diagnosticsv1alpha1.NodeOverviewList{Items: []diagnosticsv1alpha1.NodeOverview{
		node("a", diagnosticsv1alpha1.LoadNormal, ""), node("b", diagnosticsv1alpha1.LoadExpired, ""),
		node("c", diagnosticsv1alpha1.LoadHot, "cpu usage 78% > threshold 65%"), node("d", diagnosticsv1alpha1.LoadHot, "cpu usage 99% > threshold 65%"),
	}}
	want := []string{
		"c is Hot, cpu usage 78% > threshold 65%: see kubectl koord top pods -A --sort-by=cpu --node c",
		"b is Expired: see kubectl koord explain node b",
	}
	if diff := cmp.Diff(want, NodeNextCommands(list, "kubectl koord")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if lines := NodeNextCommands(&diagnosticsv1alpha1.NodeOverviewList{Items: list.Items[:1]}, "koordctl"); len(lines) > 0 {
		t.Errorf("for a normal node: %q", lines)
	}
}
