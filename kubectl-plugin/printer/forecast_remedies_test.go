package printer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func TestRemediesThatCostLessThanAMove(t *testing.T) {
	f := &diagnosticsv1alpha1.MigrationForecast{Message: "no pod would move in 2 rounds", Remedies: []diagnosticsv1alpha1.ForecastRemedy{
		{Round: 1, Remedy: "HoldBack", Node: "hot", Reason: "koordlet holds best-effort pods back"},
		{Round: 2, Seconds: 120, Remedy: "LowerCPULimit", Node: "hot", Namespace: "ml", Name: "train", BeforeMilliCPU: 4000, AfterMilliCPU: 1500, Reason: "cpu usage of the node falls from 90.0% to 75.0%"},
	}}
	var out strings.Builder
	if err := MigrationForecast(&out, f, Options{}); err != nil {
		t.Fatal(err)
	}
	want := `no pod would move in 2 rounds

Cheaper remedies
  ROUND  IN  REMEDY         POD       NODE  CPU-LIMIT  REASON
      1  0s  HoldBack       -         hot   -          koordlet holds best-effort pods back
      2  2m  LowerCPULimit  ml/train  hot   4 -> 1.5   cpu usage of the node falls from 90.0% to 75.0%
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}
