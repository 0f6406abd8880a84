package tui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// TestTheStateOfANodeIsItsGravest: a node with several troubles is shown with the one that matters most.
func TestTheStateOfANodeIsItsGravest(t *testing.T) {
	for name, tc := range map[string]struct {
		node        *nodeBuilder
		want        string
		wantProblem bool
	}{
		"all is well":                         {makeNode("a"), "Normal", false},
		"not ready is worse than hot":         {makeNode("a").notReady().load(diagnostics.LoadHot, ""), "NotReady", true},
		"hot is worse than cordoned":          {makeNode("a").cordoned().load(diagnostics.LoadHot, ""), "Hot", true},
		"expired for the scheduler":           {makeNode("a").load(diagnostics.LoadExpired, ""), "Expired", true},
		"expired for the manager":             {makeNode("a").metric(diagnostics.MetricExpired, time.Hour), "Expired", true},
		"a NodeMetric that cannot be read":    {makeNode("a").unreported(diagnostics.MetricInvalid), "Expired", true},
		"expired is worse than cordoned":      {makeNode("a").cordoned().metric(diagnostics.MetricExpired, time.Hour), "Expired", true},
		"cordoned is worse than stale":        {makeNode("a").cordoned().metric(diagnostics.MetricStale, time.Minute), "Cordoned", true},
		"stale, and still good for decisions": {makeNode("a").metric(diagnostics.MetricStale, time.Minute), "Stale", true},
		"no NodeMetric":                       {makeNode("a").unreported(diagnostics.MetricAbsent).load(diagnostics.LoadUnknown, ""), "Unknown", true},
		"a state of a later version":          {makeNode("a").load("Tepid", ""), "Unknown", true},
	} {
		t.Run(name, func(t *testing.T) {
			row := tc.node.row()
			if got := row.state.word(); got != tc.want {
				t.Errorf("unexpected state %s, want %s", got, tc.want)
			}
			if got := nodeProblem(&row); got != tc.wantProblem {
				t.Errorf("problem %t, want %t", got, tc.wantProblem)
			}
		})
	}
}

func TestTheSummaryCountsNodesByState(t *testing.T) {
	rows := []nodeRow{
		makeNode("a").uses(8000, 2000, 1000).requests(16000).batch(10000, 4000).row(),
		makeNode("b").uses(4000, 1000, 1000).requests(8000).batch(12000, 2000).load(diagnostics.LoadHot, "").row(),
		makeNode("c").metric(diagnostics.MetricStale, time.Minute).row(),
		makeNode("d").metric(diagnostics.MetricExpired, time.Hour).row(),
		makeNode("e").load(diagnostics.LoadUnknown, "").row(),
		makeNode("f").notReady().row(),
		makeNode("g").cordoned().row(),
	}
	got := summaryOf(rows)
	type counts struct{ nodes, hot, late, notReady, unseen, measured int }
	if diff := cmp.Diff(counts{7, 1, 2, 1, 1, 2}, counts{got.nodes, got.hot, got.late, got.notReady, got.unseen, got.cpu.Measured}, cmp.AllowUnexported(counts{})); diff != "" {
		t.Errorf("unexpected counts (-want +got):\n%s", diff)
	}
	type sums struct{ capacity, prodUsed, batchUsed, prodRequested, offered int64 }
	if diff := cmp.Diff(sums{7 * 32000, 12000, 3000, 24000, 22000},
		sums{got.cpu.Capacity, got.cpu.ProdUsed, got.cpu.BatchUsed, got.cpu.ProdRequested, got.cpu.BatchOffered}, cmp.AllowUnexported(sums{})); diff != "" {
		t.Errorf("unexpected sums (-want +got):\n%s", diff)
	}
}

func TestRowsOfNoAnswer(t *testing.T) {
	if rows := nodeRows(nil); rows != nil {
		t.Errorf("%d rows of nodes", len(rows))
	}
	if rows := podRows(nil); rows != nil {
		t.Errorf("%d rows of pods", len(rows))
	}
}
