package manager

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	"koordinator.sh/koord/controllers/jobinsight"
	"koordinator.sh/koord/controllers/jobinsight/engines"
)

// addJobInsight adds the collector of jobs unless it is disabled.
func addJobInsight(mgr ctrl.Manager, options *Options) error {
	if !options.JobInsight {
		return nil
	}
	read, err := engines.Parse(options.JobInsightEngines)
	if err != nil {
		return fmt.Errorf("--job-insight-engine: %w", err)
	}
	if err := jobinsight.AddToManager(mgr, options.ConfigNamespace, read); err != nil {
		return fmt.Errorf("add job insight: %w", err)
	}
	return nil
}
