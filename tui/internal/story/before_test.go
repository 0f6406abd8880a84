package story

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/style"
)

// TestTheAreasOfThePast are what was used, one above the other, and never more than the node has.
func TestTheAreasOfThePast(t *testing.T) {
	for name, tc := range map[string]struct {
		capacity int64
		used     diagnostics.UsageParts
		// want are system, prod, mid and batch.
		want [4]int64
	}{
		"all have room":                     {100, diagnostics.UsageParts{SystemUsed: 5, ProdUsed: 30, MidUsed: 10, BatchUsed: 20}, [4]int64{5, 30, 10, 20}},
		"batch is cut first":                {60, diagnostics.UsageParts{SystemUsed: 5, ProdUsed: 30, MidUsed: 10, BatchUsed: 20}, [4]int64{5, 30, 10, 15}},
		"then mid":                          {40, diagnostics.UsageParts{SystemUsed: 5, ProdUsed: 30, MidUsed: 10, BatchUsed: 20}, [4]int64{5, 30, 5, 0}},
		"the system comes first":            {4, diagnostics.UsageParts{SystemUsed: 5, ProdUsed: 30}, [4]int64{4, 0, 0, 0}},
		"less than nothing is nothing":      {100, diagnostics.UsageParts{SystemUsed: -5, ProdUsed: 30, MidUsed: -1}, [4]int64{0, 30, 0, 0}},
		"a node without capacity":           {0, diagnostics.UsageParts{ProdUsed: 30}, [4]int64{}},
		"a capacity that is less than none": {-10, diagnostics.UsageParts{ProdUsed: 30}, [4]int64{}},
	} {
		t.Run(name, func(t *testing.T) {
			p := Before(tc.capacity, tc.used)
			got := [4]int64{p.Area[style.System], p.Area[style.ProdUsed], p.Area[style.Mid], p.Area[style.BatchUsed]}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unexpected areas (-want +got):\n%s", diff)
			}
			if p.Measured != 1 || p.Nodes != 1 || p.KnowsRequests() {
				t.Errorf("the past is measured %d of %d, and knows requests %t", p.Measured, p.Nodes, p.KnowsRequests())
			}
		})
	}
}
