package check

import (
	"fmt"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/install"
)

// Codes of the configuration by the check that reports them.
var (
	invalidCodes = []finding.Code{
		finding.ConfigMalformed, finding.ConfigOutOfRange, finding.ConfigUnknownField, finding.ConfigDuplicate, finding.EvictionTooEarly,
	}
	strategyCodes  = []finding.Code{finding.ConfigOverlap, finding.ConfigUnmatched}
	inertCodes     = []finding.Code{finding.ConfigInert}
	thresholdCodes = []finding.Code{finding.ThresholdLoop, finding.ThresholdOrder, finding.ConfigConflict}
)

var configChecks = []Check{
	{
		ID: "config-exists", Category: Config, Needs: []string{installedID}, Title: "ConfigMap slo-controller-config exists",
		Codes: []finding.Code{finding.ConfigMissing}, Judge: configExists,
	},
	configCheck("config-valid", "every key and value of the configuration can be used", invalidCodes),
	configCheck("config-strategies", "every node strategy selects nodes, and no two the same", strategyCodes),
	configCheck("config-inert", "every setting has an effect: what it depends on is enabled", inertCodes),
	configCheck("config-thresholds", "the thresholds of koordlet, koord-scheduler and koord-descheduler agree, so that pods do not go in circles", thresholdCodes),
	{
		ID: "config-moves", Category: Config, Needs: []string{installedID}, Title: "no workload is moved in circles or too often",
		Codes: []finding.Code{finding.MigrationLoop, finding.MigrationTooFrequent}, Judge: func(f *Facts) Outcome {
			return f.ofStatus(install.PartLoops, "", finding.MigrationLoop, finding.MigrationTooFrequent)
		},
	},
}

// configCheck reports what `config lint` finds with some codes.
func configCheck(id, title string, codes []finding.Code) Check {
	return Check{ID: id, Category: Config, Needs: []string{"config-exists"}, Title: title, Codes: codes, Judge: func(f *Facts) Outcome {
		if len(f.Config.Unread) > 0 {
			return unknown(f.Config.Unread...)
		}
		var found []diagnosticsv1alpha1.Finding
		for i := range f.Config.Value.Found {
			lint := &f.Config.Value.Found[i]
			if !slices.Contains(codes, lint.Code) {
				continue
			}
			one := diagnosticsv1alpha1.Finding{Code: string(lint.Code), Severity: lint.Severity, Message: lint.Message, Hint: "koordctl config lint"}
			if where := lint.Where(); where != "" {
				one.Message = where + ": " + lint.Message
				one.Object = &diagnosticsv1alpha1.SourceRef{Kind: "ConfigMap", Namespace: f.Namespace, Name: "slo-controller-config", Field: where}
			}
			found = append(found, one)
		}
		return judged("", found)
	}}
}

// configExists reports a ConfigMap that is missing, and passes with what the configuration does.
func configExists(f *Facts) Outcome {
	state := f.Installation.Status.Config
	detail := ""
	if state.Colocation != nil {
		detail = fmt.Sprintf("co-location enabled: %t", *state.Colocation)
	}
	return f.ofStatus(install.PartConfig, detail, finding.ConfigMissing)
}
