package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestAQuotaBecomesWhatItsForecastSays forecasts a larger max, makes it, and finds the runtime that was forecast published and the pods
// that were to fit on nodes. A min that is forecast to be refused is refused.
func TestAQuotaBecomesWhatItsForecastSays(t *testing.T) {
	const pool = "it-whatif-quota"
	machines(t, pool, 2)
	awaitQuotaAdmission(t)
	above, a, b := space(t, pool), space(t, pool+"-a"), space(t, pool+"-b")
	share(t, above, above, "", "4", "8", true)
	elastic(t, a, a, above, "2", "3")
	elastic(t, b, b, above, "2", "5")
	tenant(t, a, pool, 0, 6)
	awaitBound(t, patience, a, 3, 3)

	forecast := answer[diagnosticsv1alpha1.QuotaForecast](t, "QuotaForecast", "whatif", "quota", a, "-n", a, "--max", "cpu=6")
	if forecast.Verdict != diagnosticsv1alpha1.QuotaForecastChanges || len(forecast.Admitted) != 3 || len(forecast.Refused) > 0 || len(forecast.Incomplete) > 0 {
		t.Errorf("%s: %s, %d pods fit then; want Changes, and 3 pods", forecast.Verdict, forecast.Message, len(forecast.Admitted))
	}
	want := int64(-1)
	for _, changed := range forecast.Quotas {
		if changed.Quota == a && changed.Resource == "cpu" {
			want = changed.RuntimeAfter
		}
	}
	raise(t, a, a, "6")
	awaitBound(t, patience, a, 6, 0)
	sandboxtest.Eventually(t, patience, func() error {
		published, err := extension.GetQuotaResources(readQuota(t, a, a).Annotations, extension.AnnotationQuotaRuntime)
		if err != nil {
			return err
		}
		if got, _ := quota.AmountsOf(published).Get("cpu"); got != want {
			return fmt.Errorf("runtime %d, want %d as forecast", got, want)
		}
		return nil
	})

	sandboxtest.Eventually(t, patience, func() error { return verified(t, a) })

	refused := answer[diagnosticsv1alpha1.QuotaForecast](t, "QuotaForecast", "whatif", "quota", a, "-n", a, "--min", "cpu=5")
	if refused.Verdict != diagnosticsv1alpha1.QuotaForecastRefused || len(refused.Findings) == 0 {
		t.Fatalf("%s: %s; want Refused", refused.Verdict, refused.Message)
	}
	if lint := linted(t, shareOf(a, a, above, "5", "6", false)); !lint.Refused || lint.Findings[0].Code != refused.Findings[0].Code {
		t.Errorf("a manifest of it is linted as %+v", lint)
	}
	refusedFor(t, "a min that is more than that of the parent", patchQuota(t, a, a, `{"spec":{"min":{"cpu":"5"}}}`), refused.Findings[0].Code)
	if lint := linted(t, shareOf(a, a, above, "2", "7", false)); lint.Refused || len(lint.Findings) > 0 {
		t.Errorf("a manifest with a larger max is linted as %+v", lint)
	}
}

// linted checks the manifest of a quota against the cluster.
func linted(t *testing.T, object *schedulingsigsv1alpha1.ElasticQuota) diagnosticsv1alpha1.QuotaLint {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "quota.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	list := answer[diagnosticsv1alpha1.QuotaLintList](t, "QuotaLintList", "lint", "quotas", "-f", path, "--cluster")
	if len(list.Items) != 1 {
		t.Fatalf("%d quotas are linted", len(list.Items))
	}
	return list.Items[0]
}

// verified is nil when all that is published of a quota follows from the pods and nodes, and an error otherwise.
func verified(t *testing.T, name string) error {
	t.Helper()
	got := answer[diagnosticsv1alpha1.QuotaVerification](t, "QuotaVerification", "verify", "quota", name, "-n", name)
	if got.Verdict != diagnosticsv1alpha1.QuotaAgrees {
		return fmt.Errorf("%s: %s: %+v", got.Verdict, got.Message, got.Findings)
	}
	return nil
}
