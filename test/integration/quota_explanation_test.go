package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestAQuotaIsExplainedByTheSchedulerAsTheObjectsSay: koord-scheduler answers what koordctl computes where more pods are wanted than the
// scheduler names, and stock kubectl prints it.
func TestAQuotaIsExplainedByTheSchedulerAsTheObjectsSay(t *testing.T) {
	const pool = "it-explained-quota"
	machines(t, pool, 1)
	awaitQuotaAdmission(t)
	above, a, b := space(t, pool), space(t, pool+"-a"), space(t, pool+"-b")
	share(t, above, above, "", "4", "8", true)
	elastic(t, a, a, above, "2", "3")
	elastic(t, b, b, above, "2", "5")
	tenant(t, a, pool, 0, 4)
	awaitBound(t, patience, a, 3, 1)

	asked := koordctl(t, 0, "explain", "quota", a, "-n", a, "-v=6")
	if !strings.Contains(asked.Stderr, "/quotaexplanations/"+a) || strings.Contains(asked.Stderr, "/elasticquotas") {
		t.Errorf("koord-scheduler was not asked, or not alone:\n%s", asked.Stderr)
	}
	sandboxtest.Eventually(t, patience, func() error {
		served := answer[diagnosticsv1alpha1.QuotaExplanation](t, "QuotaExplanation", "explain", "quota", a, "-n", a)
		read := answer[diagnosticsv1alpha1.QuotaExplanation](t, "QuotaExplanation", "explain", "quota", a, "-n", a, "--pods", "101")
		if diff := cmp.Diff(read, served); diff != "" || len(served.Pods) != 3 || len(served.Refused) != 1 {
			return fmt.Errorf("%d pods use it and %d are refused; koordctl reads, and koord-scheduler answers (-read +answered):\n%s", len(served.Pods), len(served.Refused), diff)
		}
		return nil
	})
	result := kubectl(t, "", "get", "quotaexplanation", a, "-n", a)
	if result.Code != 0 || !strings.HasPrefix(result.Stdout, "NAME ") || !strings.Contains(result.Stdout, "3000m") {
		t.Errorf("exit code %d\n%s%s", result.Code, result.Stdout, result.Stderr)
	}
	result = kubectl(t, "", "get", "quotaexplanation", "gone", "-n", a)
	if result.Code == 0 || !strings.Contains(result.Stderr, `"gone" not found`) {
		t.Errorf("exit code %d\n%s%s", result.Code, result.Stdout, result.Stderr)
	}
}
