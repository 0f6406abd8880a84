package check

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/install"
)

func TestChecksOfTheConfiguration(t *testing.T) {
	const info, warning, failure = diagnosticsv1alpha1.SeverityInfo, diagnosticsv1alpha1.SeverityWarning, diagnosticsv1alpha1.SeverityError
	runJudgeCases(t, map[string]judgeCase{
		"it exists":           {"config-exists", nil, Pass, "", "co-location enabled: true"},
		"it does not":         {"config-exists", statusFinds(finding.ConfigMissing), Warning, finding.ConfigMissing, ""},
		"a bad key":           {"config-valid", lintFinds(finding.ConfigMalformed, failure), Failed, finding.ConfigMalformed, "colocation-config.enable: is wrong"},
		"a remark":            {"config-valid", lintFinds(finding.ConfigOutOfRange, info), Pass, finding.ConfigOutOfRange, ""},
		"another check's":     {"config-valid", lintFinds(finding.ConfigInert, warning), Pass, "", ""},
		"strategies overlap":  {"config-strategies", lintFinds(finding.ConfigOverlap, warning), Warning, finding.ConfigOverlap, ""},
		"without effect":      {"config-inert", lintFinds(finding.ConfigInert, warning), Warning, finding.ConfigInert, ""},
		"thresholds disagree": {"config-thresholds", lintFinds(finding.ThresholdLoop, warning), Warning, finding.ThresholdLoop, ""},
		"it is not read":      {"config-inert", func(_ *testing.T, f *Facts) { f.Config = Fact[ConfigFacts]{Unread: unread("get configmap")} }, Unknown, "", "configmap"},
		"pods go in circles":  {"config-moves", statusFinds(finding.MigrationLoop), Warning, finding.MigrationLoop, ""},
		"migrations are not read": {"config-moves", func(_ *testing.T, f *Facts) {
			f.Installation.Unread[install.PartLoops] = unread("list podmigrationjobs")
		}, Unknown, "", "podmigrationjobs"},
	})
}

// TestEveryCodeOfTheConfigurationHasOneCheck: what `config lint` finds is reported, and once. The packages that find it name the codes.
func TestEveryCodeOfTheConfigurationHasOneCheck(t *testing.T) {
	checks := map[string]int{"ConfigMissing": 1, "MigrationLoop": 1, "MigrationTooFrequent": 1} // from the status, by config-exists and config-moves
	for _, code := range slices.Concat(invalidCodes, strategyCodes, inertCodes, thresholdCodes) {
		entry, _ := finding.Lookup(code)
		checks[entry.Name]++
	}
	for name, n := range checks {
		if n > 1 {
			t.Errorf("%s has %d checks", name, n)
		}
	}
	catalogue, err := finding.All()
	if err != nil {
		t.Fatal(err)
	}
	mentioned := regexp.MustCompile(`\bfinding\.(\w+)`)
	for _, folder := range []string{"config/configuration", "core/configmerge", "descheduling/loopguard"} {
		files, err := filepath.Glob("../../decision/" + folder + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", folder, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range mentioned.FindAllStringSubmatch(string(text), -1) {
				isCode := slices.ContainsFunc(catalogue, func(e finding.Entry) bool { return e.Name == match[1] })
				if isCode && checks[match[1]] == 0 {
					t.Errorf("%s finds %s, which no check reports", file, match[1])
				}
			}
		}
	}
}
